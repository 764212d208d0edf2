from __future__ import annotations

from dataclasses import replace

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from dashboard.clusters.models import Cluster, Watch
from dashboard.groups import lately
from dashboard.groups.bands import Step
from dashboard.groups.cells import cells_of
from dashboard.groups.ending import tell_ended
from dashboard.groups.lanes import lanes_of
from dashboard.groups.lately import BEFORE_MS, WINDOW_MS, Lately, lately_of
from dashboard.groups.models import Finding, Group, Handoff, Member, Round
from dashboard.groups.owned import shares_in
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.shares import Lasted
from rebalance_engine.events import Departure, Exactness
from tests.dashboard.story import T0, held, joined, left, listed, missed, route, seen, told, untold

NOW = T0 + 2 * WINDOW_MS  # what was before is in no window any more


@pytest.fixture
def group(cluster: Cluster) -> Group:
    """A and B, two queues each, long in order."""
    told(route(4), listed(0, "A", "B"), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    answering(NOW)
    del cluster
    return Group.objects.get()


def turn(at: int) -> None:
    rebalance_once(group=Group.objects.get(name="g").pk, now=T0 + at)


def answering(at: int) -> None:
    Cluster.objects.update(watched_at=at)


def lately_at(now: int) -> Lately:
    [each] = lately_of(groups=[Group.objects.get(name="g").pk], now=now).values()
    return each


def killed(at: int) -> None:
    """B is gone; A takes its queues 4 s later."""
    told(left("B", at), listed(at, "A"), held("A", at + 100, [0, 1]))
    turn(at + 100)
    told(held("A", at + 4_000, [0, 1, 2, 3]))
    turn(at + 4_100)


def test_a_group_in_order_had_all_its_owners_all_the_time(group: Group) -> None:
    each = lately_at(NOW)

    assert (each.unowned, each.overlap, each.nobody, each.two) == (Lasted(), Lasted(), (), ())
    del group


def test_time_without_owner_is_added_up_over_queues_within_the_window(group: Group) -> None:
    killed(2 * WINDOW_MS - 60_000)

    each = lately_at(NOW)

    assert each.unowned is not None
    assert (each.unowned.seen, _lasted(each.nobody), _lasted(each.perhaps_nobody)) == (8_000, 0, 8_000)
    answering(NOW + WINDOW_MS)
    assert lately_at(NOW + WINDOW_MS).unowned == Lasted()
    del group


def test_time_in_which_a_lost_one_was_no_member_never_counts_as_with_two_owners(group: Group) -> None:
    start = 2 * WINDOW_MS - 100_000

    def told_of_two(at: int) -> tuple[int, list[int | None], list[int]]:
        """At most: lately, in the lanes of the first round, in its shares."""
        answering(T0 + at)
        tell_ended(group=group.pk, now=T0 + at)
        row, most = Round.objects.get(number=1), lately_at(T0 + at).overlap
        lanes, shares = lanes_of(row, now=T0 + at), shares_in(row=row, now=T0 + at)
        assert most is not None
        return most.high, [lane.overlap[1] for lane in lanes], [share.overlap.high for share in shares.values()]

    told(held("A", start - 1_000, [0, 1]), held("B", start - 1_000, [2, 3]))
    told(left("B", start), listed(start, "A"))
    turn(start + 100)
    told(held("A", start + 4_000, [0, 1]), held("A", start + 5_000, [0, 1, 2, 3]))
    turn(start + 5_100)
    before = told_of_two(start + 40_000)

    back = start + 41_000
    told(held("A", start + 40_000, [0, 1, 2, 3]), joined("B", back, low=start + 40_000), listed(back, "A", "B"))
    told(*seen("B", back)[1:], held("B", back, [2, 3]), held("A", back, [0, 1, 2, 3]))
    told(held("A", back + 2_000, [0, 1]), held("B", back + 2_000, [2, 3]))
    turn(back + 2_100)
    after = told_of_two(back + 3_000)

    assert before[::2] == (0, [0, 0]) and set(before[1]) == {0}
    assert after[0] == 2 * 3_000 + 4 * 1_000  # since B is a member again; and of any queue since its last word
    assert set(after[1]) == {0}
    assert Handoff.objects.filter(round__number=1, overlap_high__gt=0).count() == 0


def _lasted(steps: tuple[Step, ...]) -> int:
    return sum(step.queues * (step.until - step.since) for step in steps)


@pytest.mark.parametrize(
    ("departure", "certain"), [(Departure.UNREGISTERED, 2 * WINDOW_MS), (Departure.UNKNOWN, 0)]
)  # who is only listed no more may have his queues still, however long ago that was
def test_queues_that_nobody_has_for_long_count_for_the_whole_window(
    group: Group, departure: Departure, certain: int
) -> None:
    told(left("B", 60_000, departure), listed(60_000, "A"), held("A", 60_050, [0, 1]))
    turn(60_100)
    Member.objects.filter(client_id="A").update(held_seen_at=NOW)

    by_findings = lately_at(NOW)
    Finding.objects.all().delete()
    by_count = lately_at(NOW)

    assert by_findings.unowned == by_count.unowned == Lasted(certain, 2 * WINDOW_MS, 2 * WINDOW_MS)
    all_of_it = (Step(NOW - WINDOW_MS, NOW, 2),)
    for each in (by_findings, by_count):
        assert (each.nobody, each.perhaps_nobody) == ((all_of_it, ()) if certain else ((), all_of_it))
    del group


def test_time_with_two_owners_is_told_apart(group: Group) -> None:
    at = 2 * WINDOW_MS - 60_000
    told(joined("C", at, low=at), held("C", at + 1_000, [0]), held("A", at + 1_500, [0, 1]), held("C", at + 1_500, [0]))
    turn(at + 1_600)
    told(held("A", at + 5_000, [1]))
    turn(at + 5_100)

    each = lately_at(NOW)

    assert each.overlap is not None
    assert each.overlap.seen > 0
    assert each.two
    del group


def test_sums_are_of_a_whole_window_though_it_ended_with_the_last_answer(group: Group) -> None:
    told(held("A", 5_000, [0, 1, 2, 3]), held("B", 5_000, [2, 3]))
    turn(5_100)
    told(held("A", 2 * WINDOW_MS, [0, 1, 2, 3]), held("B", 2 * WINDOW_MS, [2, 3]))

    each = lately_at(NOW + 47_000)

    assert (each.known_since, each.known_until) == (NOW - WINDOW_MS, NOW)
    assert each.overlap is not None
    assert (each.overlap.low, each.overlap.high) == (2 * WINDOW_MS, 2 * WINDOW_MS)
    del group


def texts_of(each: Lately) -> tuple[str, str]:
    cells = cells_of(each)
    unowned, overlap = (cells[name]["text"].replace("\u00a0", " ") for name in ("unowned", "overlap"))
    return unowned, overlap


def test_while_somebody_does_not_answer_it_may_be_more(group: Group) -> None:
    told(missed("B", 2 * WINDOW_MS - 5_000))
    turn(2 * WINDOW_MS - 4_900)

    each = lately_at(NOW)
    assert (each.is_open, each.was_open, each.has_most) == (True, False, True)
    assert each.unowned is not None and each.overlap is not None
    known_last = NOW - (T0 + 10)  # B had told last before the window
    assert known_last > WINDOW_MS
    assert (each.unowned.high, each.overlap.high) == (2 * WINDOW_MS, 4 * WINDOW_MS)  # A has kept its two
    assert texts_of(each) == ("≤ 20 min 00 s", "–")
    del group


@pytest.mark.parametrize("members", [2, 1])
def test_an_outage_that_is_over_counts_for_as_long_as_it_lasted(cluster: Cluster, members: int) -> None:
    several = ["A", "B"][:members]
    told(route(4), listed(0, *several), *(fact for client in several for fact in seen(client)))
    told(held("A", 10, [0, 1] if members == 2 else [0, 1, 2, 3]), *([held("B", 10, [2, 3])] if members == 2 else []))
    turn(20)
    begin = 2 * WINDOW_MS - 60_000
    told(listed(begin, *several), untold(begin + 2_000, low=begin + 1_000), listed(begin + 12_000, *several))
    turn(begin + 12_100)
    answering(NOW)

    each = lately_at(NOW)

    assert (each.is_open, each.was_open, each.has_most) == (False, True, True)
    assert each.unowned is not None and each.overlap is not None
    assert (each.unowned.low, each.unowned.high) == (0, 0)  # who was known, and answered, has kept all of them
    assert (each.overlap.low, each.overlap.high) == (0, 4 * 11_000 if members == 2 else 0)
    del cluster


def test_no_time_without_owner_is_certain_while_somebody_was_silent_who_has_left_since(group: Group) -> None:
    begin = 2 * WINDOW_MS - 120_000
    told(missed("B", begin), held("A", begin, [0, 1]))
    turn(begin + 50)
    told(held("A", begin + 1_000, [0]))  # of 1 nobody knows whether B took it
    turn(begin + 1_100)
    told(left("B", begin + 60_000), listed(begin + 60_000, "A"), held("A", begin + 60_100, [0]))
    turn(begin + 60_100)
    told(held("A", begin + 64_000, [0, 1, 2, 3]))
    turn(begin + 64_100)

    each = lately_at(NOW)

    assert each.unowned is not None
    assert each.unowned.low <= 3 * 4_000
    assert each.unowned.high >= 63_000
    del group


def test_where_nobody_looked_for_all_of_the_window_no_bound_is_told(group: Group) -> None:
    at = 2 * WINDOW_MS - 2_000
    told(joined("C", at), held("A", at, [0]), held("B", at, [2]), held("C", at, [1, 3]))
    turn(at + 100)

    each = lately_at(NOW)

    assert each.unowned is not None and each.overlap is not None
    assert (each.unowned.low, each.unowned.high) == (0, 2 * (WINDOW_MS - 2_000))  # of two queues, until they were taken
    assert texts_of(each) == ("–", "0")
    assert cells_of(each)["unowned"]["note"].endswith("of much of it nothing is known")
    del group


def test_nothing_is_known_since_the_cluster_answered_last(group: Group) -> None:
    killed(2 * WINDOW_MS - 60_000)
    answering(NOW - 58_000)

    each = lately_at(NOW)

    assert each.known_until == NOW - 58_000
    assert [step.until for step in each.perhaps_nobody] == [NOW - 58_000]
    Cluster.objects.update(watched_at=None)
    assert lately_at(NOW).unowned is None
    del group


def test_of_a_broadcasting_group_nothing_is_divided(group: Group) -> None:
    Group.objects.update(model="BROADCASTING")

    assert (lately_at(NOW).unowned, lately_at(NOW).is_shared) == (None, True)
    del group


def test_more_changes_than_are_added_up_are_unknown_and_say_so(group: Group, monkeypatch: pytest.MonkeyPatch) -> None:
    killed(2 * WINDOW_MS - 60_000)
    monkeypatch.setattr(lately, "MOST_SPANS", 1)

    each = lately_at(NOW)

    assert (each.unowned, each.is_too_much) == (None, True)
    del group


def test_many_groups_are_asked_for_as_often_as_one(group: Group) -> None:
    told(held("B", 2 * WINDOW_MS - 60_000, [2]))
    turn(2 * WINDOW_MS - 59_900)
    for number in range(10):
        if number == 1:  # one of each kind
            with CaptureQueriesContext(connection) as few:
                lately_of(groups=list(Group.objects.values_list("pk", flat=True)), now=NOW)
        told(*seen("A", group=f"more-{number}"), held("A", 2 * WINDOW_MS - 500, [0], group=f"more-{number}"))
        rebalance_once(group=Group.objects.get(name=f"more-{number}").pk, now=NOW)

    pks = list(Group.objects.values_list("pk", flat=True))

    with CaptureQueriesContext(connection) as many:
        found = lately_of(groups=pks, now=NOW)

    assert (len(found), group.pk in found) == (11, True)
    assert len(many) <= len(few)


def test_a_row_is_of_the_oldest_answer_and_where_nobody_answers_of_when_all_lists_were_told(group: Group) -> None:
    told(held("A", 60_000, [0, 1]))
    Watch.objects.create(cluster=group.cluster, at=NOW, lists_at=T0 + 90_000)
    assert lately_at(NOW).looked_at == T0 + 10

    told(left("A", 100_000), left("B", 100_000), listed(100_000))
    turn(100_100)

    assert lately_at(NOW).looked_at == T0 + 90_000


def test_who_lets_go_of_a_queue_long_after_it_left_all_routes_leaves_it_to_nobody(group: Group) -> None:
    gone_at = WINDOW_MS
    told(replace(route(3, gone_at), exactness=Exactness.between(T0 + gone_at - 500, T0 + gone_at)))
    turn(gone_at + 100)
    let_go_at = gone_at + 15_000
    told(held("A", let_go_at, [0, 1]), held("B", let_go_at, [2]))
    turn(let_go_at + 100)
    for ago in (0, 10_000, BEFORE_MS - 10_000, BEFORE_MS, BEFORE_MS + 10_000, BEFORE_MS + 20_000):
        now = gone_at + WINDOW_MS + ago
        told(held("A", now - 1_000, [0, 1]), held("B", now - 1_000, [2]))
        answering(T0 + now)

        each = lately_at(T0 + now)

        assert (each.unowned, each.nobody, each.perhaps_nobody) == (Lasted(), (), ()), ago
    del group


def test_of_before_the_first_look_at_a_group_nothing_is_told(cluster: Cluster) -> None:
    first = 2 * WINDOW_MS - 60_000
    told(route(4, first), *seen("A", first), listed(first, "A"), at=first)
    answering(NOW)
    told(held("A", first + 500, [0, 1]), at=first + 500)
    turn(first + 600)

    each = lately_at(NOW)

    assert (each.first_at, each.known_since) == (T0 + first + 500, T0 + first + 500)
    assert cells_of(each)["overlap"]["text"] == "0"
    assert (cells_of(each)["overlap"]["mark"], cells_of(each)["overlap"]["below"]) == ("exact", "since 22:32:20")
    answering(NOW + WINDOW_MS)
    assert lately_at(NOW + WINDOW_MS).first_at is None
    Cluster.objects.update(watched_at=T0 + first)
    assert lately_at(NOW).unowned is None
    del cluster


def test_that_nobody_had_queues_before_they_were_counted_is_no_certainty(group: Group) -> None:
    counted = NOW - 60_000
    Member.objects.update(held_seen_at=NOW)
    Group.objects.update(orphan_count=3, rebalanced_at=counted)

    each = lately_at(NOW)

    assert each.unowned == Lasted(3 * 60_000, 3 * WINDOW_MS, 3 * WINDOW_MS)
    assert (each.nobody, each.perhaps_nobody) == ((Step(counted, NOW, 3),), (Step(NOW - WINDOW_MS, counted, 3),))
    del group


def test_what_nobody_had_since_before_the_window_counts_until_somebody_takes_it(group: Group) -> None:
    told(left("A", 30_000), left("B", 30_000), listed(30_000))
    turn(30_100)
    back = 2 * WINDOW_MS - 60_000
    told(listed(back, "A"), *seen("A", at=back), held("A", back, [0, 1, 2, 3]))
    turn(back + 100)
    answering(NOW)

    each = lately_at(NOW)

    assert each.unowned is not None
    assert each.unowned.high == 4 * (WINDOW_MS - 60_000)
    del group


def test_what_nobody_has_is_added_up_once_though_it_is_in_doubt_by_now(group: Group) -> None:
    hurt = 2 * WINDOW_MS - 300_000
    told(left("B", hurt, Departure.UNREGISTERED), listed(hurt, "A"), held("A", hurt + 50, [0, 1]))
    turn(hurt + 100)
    told(missed("A", hurt + 200_000))
    turn(hurt + 200_100)
    alone = lately_at(NOW)

    Group.objects.update(orphan_count=2)  # as it was counted before A was silent

    assert lately_at(NOW).unowned == alone.unowned
    assert alone.unowned is not None and alone.unowned.high <= 4 * WINDOW_MS
    del group


@pytest.mark.parametrize(("queues", "went"), [(4, 0), (5, 1_000)])
def test_a_sum_is_no_more_than_its_queues_for_all_of_the_window(queues: int, went: int) -> None:
    each = Lately(WINDOW_MS, Lasted(5, 9 * WINDOW_MS, 9 * WINDOW_MS), Lasted(0, 0, 9 * WINDOW_MS))

    within = lately._within_all(each, 0, queues, went)

    assert within.unowned is not None and within.overlap is not None
    assert (within.unowned.low, within.unowned.high, within.overlap.high) == (5, *[queues * WINDOW_MS + went] * 2)
    assert lately._within_all(each, 0, None, went) == each


def test_of_a_group_no_more_is_told_than_that_each_queue_had_nobody_in_all_of_the_window(group: Group) -> None:
    Group.objects.update(orphan_count=9)  # counted when there were more

    each = lately_at(NOW)

    assert each.unowned is not None
    assert (each.unowned.seen, each.unowned.high) == (9 * WINDOW_MS, 4 * WINDOW_MS)
    del group
