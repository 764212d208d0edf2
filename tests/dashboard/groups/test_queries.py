import pytest

from dashboard.groups.models import Group
from dashboard.groups.queries import look_at, look_plainly, queues_of, target_of, view_of
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.publish import group_state
from rebalance_engine.events import EXACT, ConsumeType, MemberListSeen, MemberSeen
from tests.dashboard.story import EAST, T0, held, missed, queue, route, seen, subscribes, told

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def group() -> Group:
    told(route(3), *seen("B"), *seen("A"), held("A", 10, [0, 1]), held("B", 10, [1, 9]))
    return Group.objects.get()


def test_a_view_has_what_is_known_and_leaves_unknown_what_is_not(group: Group) -> None:
    told(*seen("C"), missed("B", 20))

    view = look_plainly(group=group).view

    assert view.clients.ids == ("A", "B", "C")
    assert list(view.queues) == [queue(0), queue(1), queue(2)]
    assert view.silent == {"B", "C"}
    assert view.topics_of["A"] == {"orders"}
    assert view.strategies == {"A": "AVG", "B": "AVG", "C": "AVG"}


def test_two_owners_and_strays_are_there(group: Group) -> None:
    view = look_plainly(group=group).view

    assert view.held is not None
    assert view.held.owners_of(1) == ("A", "B")
    assert view.strays == (("B", queue(9)),)


def test_an_id_that_is_registered_twice_counts_twice(group: Group) -> None:
    told(MemberListSeen(at=T0 + 5, source=EAST, exactness=EXACT, group="g", broker="east", clients=("A", "A", "B")))

    assert look_plainly(group=group).view.clients.ids == ("A", "A", "B")


def test_the_state_that_was_shown_gives_the_same_view_and_target(group: Group) -> None:
    decision = rebalance_once(group=group.pk, now=T0 + 100)
    state = group_state(group=group.pk)
    assert state is not None
    assert decision is not None

    again, view = view_of(state), look_at(group=group).view

    assert again.held is not None
    assert view.held is not None
    assert queues_of(state).same_queues(view.queues)
    assert again.held.same_owners(view.held)
    assert target_of(state).same_owners(decision.target)
    assert target_of(state) is target_of(state)
    assert again.silent == view.silent


def test_queues_that_are_taken_by_pop_have_no_owners_and_nobody_misses_them() -> None:
    told(route(4), route(1, topic="%RETRY%g"), *seen("A"), subscribes("A", 1, "orders", "%RETRY%g"))
    told(held("A", 10, [0], topic="%RETRY%g"))
    group = Group.objects.get()
    missed_before = len(look_at(group=group).view.queues)
    version = group.inputs_version

    pops = MemberSeen(at=T0 + 20, source=EAST, exactness=EXACT, group="g", client="A", consume_type=ConsumeType.POP)
    told(pops)

    look = look_at(group=group)
    group.refresh_from_db()
    assert (missed_before, [queue.topic for queue in look.view.queues]) == (5, ["%RETRY%g"])
    assert group.inputs_version > version
