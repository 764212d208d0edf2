from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import cast

import pytest

from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.orders import Done
from dashboard.config import carrying
from dashboard.config.carrying import carry_out
from dashboard.groups.recording.orders import RECOMPUTE
from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import CommandOutcome, Fact, ReceiptAnswer
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.probe import HAD_TIME_S, NobodyNotified, Obstacle, Probe, Prober
from rebalance_engine.network.watcher import Watcher, WatcherClock
from rebalance_engine.network.watcher.known import KnownMember
from tests.dashboard.story import T0

Q = MessageQueue("orders", "east", 0)
AFTER = T0 + round(HAD_TIME_S * 1_000)


class Memory:
    """What a watcher knows: members with what they hold, before and after, and when each was asked for that."""

    masters = {"east": "e:1"}  # noqa: RUF012  # never changed

    def __init__(self) -> None:
        self.now: dict[str, tuple[MessageQueue, ...] | None] = {"A": (Q,), "B": (), "C": None, "D": ()}
        self.asked = dict.fromkeys("ABD", T0)

    def members(self, _: str) -> tuple[str, ...]:
        return tuple(self.now)

    def hosts(self, _: str) -> frozenset[str]:
        return frozenset({"east"})

    def member(self, _: str, client: str) -> KnownMember | None:
        if client not in self.now:
            return None
        at = self.asked.get(client)
        return KnownMember(T0, held=self.now[client], held_at=at, asked_at=at, is_silent=client == "C")

    def held(self, _: str, client: str) -> tuple[MessageQueue, ...] | None:
        return self.now.get(client)


class Watching:
    """A watcher that is only looked at: after the probe it asks everybody, or as many as it comes to."""

    def __init__(self, *asks: str) -> None:
        self.memory = Memory()
        self.clock = WatcherClock(wall=lambda: T0 / 1000, monotone=lambda: 0.0)
        self.asks = asks or ("ABD",)
        self.hurried: list[str] = []
        self.stated: list[str] = []

    def hurry(self, group: str, *, for_s: float) -> None:
        assert for_s
        self.hurried.append(group)
        if self.stated:  # not by the look before the probe
            self.memory.now |= {"A": (), "B": ()}
            asked, *later = self.asks
            self.memory.asked |= dict.fromkeys(asked, AFTER)
            self.asks = tuple(later) or self.asks

    async def state(self, facts: list[Fact]) -> None:
        self.stated += [type(fact).__name__ for fact in facts]


class Probing:
    """Gives the answer that a test wants."""

    def __init__(self, answer: Probe | Exception | None) -> None:
        self.answer = answer

    async def probe(self, group: str, brokers: list[Address]) -> Probe:
        assert (group, brokers) == ("g", ["e:1"])
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Probe):
            return self.answer
        assert isinstance(self.answer, Exception)
        raise self.answer


def done(
    verb: str, answer: Probe | Exception | None = None, *, group: str | None = "g", read_only: bool = False
) -> Done:
    order = Command(pk=7, verb=verb, group_name=group, ordered_at=T0, deadline=T0 + 30_000, author_name="ada")
    return carried(order, Watching(), answer, read_only=read_only)


def carried(order: Command, watching: Watching, answer: Probe | Exception | None, *, read_only: bool = False) -> Done:
    row = Cluster(name="shop", is_read_only=read_only)
    watcher, prober = cast("Watcher", watching), cast("Prober", Probing(answer))
    return asyncio.run(carry_out(order, row=row, watcher=watcher, prober=prober, now=lambda: T0, state=watching.state))


@pytest.fixture(autouse=True)
def settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "SETTLES_S", 0.001)
    monkeypatch.setattr(carrying, "LEAST_S", 0.0)
    monkeypatch.setattr(carrying, "FIRST_LOOK_S", 0.1)
    monkeypatch.setattr(carrying, "LOOK_AGAIN_S", 0.001)
    monkeypatch.setattr(carrying, "SETTLED_AGAIN_S", 0.001)


def test_that_a_probe_was_done_is_stated_before_anybody_looks_at_what_it_did() -> None:
    order = Command(
        pk=7, verb=RECOMPUTE, group_name="g", ordered_at=T0, deadline=T0 + 30_000, author_name="ada", reason="lag"
    )
    done_, refused = Watching(), Watching()
    carried(order, done_, Probe({"e:1": frozenset({"A"})}))
    carried(order, refused, Probe({}, Obstacle.BROADCASTING))

    assert done_.hurried == ["g", "g"]
    assert (done_.stated, refused.stated) == (["CommandOrdered", "CommandFinished"], [])


def test_a_probe_has_a_receipt_for_each_member_as_far_as_can_be_known() -> None:
    came = done(RECOMPUTE, Probe({"e:1": frozenset({"A", "B", "C"})}))

    assert came.outcome is CommandOutcome.DONE
    assert came.receipts == {
        "A": ReceiptAnswer.CHANGED,
        "B": ReceiptAnswer.UNCHANGED,
        "C": ReceiptAnswer.UNKNOWN,
        "D": ReceiptAnswer.NOT_ASKED,
    }


