import pytest

from dashboard.groups.fingerprints import fingerprint
from dashboard.groups.models import Group, RoundCause
from dashboard.groups.queries import look_at
from rebalance_engine.events import Fact
from tests.dashboard.story import held, joined, missed, route, seen, subscribes, told, uses

pytestmark = pytest.mark.usefixtures("cluster")


def digest() -> str:
    group = Group.objects.get()
    return fingerprint(group, look_at(group=group), RoundCause.objects.all())


@pytest.fixture
def before() -> str:
    told(route(2), *seen("A"), held("A", 10, [0, 1]))
    return digest()


def test_a_look_that_moved_nothing_is_the_same(before: str) -> None:
    told(held("A", 20, [0, 1]))

    assert digest() == before


def test_a_look_that_moved_nothing_counts_while_a_round_is_open(before: str) -> None:
    Group.objects.update(round_number=1, round_cause="unknown")
    opened = digest()
    told(held("A", 20, [0, 1]))

    assert before != opened != digest()


@pytest.mark.parametrize(
    "fact",
    [
        route(3, 50),
        joined("B", 50),
        held("A", 50, [0]),
        missed("A", 50),
        uses("A", 50, "CONFIG"),
        subscribes("A", 50, "x"),
    ],
    ids=lambda fact: type(fact).__name__,
)
def test_every_input_counts(before: str, fact: Fact) -> None:
    told(fact)

    assert digest() != before
