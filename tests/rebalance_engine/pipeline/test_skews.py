"""Clocks of hosts that differ: what is certain is so still, and what may be lies within its bounds."""

import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.skews import apart_ms, doubts_of, in_doubt, may_lie_between
from rebalance_engine.pipeline.sorting import whole
from rebalance_engine.pipeline.stories import tell
from rebalance_engine.pipeline.sweep import Hold
from tests.rebalance_engine.pipeline.overheard import overhear
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span
from tests.rebalance_engine.pipeline.test_written import COMMON, SCENARIOS
from tests.rebalance_engine.pipeline.true_story import Truth

QUEUE = MessageQueue("orders", "east", 0)
AHEAD = {"web1": {"east": (29_000, 31_000)}}
Row = dict[str, Any]


def hold(host: str, begin: int, end: int, **more: Any) -> Hold:
    return Hold(begin, end, f"of {host}", process=f"{host}/7", **more)


def test_what_a_host_tells_is_in_doubt_by_its_clock_where_another_one_had_the_queue_too() -> None:
    one, two, three = hold("web1", 0, 10), hold("web2", 10, 20), hold("web3", 20, 30)

    assert doubts_of({QUEUE: [one, two]}, AHEAD) == {QUEUE: {"web1": 31_000, "web2": 0}}
    assert doubts_of({QUEUE: [one]}, AHEAD) == doubts_of({QUEUE: [two, three]}, AHEAD) == {}


def test_hosts_whose_clocks_differ_from_a_brokers_alike_are_compared_with_each_other() -> None:
    """West's clock agrees with the members': nothing is told of it."""
    both = AHEAD | {"web2": {"east": (30_000, 32_000)}}

    doubts = doubts_of({QUEUE: [hold("web1", 0, 10), hold("web2", 10, 20)]}, both)

    assert doubts == {QUEUE: {"web1": 1_000, "web2": 2_000}}


def test_a_hold_in_doubt_begins_and_ends_within_bounds() -> None:
    doubts = {QUEUE: {"web1": 1_000, "web2": 0}}
    sure, whole = hold("web2", 0, 5_000), hold("web1", 5_000, 90_000)
    stopped, still = (
        hold("web1", 5_000, 90_000, ended="stopped", until_after_ms=88_000),
        hold("web1", 5_000, 90_000, ended="open"),
    )

    told = in_doubt({QUEUE: [sure, whole, stopped, still]}, doubts)[QUEUE]

    assert told[0] == sure
    assert [(one.may_begin_ms, one.from_ms, one.early_ms, one.until_ms) for one in told[1:]] == [
        (4_000, 6_000, 89_000, 91_000),
        (4_000, 6_000, 87_000, 91_000),
        (4_000, 6_000, 90_000, 90_000),
    ]
    assert [one.surely_until_ms for one in told[1:]] == [89_000, 87_000, 90_000]


def test_between_two_holds_of_one_host_nothing_is_in_doubt_but_that_another_had_it() -> None:
    doubts = {"web1": 1_000, "web2": 0}
    one, again, other = hold("web2", 0, 5_000), hold("web2", 6_000, 9_000), hold("web1", 6_500, 7_000)

    assert (apart_ms(one, again, doubts), apart_ms(one, other, doubts)) == (0, 1_000)
    assert may_lie_between(one, again, [one, again, other], doubts)
    assert not may_lie_between(one, again, [one, again, hold("web1", 8_000, 9_000)], doubts)
    assert not may_lie_between(one, again, [one, again, other], {})


def test_a_handoff_between_two_hosts_has_bounds_that_are_wider() -> None:
    """B's clock is up to 31 s ahead, or was: it took the queue 40 s after A let it go, or 9, or 71."""
    spans = [span("A", 1_000, 100_000), span("B", 140_000, 300_000, ended="open")]
    clock = clue("clock", 0, process="B", broker="east", number=29_000, number2=31_000)

    rows = list(tell(spans, [clue("input ends", 300_000), clock]))

    (row,), stretches = kinds(rows, "handoff"), kinds(rows, "stretch")
    names = ("unowned_ms", "unowned_most_ms", "overlap_least_ms", "overlap_ms", "pause_ms", "pause_is")
    assert tuple(row[name] for name in names) == (9_000, 71_000, 0, 0, 9_500, "at least")
    assert unowned(stretches) == (9_000, 71_000)
    assert {load["clocks_apart"] for load in kinds(rows, "group load")} == {1}


def unowned(stretches: Iterable[Row]) -> tuple[int, int]:
    """Sum up for how long nobody had queues, at least and at most, as costs do."""
    lasts = [(row["until_ms"] - row["at_ms"], row["unheard"]) for row in stretches if not row["clients"]]
    return sum(ms for ms, doubt in lasts if not doubt), sum(ms for ms, _ in lasts)


def overlap(stretches: Iterable[Row]) -> tuple[int, int]:
    """Sum up for how long several had queues, at least and at most."""
    both = [row for row in stretches if row["clients"]]
    return sum(row["surely_ms"] for row in both), sum(row["until_ms"] - row["at_ms"] for row in both)


@pytest.fixture(scope="module")
def truth() -> Truth:
    told = overhear(COMMON + SCENARIOS["muted"][0].format(profile="java-5.5.0"))
    return Truth(told, "g", tells_routes=True)


