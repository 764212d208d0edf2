from __future__ import annotations

from typing import Any

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.round_facts import fact_of_end, fact_of_not_converging, fact_of_opening
from rebalance_engine.events import EXACT, Exactness, RoundClosed, RoundSuperseded
from rebalance_engine.model import MessageQueue
from tests.dashboard.pauses.rows import add_round
from tests.dashboard.story import T0


@pytest.fixture
def group(cluster: Cluster) -> Group:
    return Group.objects.create(cluster=cluster, name="billing", added_at=1)


@pytest.mark.parametrize(
    ("low", "exactness"),
    [(None, Exactness.at_most(T0)), (T0 - 5, Exactness.between(T0 - 5, T0)), (T0, EXACT)],
    ids=["no bound", "bounds", "exact"],
)
def test_a_round_opened_as_closely_as_is_known(group: Group, low: int | None, exactness: Exactness) -> None:
    row = add_round(group, 3, T0, who="C", members_before=["A", "B"])
    row.opened_low = low

    fact = fact_of_opening(row)

    assert (fact.round, fact.evidence, fact.members_before) == (3, ("C joined",), ("A", "B"))
    assert fact.exactness == exactness


def test_what_is_unsettled_is_told_as_queues_also_where_a_topic_has_a_stroke(group: Group) -> None:
    row = add_round(group, 1, T0, not_converged_at=T0 + 60_000, unsettled=["a/b/east/7"], unknown_members=["A"])

    fact = fact_of_not_converging(row)

    assert (fact.at, fact.unknown_members) == (T0 + 60_000, ("A",))
    assert fact.unsettled == (MessageQueue("a/b", "east", 7),)


@pytest.mark.parametrize(
    ("columns", "kind"), [({}, RoundClosed), ({"superseded_by": 2, "wave": 1}, RoundSuperseded)], ids=["closed", "over"]
)
def test_a_round_ends_by_itself_or_by_the_next(group: Group, columns: dict[str, Any], kind: type) -> None:
    fact = fact_of_end(add_round(group, 1, T0, members_after=["A"], **columns))

    assert isinstance(fact, kind)
    assert fact.at == T0 + 4_000
    assert getattr(fact, "members_after", ("A",)) == ("A",)
    assert getattr(fact, "by", 2) == 2


def test_what_all_members_left_is_not_told_as_moved(group: Group) -> None:
    fact = fact_of_end(add_round(group, 1, T0, members_before=["A"], members_after=[]))

    assert isinstance(fact, RoundClosed)
    assert fact.moves == 0
