from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.groups.pairing import Instant, Span, Way, pairs
from tests.dashboard.story import queue

SINCE = 50
Told = tuple[str | None, str | None, Way]


def exactly(at: int) -> Instant:
    return Instant(at, at, at)


def span(client: str, since: int, until: int | None = None) -> Span:
    return Span(queue(0), client, exactly(since), None if until is None else exactly(until))


def mute(client: str, since: int, told_at: int, lost_at: int | None = None) -> Span:
    """Who said last at ``told_at`` that it has the queue; lost without a word, or a member still."""
    began = span(client, since)
    return replace(began, told_at=told_at) if lost_at is None else replace(began, until=Instant(lost_at, told_at, None))


def told(spans: list[Span], since: int = SINCE) -> list[Told]:
    def name(span: Span | None) -> str | None:
        return None if span is None else span.client

    return [(name(lost), name(got), way) for lost, got, way in pairs(spans, since, None)]


A = mute("A", 0, 90)
B = span("B", 100, 200)


@pytest.mark.parametrize("takes", [190, 210])
def test_a_queue_goes_from_one_to_the_next_beside_who_says_nothing_any_more(takes: int) -> None:
    handed = told([A, B, span("C", takes)])

    assert handed == [("A", "B", Way.BESIDE), ("B", "C", Way.HANDED)]


def test_each_of_a_chain_beside_the_mute_hands_over_to_the_next() -> None:
    handed = told([A, B, span("C", 210, 300), span("D", 310)])

    assert handed == [("A", "B", Way.BESIDE), ("B", "C", Way.HANDED), ("C", "D", Way.HANDED)]


def test_what_was_taken_before_the_round_beside_the_mute_is_handed_over_too() -> None:
    assert told([A, B, span("C", 210)], since=150) == [("B", "C", Way.HANDED)]


def test_who_was_lost_while_nobody_had_the_queue_gave_it_to_who_took_it_since() -> None:
    spans = [mute("A", 0, 90, 205), B, span("C", 210, 260), span("E", 250)]

    assert told(spans) == [("A", "B", Way.HANDED), ("B", "C", Way.HANDED), ("C", "E", Way.HANDED)]
    assert told(spans, since=150) == [("B", "C", Way.HANDED), ("C", "E", Way.HANDED)]


def test_who_was_lost_when_others_went_on_is_told_beside_who_has_it() -> None:
    spans = [mute("A", 0, 90, 250), B, span("C", 210)]

    assert told(spans) == [("A", "B", Way.BESIDE), ("B", "C", Way.HANDED), ("A", "C", Way.KEPT)]


@pytest.mark.parametrize("lost_at", [299, 305, 311])
def test_who_was_lost_gives_nothing_that_another_one_had_since(lost_at: int) -> None:
    spans = [mute("A", 0, 90, lost_at), span("B", 100, 310), span("C", 300)]

    assert ("B", "C", Way.HANDED) in told(spans, since=250)
    assert ("A", "C", Way.HANDED) not in told(spans, since=250)


def test_of_two_mutes_neither_stands_between_those_who_tell() -> None:
    spans = [mute("A", 0, 60), mute("X", 70, 90, 205), B, span("C", 210)]

    assert told(spans) == [("A", "X", Way.BESIDE), ("A", "B", Way.BESIDE), ("B", "C", Way.HANDED)]


def test_who_was_lost_gave_to_the_next_one_though_others_had_the_queue_later() -> None:
    later = [mute("X", 60, 80), span("Y", 100, 180), span("Z", 180)]

    assert ("A", "X", Way.HANDED) in told([mute("A", 0, 55, 185), *later])


@pytest.mark.parametrize(("first", "second"), ["AB", "BA"])
def test_of_two_who_let_go_at_once_the_one_that_had_the_queue_first_gives_it_to_the_other(
    first: str, second: str
) -> None:
    spans = [span(first, 0, 200), span(second, 100, 200), span("C", 210)]

    assert told(spans) == [(first, second, Way.HANDED), (second, "C", Way.HANDED)]


def looked(client: str, low: int, at: int, until: int | None = None) -> Span:
    return replace(span(client, at, until), since=Instant(at, low, at))


@pytest.mark.parametrize(("one", "other"), ["BC", "CB"])
def test_of_two_who_were_seen_to_take_a_queue_by_one_look_neither_gives_it_to_the_other(one: str, other: str) -> None:
    both = [looked(one, 90, 120, 200), looked(other, 40, 120)]

    assert told([span("A", 0, 100), *both]) == [("A", other, Way.HANDED), (other, one, Way.BESIDE)]
    assert told([span("A", 0, 150), *both]) == [("A", other, Way.HANDED), (other, one, Way.BESIDE)]
    assert told(both) == [(other, one, Way.BESIDE), (None, other, Way.HANDED)]
    then = told([span("A", 0, 100), both[0], replace(both[1], until=exactly(300)), span("D", 310)])
    assert then == [("A", other, Way.HANDED), (other, one, Way.BESIDE), (other, "D", Way.HANDED)]
    at_once = told([span("A", 0, 100), *(replace(each, until=Instant(200, 190, 200)) for each in both)])
    assert at_once == [("A", "C", Way.HANDED), ("C", "B", Way.BESIDE), ("C", None, Way.HANDED)]


