from __future__ import annotations

from dataclasses import replace

import pytest

from dashboard.api.fared import FIELDS, MORE, NOT_ALL_LAG, TIMES, TOO_MUCH, fared, why_not_fared
from dashboard.api.unknown import NO_LAG, NO_OFFSETS, NOT_KEPT, NOT_YET, SHARED
from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from dashboard.groups.lag import Waiting
from dashboard.groups.lately import WINDOW_MS, Lately
from dashboard.groups.models import Group
from dashboard.groups.shares import Lasted
from tests.dashboard.api.conftest import Get
from tests.dashboard.story import T0

UNTIL = T0 + 60_000
KNOWN = Lately(UNTIL, Lasted(10, 20, 30), Lasted(0, 0, 5), twice=2, waiting=Waiting(7, True, T0, T0 + 1))


def test_what_is_known_is_given_with_its_bounds_and_needs_no_reason() -> None:
    told = fared(KNOWN)

    assert told == {
        "lag": 7,
        "lag_low": 7,
        "lag_at": T0 + 1,
        "waits_since": T0,
        "duplicate_messages": 2,
        "lately_since": UNTIL - WINDOW_MS,
        "lately_until": UNTIL,
        "unowned_ms_low": 10,
        "unowned_ms_high": 30,
        "overlap_ms_low": 0,
        "overlap_ms_high": 5,
    }
    assert tuple(told) == FIELDS
    assert why_not_fared(KNOWN, told) == {}


def test_nothing_that_waits_needs_no_reason_for_its_age() -> None:
    idle = replace(KNOWN, waiting=Waiting(0, True, None, T0))

    assert why_not_fared(idle, fared(idle)) == {}


def test_part_of_a_lag_is_a_lower_bound() -> None:
    part = replace(KNOWN, waiting=Waiting(7, False, T0, T0))

    told = fared(part)

    assert (told["lag"], told["lag_low"]) == (None, 7)
    assert why_not_fared(part, told) == {"lag": NOT_ALL_LAG}


def test_who_does_not_answer_leaves_no_upper_bound_where_queues_are_not_counted() -> None:
    silent = replace(KNOWN, is_open=True, has_most=False)
    assert None not in [fared(replace(silent, has_most=True))[name] for name in TIMES]

    told = fared(silent)

    assert [told[name] for name in TIMES] == [10, None, 0, None]
    assert why_not_fared(silent, told) == {"unowned_ms_high": MORE, "overlap_ms_high": MORE}


@pytest.mark.parametrize(
    ("each", "why"),
    [
        (Lately(UNTIL, None, None, is_shared=True), SHARED),
        (Lately(UNTIL, None, None, is_too_much=True), TOO_MUCH),
        (Lately(UNTIL, None, None), NOT_YET),
        (None, NOT_KEPT),
    ],
)
def test_each_unknown_says_why(each: Lately | None, why: str) -> None:
    told = fared(each)
    reasons = why_not_fared(each, told)

    assert set(reasons) == {name for name, figure in told.items() if figure is None} == set(FIELDS)
    assert {reasons[name] for name in ("lately_since", "lately_until", *TIMES)} == {why}
    if each is not None:
        assert (reasons["lag"], reasons["duplicate_messages"]) == (NO_LAG, NO_OFFSETS)


def test_the_list_says_of_every_group_how_it_fared(get: Get, group: Group) -> None:
    Group.objects.create(cluster=group.cluster, name="new", added_at=T0)
    Cluster.objects.update(watched_at=now_ms())

    new, known = sorted(get("/groups")["rows"], key=lambda row: row["name"] == "g")

    assert [known[name] for name in TIMES if name.endswith("low")] == [0, 0]
    assert known["unknown"]["lag"] == NO_LAG
    assert (new["unowned_ms_low"], new["unknown"]["unowned_ms_low"]) == (None, NOT_YET)