def recompute(deadline: int = T0 + 30_000) -> Command:
    return Command(pk=7, verb=RECOMPUTE, group_name="g", ordered_at=T0, deadline=deadline, author_name="ada")


ALL = Probe({"e:1": frozenset("ABCD")})


def test_a_look_from_before_the_members_had_time_is_no_receipt(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "MOST_SETTLES_S", 0.01)
    for at in (T0 - 60_000, T0, AFTER - 1):
        watching = Watching("-")
        watching.memory.asked = dict.fromkeys("ABD", at)

        assert carried(recompute(), watching, ALL).receipts == dict.fromkeys("ABCD", ReceiptAnswer.UNKNOWN)


def test_large_groups_have_longer_until_everybody_who_answers_was_asked() -> None:
    watching = Watching("A", "BD")

    came = carried(recompute(), watching, ALL)

    assert came.receipts is not None
    assert [came.receipts[client].value for client in "ABCD"] == ["changed", "unchanged", "unknown", "unchanged"]
    assert watching.hurried == ["g", "g", "g"]


def test_who_had_no_turn_before_the_order_ends_is_unknown() -> None:
    watching = Watching("A", "BD")

    came = carried(recompute(T0 + carrying.ENDS_MS), watching, ALL)

    assert came.receipts is not None
    assert [came.receipts[client].value for client in "ABCD"] == ["changed", "unknown", "unknown", "unknown"]


def test_nobody_waits_before_the_probe_for_who_is_silent_or_told_just_now(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(for_s: float) -> None:
        waits.append(for_s)

    monkeypatch.setattr(carrying, "asyncio", SimpleNamespace(sleep=sleep, timeout=asyncio.timeout))
    watching, older = Watching(), Watching()
    older.memory.asked["B"] = T0 - carrying.RECENT_MS - 1
    before_the_probe = NoAnswer(Failure.TIMEOUT, "e:1")

    carried(recompute(), watching, before_the_probe)
    assert waits == []
    carried(recompute(), older, before_the_probe)
    assert sum(waits) == pytest.approx(carrying.FIRST_LOOK_S)


def test_what_stands_in_the_way_is_the_answer() -> None:
    refused = done(RECOMPUTE, Probe({}, Obstacle.BROADCASTING))
    failed = done(RECOMPUTE, NoAnswer(Failure.TIMEOUT, "e:1"))

    assert (refused.outcome, refused.detail) == (CommandOutcome.REFUSED, Obstacle.BROADCASTING.value)
    assert refused.receipts == dict.fromkeys("ABCD", ReceiptAnswer.NOT_ASKED)
    words = "e:1: no answer in time; whether members were notified is not known"
    assert (failed.outcome, failed.detail) == (CommandOutcome.FAILED, words)
    assert failed.receipts == dict.fromkeys("ABCD", ReceiptAnswer.UNKNOWN)
    unsent = done(RECOMPUTE, NobodyNotified("e:1: not asked: it is busy"))
    assert (unsent.detail, unsent.receipts) == (
        "e:1: not asked: it is busy",
        dict.fromkeys("ABCD", ReceiptAnswer.NOT_ASKED),
    )


def test_nothing_is_sent_to_a_cluster_that_is_read_only_or_to_no_group() -> None:
    assert "read-only" in done(RECOMPUTE, read_only=True).detail
    assert "names no group" in done(RECOMPUTE, group=None).detail


def test_an_order_ends_at_its_deadline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(carrying, "LEAST_S", 0.0)
    late = Command(verb=RECOMPUTE, group_name="g", ordered_at=T0, deadline=T0)

    came = carried(late, Watching(), None)

    assert (came.outcome, "deadline" in came.detail) == (CommandOutcome.FAILED, True)


def test_verbs_that_nobody_knows_and_demos_that_are_none_are_refused() -> None:
    assert "no verb 'group.explode'" in done("group.explode").detail
    assert "is no demo" in done("demo.add_consumer").detail


def test_only_who_a_kill_that_was_done_names_is_looked_for_among_those_who_left() -> None:
    named = {"A": ReceiptAnswer.CHANGED}
    order = Command(pk=7, verb="demo.kill_consumer", group_name="g", author_name="ada")
    other = Command(pk=8, verb="demo.stall_consumer", group_name="g", author_name="ada")

    facts = carrying.killed(order, Done(CommandOutcome.DONE, "A of g crashes", named), T0)

    assert [(type(fact).__name__, fact.client, fact.departure.value) for fact in facts] == [
        ("MemberLeft", "A", "unknown")
    ]
    assert carrying.killed(order, Done(CommandOutcome.FAILED, "no such member"), T0) == []
    assert carrying.killed(other, Done(CommandOutcome.DONE, "A stalls", named), T0) == []
