from __future__ import annotations

from dataclasses import replace

import pytest
from django.test import Client

from dashboard.groups.corrected import Corrected, corrected_at
from dashboard.groups.models import Group
from dashboard.groups.past import shown_at
from rebalance_engine.events import EXACT, DropReason, QueueDropped, QueueTaken
from tests.dashboard.groups.test_story import settle, turn
from tests.dashboard.groups.test_views import facts_in
from tests.dashboard.story import REPORT, T0, held, listed, queue, told

AT = T0 + 8_000


@pytest.fixture
def group() -> Group:
    """A lets a queue go, and B takes it; looks tell of it at 10 s."""
    group = settle()
    told(held("A", 4_990, [0, 1]), held("B", 4_990, [2, 3]), listed(4_990, "A", "B"))
    turn(5_000)
    told(held("A", 10_000, [1]), held("B", 10_000, [0, 2, 3]), listed(10_000, "A", "B"))
    turn(10_010)
    return group


def report() -> None:
    about = {"exactness": EXACT, "group": "g", "queue": queue(0)}
    drop = QueueDropped(at=T0 + 5_000, source=REPORT, client="A", reason=DropReason.NOT_IN_TARGET, **about)  # type: ignore[arg-type]
    take = QueueTaken(at=T0 + 6_000, source=replace(REPORT, client="B"), client="B", **about)  # type: ignore[arg-type]
    told(drop, take, at=11_000)


def corrected(group: Group) -> Corrected:
    shown = shown_at(group=group, at=AT)
    assert shown is not None
    assert shown.is_exact
    return corrected_at(group=group, state=shown.state, at=AT)


pytestmark = pytest.mark.usefixtures("cluster")


def test_between_looks_nothing_denies_what_was_shown(group: Group) -> None:
    assert corrected(group) == Corrected()


def test_what_reports_tell_later_of_an_instant_is_said_beside_what_was_shown_then(
    group: Group, admin_client: Client
) -> None:
    report()

    page = admin_client.get(f"/groups/{group.pk}/", {"at": AT}).content.decode()

    assert corrected(group) == Corrected(("orders/east/0",), ("A", "B"))
    assert "More became known since: who had 1 queue is told otherwise now" in page
    assert "orders/east/0." in page
    around = facts_in(page)["around"]
    assert isinstance(around, dict)
    assert around["corrected"] == ["A", "B"]
