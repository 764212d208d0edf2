import asyncio
import logging
from weakref import ref

import pytest

from rebalance_engine.events import EXACT, BrokerBackoffEnded, Origin, Source
from rebalance_engine.network.facts import Facts
from tests.rebalance_engine.network.loop import on_a_loop

SOURCE = Source(origin=Origin.AGENT_REPORT)


def fact(at: int) -> BrokerBackoffEnded:
    return BrokerBackoffEnded(at=at, source=SOURCE, exactness=EXACT, client="A", broker="east")


@on_a_loop
async def test_who_follows_gets_every_fact_in_its_order_until_the_end() -> None:
    facts = Facts()
    following = facts.follow()
    for at in (1, 2):
        facts.tell(fact(at))
    facts.end()

    assert [each.at async for each in following] == [1, 2]
    assert [each async for each in facts.follow()] == []


@on_a_loop
async def test_who_waits_is_woken() -> None:
    facts = Facts()
    waiting = asyncio.ensure_future(anext(facts.follow()))
    await asyncio.sleep(0)
    facts.tell(fact(5))

    assert (await waiting).at == 5


@on_a_loop
async def test_who_does_not_keep_up_loses_the_oldest_and_can_see_it() -> None:
    facts = Facts()
    following = facts.follow(most_kept=2)
    for at in range(5):
        facts.tell(fact(at))
    facts.end()

    assert [each.at async for each in following] == [3, 4]
    assert following.lost == 3


@on_a_loop
async def test_who_has_left_is_told_nothing_more() -> None:
    facts = Facts()
    left, kept = facts.follow(), facts.follow()
    gone = ref(left)
    del left
    facts.tell(fact(1))

    assert gone() is None
    assert (await anext(kept)).at == 1


def test_what_on_fact_raises_is_logged_and_changes_nothing(caplog: pytest.LogCaptureFixture) -> None:
    def refuse(_: object) -> None:
        raise RuntimeError

    with caplog.at_level(logging.ERROR):
        Facts(refuse).tell(fact(1))

    assert "on_fact raised on BrokerBackoffEnded" in caplog.text
