from __future__ import annotations

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups.models import Group, Member, MemberList
from dashboard.groups.recording.silences import MOST_SILENCES, kept
from dashboard.groups.silences import told_until_of
from rebalance_engine.events import Departure
from tests.dashboard.story import T0, held, joined, left, listed, missed, route, seen, told, untold


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A and B, who told what they hold at 10 ms."""
    told(route(4), listed(0, "A", "B"), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    del cluster
    return Group.objects.get()


def silences_of(client: str) -> list[list[int]] | None:
    return Member.objects.get(client_id=client).silences


def test_a_silence_is_kept_when_the_member_answers_again_from_its_last_word_on(group: Group) -> None:
    told(missed("B", 1_000))
    told(missed("B", 2_000))
    before = silences_of("B")
    told(held("B", 3_000, [2]))
    told(held("B", 4_000, [2]))

    row = Member.objects.get(client_id="B")
    assert (before, row.silences, row.silent_until) == (None, [[T0 + 10, T0 + 3_000]], T0 + 3_000)
    assert silences_of("A") is None
    del group


@pytest.mark.parametrize("departure", [Departure.UNREGISTERED, Departure.UNKNOWN])
def test_who_comes_back_was_silent_until_it_left_however_that_was(group: Group, departure: Departure) -> None:
    told(left("B", 5_000, departure), listed(5_000, "A"))
    told(joined("B", 9_000), listed(9_000, "A", "B"), *seen("B", 9_000))

    assert silences_of("B") == [[T0 + 10, T0 + 5_000]]
    del group


def test_a_silence_of_a_brokers_list_is_kept_when_it_is_told_again(group: Group) -> None:
    told(untold(2_000, low=1_000))
    told(listed(4_000, "A", "B"))

    row = MemberList.objects.get(group=group, broker="east")
    assert (row.silences, row.silent_until) == ([[T0 + 1_000, T0 + 4_000]], T0 + 4_000)
    assert (row.missing, row.missing_low) == (None, None)


@pytest.mark.parametrize(
    ("lists_at", "since"),
    [
        pytest.param(None, 0, id="nothing is known but when it changed last"),
        pytest.param(1_500, 1_500, id="an earlier watcher had every list then"),
        pytest.param(2_500, 2_000, id="every list was told since: it was not missing then"),
    ],
)
def test_of_a_list_that_this_watcher_never_had_the_silence_began_when_it_was_told_to_an_earlier_one(
    group: Group, lists_at: int | None, since: int
) -> None:
    told(listed(0, "A", "B"))
    if lists_at is not None:
        Watch.objects.create(cluster=group.cluster, at=T0, lists_at=T0 + lists_at)

    told(untold(2_000))

    assert MemberList.objects.get(group=group, broker="east").missing_low == T0 + since
    assert told_until_of(group.pk) == T0 + since


def test_lists_that_are_missing_at_once_cost_no_query_each(cluster: Cluster) -> None:
    def queries(*names: str) -> int:
        told(*(listed(0, "A", group=name) for name in names))
        with CaptureQueriesContext(connection) as asked:
            told(*(untold(2_000, group=name) for name in names))
        assert MemberList.objects.filter(group__name__in=names, missing_low=T0).count() == len(names)
        return len(asked)

    assert cluster.pk
    assert queries("a", "b") == queries(*(f"g{each}" for each in range(30)))


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(0, 50)), max_size=100))
def test_no_time_of_silence_is_lost_and_never_too_many_are_kept(steps: list[tuple[int, int]]) -> None:
    found, at, all_times = None, 0, []
    for gap, length in steps:
        since, at = at + gap, at + gap + length
        found = kept(found, since, at)
        all_times.append((since, at))

    times = found or []
    assert len(times) <= MOST_SILENCES
    assert times == sorted(times)
    assert all(
        any(begin <= since and until <= end for begin, end in times) for since, until in all_times if since < until
    )