def test_who_was_lost_gave_nothing_to_who_took_the_queue_after_the_next_one() -> None:
    spans = [mute("A", 0, 60, 207), mute("X", 70, 90, 205), B, span("C", 210)]

    assert ("A", "B", Way.HANDED) not in told(spans)
    assert ("B", "C", Way.HANDED) in told(spans)


def test_an_owner_who_tells_keeps_the_queue_beside_the_mute() -> None:
    handed = told([A, span("X", 10, 310), B, span("C", 300)])

    assert handed == [("X", "B", Way.BESIDE), ("X", "C", Way.HANDED)]
    assert told([A, span("X", 95), span("B", 100, 110)]) == [("X", "B", Way.BESIDE), (None, "X", Way.HANDED)]


def test_what_nobody_took_since_the_mute_may_have_still() -> None:
    assert told([A, B]) == [("A", "B", Way.BESIDE)]
    assert told([A, B], since=150) == [("B", "A", Way.KEPT)]
    assert told([mute("A", 0, 90, 205), B]) == [("A", "B", Way.BESIDE), ("A", None, Way.HANDED)]


def test_who_told_after_the_other_took_it_is_no_mute() -> None:
    assert told([mute("A", 0, 120), B, span("C", 210)]) == [("A", "B", Way.BESIDE), (None, "C", Way.HANDED)]


@dataclass(frozen=True)
class Truth:
    """Who had a queue one after the other, guests beside them, and what was known of it; the mute among them."""

    owners: list[str]
    known: list[Span]
    mutes: set[str]


@st.composite
def owned(draw: st.DrawFn) -> Truth:
    """Make up to six owners, none of whom comes again; the mute said last before the next one took the queue.

    Who tells may have had a guest, that took the queue beside it and let it go again.
    """
    owners = [f"m{number}" for number in range(draw(st.integers(2, 6)))]
    begins, ends = [0], [draw(st.integers(60, 100))]
    for _ in owners[1:]:
        begins.append(ends[-1] + draw(st.integers(-5, 20)))
        ends.append(begins[-1] + draw(st.integers(30, 60)))
    known, mutes = list[Span](), draw(st.sets(st.sampled_from(owners)))
    for number, (owner, begin, end) in enumerate(zip(owners, begins, ends, strict=True)):
        is_last = owner == owners[-1]
        if owner in mutes:
            told_at = min(draw(st.integers(begin, (end if is_last else begins[number + 1]) - 1)), end)
            missed = max(told_at, ends[number - 1] if number else 0) + 1
            known.append(mute(owner, begin, told_at, draw(st.none() | st.integers(missed, ends[-1] + 50))))
        else:
            known.append(span(owner, begin, None if is_last else end))
            if draw(st.booleans()):
                known.append(span(f"guest of {owner}", begin + 10, end - 10))
    return Truth(owners, known, mutes)


@given(owned(), st.integers(1, 200))
def test_nobody_is_told_to_hand_over_but_to_the_next_one_and_who_tells_just_once(truth: Truth, since: int) -> None:
    known = [each for each in truth.known if each.until is None or each.until.at >= since]
    known = [each for each in known if each.client in truth.owners or each.since.at >= since]

    handed = Counter(
        (lost.client, got.client) for lost, got, way in pairs(known, since, None) if lost and got and way is Way.HANDED
    )

    by_name = {each.client: each for each in known}
    owners = [owner for owner in truth.owners if owner in by_name]
    true = list(pairwise(owners))
    for pair, times in handed.items():
        assert (pair in true, times) == (True, 1)
    for pair in true:
        drop, take = by_name[pair[0]].until, by_name[pair[1]].since
        if not truth.mutes & set(pair) and drop is not None and min(drop.at, take.at) >= since:
            assert handed[pair] == 1


@given(owned(), st.integers(1, 200))
def test_each_drop_and_take_is_told_at_most_once(truth: Truth, since: int) -> None:
    told = list(pairs(truth.known, since, None))

    drops = Counter(lost.client for lost, _, way in told if lost is not None and way is not Way.BESIDE)
    takes = Counter(got.client for _, got, way in told if got is not None and way is not Way.KEPT)
    assert set(drops.values()) <= {1}
    assert set(takes.values()) <= {1}
    assert set(takes) == {each.client for each in truth.known if each.since.at >= since}
