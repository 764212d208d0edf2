import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.dead import dead_letters_of
from dashboard.groups.models import Flow, Group, MemberList
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import make_group


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return make_group(cluster)


def tell(group: Group, broker: str, *looks: list[int]) -> None:
    Flow.objects.create(group=group, broker=broker, at=T0, dead=list(looks))


def test_dead_letters_are_those_of_the_last_look_at_each_broker(group: Group) -> None:
    tell(group, "west", [T0 + 20, 7, 7])
    tell(group, "east", [T0, 1, 1], [T0 + 10, 4, 2])

    dead = dead_letters_of(group=group)

    assert [(each.broker, each.put, each.kept) for each in dead.brokers] == [("east", 4, 2), ("west", 7, 7)]
    assert (dead.put, dead.kept, dead.observed_at, dead.untold) == (11, 9, T0 + 10, ())


def test_they_are_unknown_where_a_broker_did_not_tell_or_was_not_asked(group: Group) -> None:
    assert (dead_letters_of(group=group).put, dead_letters_of(group=group).observed_at) == (None, None)

    tell(group, "east", [T0, 4, 2])
    MemberList.objects.create(group=group, broker="west", clients=[], at=T0, observed_at=T0, origin="admin answer")
    dead = dead_letters_of(group=group)

    assert (dead.put, dead.kept, dead.untold) == (None, None, ("west",))