def spans_of(truth: Truth, by: dict[str, int]) -> list[dict[str, object]]:
    """Give the true holds as hosts of these clocks tell them."""
    return [
        span(one.client, one.from_ms + by.get(one.client, 0), end_of(one.until_ms, truth) + by.get(one.client, 0),
             topic=queue.topic, broker=queue.broker, queue_id=queue.queue_id, process=f"{one.client}/7")
        for queue, those in truth.holds.items()
        for one in those
    ]  # fmt: skip


def end_of(until_ms: int | None, truth: Truth) -> int:
    return truth.end_ms if until_ms is None else until_ms


def stretches_of(spans: Sequence[dict[str, object]], clocks: Sequence[dict[str, object]] = ()) -> list[Row]:
    return kinds(list(tell(spans, clocks)), "stretch")


def test_before_its_first_take_by_a_member_of_go_no_queue_is_perhaps_unowned() -> None:
    """The second in which it was taken says how long it was held, but nobody counts what was before it."""
    first, second = hold("web1", 60_000, 90_000, layout="go"), hold("web2", 95_000, 99_000, layout="go")

    alone, _ = in_doubt({QUEUE: [first, second]}, {})[QUEUE]
    beside, _ = in_doubt({QUEUE: [first, replace(second, from_ms=60_400)]}, {})[QUEUE]

    assert (alone.may_begin_ms, alone.from_ms, alone.until_ms) == (60_000, 60_000, 90_999)
    assert (beside.may_begin_ms, beside.from_ms) == (60_000, 60_999)


@pytest.mark.parametrize("seed", range(40))
def test_what_truly_happened_lies_within_the_bounds_whichever_clocks_differ(truth: Truth, seed: int) -> None:
    chance = random.Random(seed)
    hosts = chance.sample("ABCD", chance.choice((1, 1, 2, 3)))
    by = {host: chance.choice((-1, 1)) * chance.randrange(2_000, 40_000) for host in hosts}
    clocks = [
        clue("clock", 0, process=host, broker="east", number=ms - 900, number2=ms + chance.randrange(1_500))
        for host, ms in by.items()
    ]

    true, told = stretches_of(spans_of(truth, {})), stretches_of(spans_of(truth, by), clocks)

    for bounds in (unowned, overlap):
        exactly, least, most = bounds(true)[0], *bounds(told)
        assert least <= exactly <= most


@pytest.mark.parametrize(
    ("giver", "taker", "unowned_is", "overlap_is", "paused_ms"),
    [
        pytest.param((60_000, "go"), (61_000, "go"), (1, 1_999), (0, 0), 1, id="60.100 and 61.030, say"),
        pytest.param((60_000, "go"), (60_000, "go"), (0, 999), (0, 999), 0, id="within one second"),
        pytest.param((60_000, "go"), (60_400, "java4"), (0, 400), (0, 599), 0, id="the giver alone has seconds"),
        pytest.param((60_400, "java4"), (60_000, "go"), (0, 599), (0, 400), 0, id="the taker alone has"),
        pytest.param((60_100, "go"), (61_030, "go"), (930, 930), (0, 0), 930, id="its format has a fraction"),
    ],
)
def test_what_go_tells_by_a_whole_second_was_up_to_its_end(
    giver: tuple[int, str],
    taker: tuple[int, str],
    unowned_is: tuple[int, int],
    overlap_is: tuple[int, int],
    paused_ms: int,
) -> None:
    spans = [
        span("A", 1_001, giver[0], layout=giver[1]),
        span("B", taker[0], 300_000, ended="open", layout=taker[1]),
    ]

    rows = list(tell(spans, [clue("input ends", 300_000)]))

    (row,), stretches = kinds(rows, "handoff"), kinds(rows, "stretch")
    assert (row["unowned_ms"], row["unowned_most_ms"]) == unowned_is
    assert (row["overlap_least_ms"], row["overlap_ms"]) == overlap_is
    assert row["pause_ms"] == paused_ms
    least, most = unowned(stretches)
    assert least == unowned_is[0]
    assert most >= unowned_is[1]


@pytest.mark.parametrize("ended", ["released", "stopped", "lost"])
@pytest.mark.parametrize("seed", range(20))
def test_what_truly_happened_lies_within_the_bounds_of_whole_seconds(truth: Truth, seed: int, ended: str) -> None:
    chance = random.Random(seed)
    of_go = chance.sample("ABCD", chance.randrange(1, 5))
    by = chance.randrange(1_000)  # where seconds begin is chance
    exact = [
        {**row, "from_ms": whole(row["from_ms"]) + by, "until_ms": whole(row["until_ms"]) + by, "ended": ended}
        for row in spans_of(truth, {})
    ]
    in_seconds = [
        {**row, "layout": "go", **{name: whole(row[name]) // 1_000 * 1_000 for name in ("from_ms", "until_ms")}}
        if row["client_id"] in of_go
        else row
        for row in exact
    ]

    true, told = stretches_of(exact), stretches_of(in_seconds)

    for bounds in (unowned, overlap):
        exactly, least, most = bounds(true)[0], *bounds(told)
        assert least <= exactly <= most
