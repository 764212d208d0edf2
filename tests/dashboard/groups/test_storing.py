import pytest

from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Finding, Group, Handoff, Member, Round, RoundCause, Target
from dashboard.groups.queries import target_of
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.messages import GroupSnapshot, decode
from dashboard.push.models import Step
from rebalance_engine.events import Cause, Departure, MessageModel
from tests.dashboard.story import T0, held, joined, left, listed, route, seen, subscribes, told, uses

pytestmark = pytest.mark.usefixtures("cluster")
DIFFER = "; brokers list different members: west does not have B. Who asks there divides the queues by fewer."


def rebalance(at: int) -> Group:
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + at)
    return group


def test_only_targets_that_changed_are_written() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    first = dict(Target.objects.values_list("queue__queue_id", "fence"))
    told(joined("B", 5_000))
    rebalance(5_100)

    second = dict(Target.objects.values_list("queue__queue_id", "fence"))

    assert {number for number in second if second[number] != first[number]} == {2, 3}


def test_a_target_goes_with_its_queue() -> None:
    told(route(4), *seen("A"))
    rebalance(20)
    told(route(2, 1_000))
    rebalance(1_100)

    assert set(Target.objects.values_list("queue__queue_id", flat=True)) == {0, 1}


def test_a_round_keeps_the_group_as_it_was_before_and_after() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000))
    rebalance(5_100)
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [2, 3]))
    rebalance(6_100)

    row = Round.objects.get()
    before, after = decode(bytes(row.before)), decode(bytes(row.after))

    assert isinstance(before, GroupSnapshot)
    assert isinstance(after, GroupSnapshot)
    assert target_of(before.state).as_lists().keys() == {"A"}
    assert target_of(after.state).loads().tolist() == [2, 2]


def test_each_rebalance_that_changed_something_is_one_step_of_group_and_overview() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    group = rebalance(20)
    told(held("A", 30, [0, 1, 2, 3]))
    rebalance(40)

    assert Step.objects.filter(stream__name=f"group-{group.pk}").count() == 1
    assert Step.objects.filter(stream__name=f"overview-{group.cluster_id}").count() == 1


def test_a_superseded_round_names_who_was_a_member_at_its_own_end() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(joined("B", 5_000))
    rebalance(5_100)
    told(joined("C", 10_000), left("B", 15_000), joined("D", 20_000))
    rebalance(20_100)

    rows = list(Round.objects.order_by("number").values_list("members_before", "members_after"))

    assert rows == [
        (["A"], ["A", "B"]),
        (["A", "B"], ["A", "B", "C"]),
        (["A", "B", "C"], ["A", "C"]),
        (["A", "C"], None),
    ]


def test_routes_that_change_for_nobody_are_no_round() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(left("A", 5_000), listed(5_000))
    rebalance(5_100)
    told(route(2, 10_000))
    rebalance(10_100)

    assert list(Round.objects.values_list("cause", flat=True)) == [Cause.MEMBER_LEFT.value]
    assert not RoundCause.objects.filter(round=None).exists()  # nor a part of the next one

    told(joined("B", 60_000), held("B", 60_050, [0, 1]))
    rebalance(60_100)
    assert Round.objects.get(number=2).opened_at == T0 + 60_000


def test_routes_that_change_are_no_round_where_each_member_has_every_queue() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    Group.objects.update(model=MessageModel.BROADCASTING.value)
    rebalance(20)
    told(route(2, 10_000))
    rebalance(10_100)

    assert Member.objects.filter(left_at=None).exists()
    assert not Round.objects.exists()


def test_after_all_had_left_all_queues_are_to_change_owner_and_of_those_that_went_none() -> None:
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance(20)
    told(left("A", 10_000, Departure.UNREGISTERED))
    rebalance(10_100)
    told(joined("B", 300_000, low=299_000), *seen("B", 300_000)[1:], held("B", 300_500, []))
    rebalance(300_600)
    assert Round.objects.latest("number").move_count == 4

    told(held("B", 301_000, [0, 1, 2, 3]))
    rebalance(301_100)
    told(route(1, 400_000), held("B", 400_050, [0, 1, 2, 3]))
    rebalance(400_100)
    assert Round.objects.latest("number").move_count == 0


def test_who_joins_or_leaves_a_broadcasting_group_takes_no_queue_from_anybody() -> None:
    told(route(2), *seen("A"), held("A", 10, [0, 1]))
    Group.objects.update(model=MessageModel.BROADCASTING.value)
    rebalance(20)
    told(joined("B", 5_000), subscribes("B", 5_000), held("B", 5_100, []))
    rebalance(5_200)
    assert Round.objects.get().move_count == 0
    assert lanes_of(Round.objects.get(), now=T0 + 5_300) == []

    told(held("A", 6_000, [0, 1]), held("B", 6_100, [0, 1]))
    rebalance(6_200)
    told(left("B", 20_000))
    rebalance(20_100)

    assert list(Round.objects.order_by("number").values_list("cause", "move_count")) == [
        (Cause.MEMBER_JOINED.value, 0),
        (Cause.MEMBER_LEFT.value, 0),
    ]
    assert not Handoff.objects.exists()
    assert [lanes_of(row, now=T0 + 30_000) for row in Round.objects.all()] == [[], []]


@pytest.mark.parametrize(("at", "told_of"), [(2_000, ", and nothing else that is known changed"), (4_000, DIFFER)])
def test_lists_that_differed_until_what_is_held_was_seen_to_change_are_told_of_it(at: int, told_of: str) -> None:
    told(route(4), route(1, topic="clicks", broker="west"))
    for client in "ABC":
        told(seen(client)[0], subscribes(client, 0, "orders", "clicks"), uses(client, 0, "AVG"))
    told(listed(0, "A", "B", "C"), listed(0, "A", "B", "C", broker="west"))
    for look in (1_000, 3_000, 5_000):
        told(held("A", look, [0, 1]), held("B", look, [2]), held("C", look, [3]))
        rebalance(look + 100)
        if at in (look + 1_000, look - 1_000):
            told(listed(look + 200, "A", *("BC" if at < look else "C"), broker="west"))
            rebalance(look + 300)
    assert Finding.objects.get(kind="different member lists").cleared_at == T0 + at + 1_000

    told(held("B", 7_000, []))
    rebalance(7_100)

    assert RoundCause.objects.get().evidence == f"1 queue was taken or dropped{told_of}"
