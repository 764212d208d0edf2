from __future__ import annotations

from contextlib import AsyncExitStack

from rebalance_engine.effects import Failure
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.checking_members import Told, _checks, check_members
from rebalance_engine.network.checkup import Check, Verdict
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.surveying import Survey
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.codes import RequestCode
from tests.rebalance_engine.network.clusters import cluster, divided
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.test_looking import admin_of, consumer

EAST = "east:10911"
BY = Answerer(address=EAST, code=RequestCode.GET_CONSUMER_RUNNING_INFO, at=1)
GRPC = "host@4711@0@1kq2x3abc"


def said(*told: Told) -> list[Check]:
    return list(_checks(Survey(cluster=None, name_servers={}, configs={}, groups=()), told))


def told(client: str, trouble: NoAnswer | None = None) -> Told:
    return Told("billing", client, Heard(BY, None if trouble else ConsumerRunningInfo(), trouble))


@on_a_loop
async def test_members_that_tell_what_they_hold_are_counted() -> None:
    async with cluster(2, orders=2) as east, AsyncExitStack() as stack, admin_of(east.namesrv) as admin:
        members = [await stack.enter_async_context(consumer(east, name)) for name in "AB"]
        await divided(4, *members)

        [one] = await check_members(admin, deadline_s=60)

    assert one == Check(Verdict.OK, "members", "2 members of 1 group asked, and all tell what they hold")


@on_a_loop
async def test_a_member_that_says_nothing_is_named_and_who_comes_through_a_proxy_is_not_asked() -> None:
    async with cluster() as east, admin_of(east.namesrv) as admin:
        address = east.broker("broker-a").address
        async with ghost(address), ghost(address, client=GRPC):
            [one] = await check_members(admin, deadline_s=0)

    assert (one.verdict, one.subject) == (Verdict.WARNING, "members")
    assert one.seen.startswith("ghost of G: ")
    assert GRPC not in one.seen


@on_a_loop
async def test_where_nobody_tells_of_groups_nothing_is_said_of_members() -> None:
    async with admin_of("127.0.0.1:1") as admin:
        assert await check_members(admin, deadline_s=0) == []


def test_who_had_no_turn_is_counted_and_who_is_left_alone_is_named() -> None:
    no_turn = NotAsked(EAST, "the budget for code 307 gave no turn before the deadline")
    rests = NotAsked(EAST, "client B does not answer; it is asked again in 30 s")

    late = said(told("A"), told("B", no_turn), told("C", no_turn))
    silent = said(told("A"), told("B", rests))

    assert [(each.verdict, each.seen) for each in late] == [(Verdict.WARNING, "2 of 3 members had no turn in time")]
    assert "--timeout" in late[0].advice
    assert [each.seen for each in silent] == [f"B of billing: {rests}"]


def test_of_many_that_say_nothing_the_first_are_named() -> None:
    [one] = said(*(told(f"{number}", NoAnswer(Failure.TIMEOUT, EAST)) for number in range(8)))

    assert one.seen.startswith("0 of billing: ")
    assert one.seen.endswith("; and 3 more")


def test_a_cluster_without_members_is_sound() -> None:
    assert said() == [Check(Verdict.OK, "members", "no group has a member that can be asked")]
