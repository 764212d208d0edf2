from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.past import BadInstant, Shown, instant_of, shown_at, spell_instant
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.messages import GroupState
from dashboard.push.models import Step
from dashboard.push.publish import group_state
from tests.dashboard.luck import examples
from tests.dashboard.story import T0, add_cluster, held, joined, left, route, seen, told
from tests.dashboard.test_histories import fact_of, gaps, happenings

NOW = 1_800_000_000_000


@pytest.mark.parametrize(
    ("text", "at"),
    [
        ("1700000000123", 1_700_000_000_123),
        (" 0 ", 0),
        ("2023-11-14T22:13:20.123Z", 1_700_000_000_123),
        ("2023-11-14T22:13:20", 1_700_000_000_000),
        ("2023-11-15T00:13:20+02:00", 1_700_000_000_000),
        ("2023-11-15T00:13:20 02:00", 1_700_000_000_000),  # as an address has the plus sign
        ("2023-11-14", 1_699_920_000_000),
        (str(NOW), NOW),
    ],
)
def test_an_instant_is_ms_or_iso_8601(text: str, at: int) -> None:
    assert instant_of(text, now=NOW) == at


@pytest.mark.parametrize("text", ["", "yesterday", "-5", "12:00", "1e9", "٣٣", "2023-13-01", "2023-11-14T22:13:20\0"])
def test_anything_else_is_refused_with_what_is_needed(text: str) -> None:
    with pytest.raises(BadInstant, match=r"is no instant\. Needed are ms since 1970, or a time such as"):
        instant_of(text, now=NOW)


@pytest.mark.parametrize(("size", "shown"), [(16, "9" * 16), (300, "9" * 40 + "…")])
def test_a_number_that_is_too_long_is_told_with_its_length_and_what_time_it_is(size: int, shown: str) -> None:
    with pytest.raises(
        BadInstant, match=rf"^“{shown}” has {size} digits\. Needed are ms since 1970, until now: it is {NOW}\.$"
    ):
        instant_of("9" * size, now=NOW)


def test_what_is_to_come_is_refused_with_what_time_it_is() -> None:
    with pytest.raises(
        BadInstant, match=r"^2027-01-15T08:00:00.001Z is still to come: it is 2027-01-15T08:00:00.000Z now\.$"
    ):
        instant_of(str(NOW + 1), now=NOW)
    with pytest.raises(BadInstant, match="is still to come"):
        instant_of("9" * 15, now=NOW)


def test_an_instant_is_written_as_it_may_be_asked_for() -> None:
    assert instant_of(spell_instant(1_700_000_000_123), now=NOW) == 1_700_000_000_123
    assert spell_instant(10**15) == "1000000000000000 ms"


@pytest.mark.django_db
@settings(max_examples=examples(25), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(happenings, gaps), min_size=1, max_size=12), st.integers(0, 30))
def test_the_past_is_what_was_shown_then(history: list[tuple[tuple, int]], forgotten: int) -> None:
    Cluster.objects.all().delete()
    Step.objects.all().delete()
    add_cluster()
    told(route(4), *seen("A"), held("A", 1, [0, 1, 2, 3]))
    group, at = Group.objects.get(), 2
    rebalance_once(group=group.pk, now=T0 + at)
    live: list[tuple[int, GroupState | None]] = [(at, group_state(group=group.pk))]
    for happening, gap in history:
        at += gap
        told(fact_of(happening, at))
        rebalance_once(group=group.pk, now=T0 + at)
        live.append((at, group_state(group=group.pk)))

    assert shown_at(group=group, at=T0 + 1) is None
    for (since, state), until in zip(live, [*(at for at, _ in live[1:]), at + 1_000], strict=True):
        for instant in (since, until - 1):
            shown = shown_at(group=group, at=T0 + instant)
            assert shown is not None
            assert (shown.state, shown.is_exact) == (state, True)
            assert shown.since <= T0 + since

    Step.objects.filter(seq__lte=forgotten).delete()
    for at, state in live:
        shown = shown_at(group=group, at=T0 + at)
        assert shown is None or not shown.is_exact or shown.state == state


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """C joined at 5 s and had its share at 6 s; A left at 60 s and B and C had all at 62 s."""
    assert cluster.name == "shop"
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000), *seen("C", 5_000), at=5_000)
    turn(5_000)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2]), held("C", 6_000, [3]), at=6_000)
    turn(6_000)
    told(left("A", 60_000), at=60_000)
    turn(60_000)
    told(held("B", 62_000, [0, 1, 2]), held("C", 62_000, [3]), at=62_000)
    turn(62_000)
    return Group.objects.get()


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)


def names(shown: Shown | None) -> list[str]:
    assert shown is not None
    return [cell.client for cell in shown.state.members]


def test_nothing_is_known_of_a_group_before_its_first_look(group: Group) -> None:
    assert shown_at(group=group, at=T0 + 19) is None
    assert names(shown_at(group=group, at=T0 + 20)) == ["A", "B"]


def test_where_steps_are_not_kept_rounds_and_spans_tell(group: Group) -> None:
    exact = {at: shown_at(group=group, at=T0 + at) for at in (30_000, 70_000)}
    Step.objects.all().delete()

    later = shown_at(group=group, at=T0 + 30_000)

    assert later is not None
    assert not later.is_exact
    before = exact[30_000]
    assert before is not None
    assert [(cell.client, cell.held) for cell in later.state.members] == [
        (cell.client, cell.held) for cell in before.state.members
    ]
    assert shown_at(group=group, at=T0 + 70_000) == exact[70_000]  # the newest state is kept whole
