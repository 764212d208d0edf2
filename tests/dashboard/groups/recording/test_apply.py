"""Every kind of fact can be recorded, and recording it again stores nothing."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import OutboxLine
from rebalance_engine.events import FACTS, Fact
from tests.dashboard.story import told
from tests.rebalance_engine.facts import plain

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.mark.parametrize("kind", FACTS.values(), ids=FACTS)
def test_every_kind_of_fact_is_stored_once(kind: type[Fact]) -> None:
    fact = plain(kind)

    told(fact)
    lines = OutboxLine.objects.count()
    again = told(fact)

    assert again.facts == 0
    assert OutboxLine.objects.count() == lines <= 1
