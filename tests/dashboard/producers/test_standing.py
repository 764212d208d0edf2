from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dashboard.producers.standing import Backoff, Send, Standing, avoids_no_broker, backoffs_of, sends_of

QUIET = Standing("east", None, (), (), None, None, None, None)


@pytest.mark.parametrize(
    ("told", "kind"),
    [
        ({}, "unknown"),
        ({"told_at": 500_000}, "available"),
        ({"told_at": 1}, "quiet"),
        ({"told_at": 500_000, "is_reachable": False}, "unreachable"),
        ({"told_at": 1, "backoff_until": 500_001}, "backs off"),
        ({"told_at": 500_000, "backoff_until": 500_000}, "available"),
    ],
    ids=str,
)
def test_what_a_producer_reported_says_how_it_stands(told: dict[str, Any], kind: str) -> None:
    assert replace(QUIET, **told).kind(500_000) == kind


def test_only_sends_of_the_last_minute_count() -> None:
    sends = sends_of([[39_999, 900, "ok", None], [60_000, 7, "ok", "t"], [100_000, 5, "broker error", "t"]])
    each = replace(QUIET, sends=sends, told_at=1)

    assert [send.is_fine for send in each.lately(100_000)] == [True, False]
    assert (each.median_ms(100_000), each.median_ms(200_000)) == (5, None)
    assert sends[0] == Send(39_999, 900, "ok", None)


def test_a_backoff_is_over_as_announced_or_as_told() -> None:
    early, whole = backoffs_of([[10, 100, True, 50], [10, 100, False, None]])

    assert (early.until, whole.until) == (50, 110)
    assert whole == Backoff(10, 100, is_isolated=False, ended_at=None)


def test_at_a_past_instant_only_what_was_told_by_then_counts() -> None:
    each = replace(
        QUIET,
        told_at=900,
        sends=sends_of([[100, 7, "ok", "t"], [500, 9, "ok", "t"]]),
        backoffs=backoffs_of([[200, 100, True, None], [400, 1_000, True, 700]]),
        is_isolated=False,
        is_reachable=True,
    )

    assert each.as_of(900) is each
    before, alone, again = each.as_of(50), each.as_of(600), each.as_of(800)
    assert (before.told_at, before.kind(50), before.is_isolated) == (None, "unknown", None)
    assert (alone.told_at, alone.kind(600), alone.left_ms(600), alone.is_isolated) == (500, "backs off", 800, True)
    assert [backoff.ended_at for backoff in alone.backoffs] == [None, None]
    assert (again.told_at, again.kind(800), again.left_ms(800)) == (700, "available", 0)
    assert [len(then.sends) for then in (before, alone, again)] == [0, 2, 2]
    assert again.is_reachable is None  # it is not kept of the past


def test_what_ran_out_by_itself_was_over_then() -> None:
    each = replace(QUIET, told_at=900, backoffs=backoffs_of([[200, 100, True, None]]))

    assert [each.as_of(at).kind(at) for at in (250, 299, 300)] == ["backs off", "backs off", "available"]
    assert each.instants == (200, 300)
    assert QUIET.as_of(5) is QUIET


def test_whether_it_left_a_broker_alone_is_unknown_before_what_is_kept() -> None:
    rest = backoffs_of([[500, 100, True, None]])
    each = replace(QUIET, told_at=900, sends=sends_of([[100, 7, "ok", "t"]]), backoffs=rest, backoffs_since=500)

    assert [each.as_of(at).kind(at) for at in (200, 550, 650)] == ["not kept", "backs off", "available"]
    assert [each.as_of(at).is_isolated for at in (200, 550, 650)] == [None, True, True]
    assert (each.is_cut, QUIET.is_cut) == (True, False)


def test_of_a_minute_that_begins_before_what_is_kept_not_all_sends_are() -> None:
    each = replace(QUIET, told_at=99_000, sends_since=20_000)

    assert [each.keeps_sends(at) for at in (79_999, 80_000)] == [False, True]
    assert QUIET.keeps_sends(1)


def test_who_left_no_broker_alone_after_sends_for_which_fault_avoidance_does_avoids_none() -> None:
    failed = tuple(Send(at, 20, "remoting error", None) for at in (1_000, 2_000))
    slow = tuple(Send(at, 900, "ok", None) for at in (1_000, 2_000))
    quick = tuple(Send(at, 20, "ok", None) for at in (1_000, 2_000))
    east = replace(QUIET, told_at=60_000)

    def avoids_none(*standings: Standing) -> bool:
        return avoids_no_broker(standings, slow_ms=550)

    assert avoids_none(replace(east, sends=failed)) and avoids_none(replace(east, sends=slow))
    assert not avoids_none(replace(east, sends=quick)), "it had no reason to"
    assert not avoids_none(replace(east, sends=failed[:1]))
    assert not avoids_none(replace(east, sends=failed, told_at=3_000)), "its back-off may be on the way"
    assert not avoids_none(
        replace(east, sends=failed), replace(east, backoffs=(Backoff(1, 5, is_isolated=True, ended_at=None),))
    )
    assert not avoids_none(replace(east, sends=failed, backoffs_since=5)), "of earlier ones nothing is kept"
    assert not avoids_none(QUIET)
