from __future__ import annotations

import pytest

from dashboard.groups.models import Round
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.story import worst
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


def said(**found: object) -> str:
    row = Round(pk=1, cause="broker back", opened_at=T0, closed_at=T0 + 42_000, move_count=0, unknown_members=[])
    return sentence_of(row, {**worst([], {}), **found}, now=T0 + 50_000)


@pytest.mark.parametrize(
    ("known", "untold", "words"),
    [
        (1, 1, "It has no handoff in this round."),
        (6, 6, "None of them has a handoff in this round."),
        (6, 2, "2 of them have no handoff in this round."),
        (6, 0, "6 queues had no owner, the longest for 42.2 s."),
    ],
)
def test_queues_without_a_handoff_are_told_from_those_that_have_one(known: int, untold: int, words: str) -> None:
    sentence = said(unowned=(42_200, 42_200), unowned_queues=known, unowned_untold=untold)

    assert words in sentence
    assert ("handoff" in sentence) == bool(untold)


def test_where_none_changed_owner_it_is_told_that_some_got_one() -> None:
    assert "No queue changed owner. 8 queues that had no owner were taken." in said(from_nobody=8)
    assert "were taken" not in said()


def test_what_two_had_since_before_it_is_counted_and_given_no_time() -> None:
    assert said(overlap_older_queues=2).endswith("2 queues had two owners since before it.")
