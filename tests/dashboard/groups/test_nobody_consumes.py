"""A group without members for which messages go on coming."""

from __future__ import annotations

import pytest
from django.template.loader import render_to_string

from dashboard.groups.models import Finding
from tests.dashboard.groups.recording.test_flow import progress
from tests.dashboard.groups.test_sights import HEALTHY, rebalance
from tests.dashboard.story import T0, held, joined, left, listed, told, untold

pytestmark = pytest.mark.usefixtures("cluster")


def test_that_nobody_consumes_is_suspected_confirmed_and_stands_until_somebody_is_seen() -> None:
    told(*HEALTHY)
    rebalance(0)
    told(left("A", 500), left("B", 500), listed(600), progress(1_000))
    rebalance(1_000)
    assert list(Finding.objects.filter(cleared_at=None)) == []

    told(progress(61_000, end=120))
    rebalance(61_000)
    [fault] = Finding.objects.filter(cleared_at=None)
    assert (fault.kind, fault.subject, fault.confirmed_at) == ("nobody consumes", "g", None)
    assert fault.proof[0] == "east lists no member"

    told(progress(122_000, end=130), listed(122_000))
    rebalance(122_000)
    fault.refresh_from_db()
    assert fault.confirmed_at == T0 + 122_000
    assert "30 messages wait in 1 queue, and 27 of these came since" in fault.sentence

    told(untold(130_000))
    rebalance(130_000)
    fault.refresh_from_db()
    assert fault.cleared_at is None

    told(joined("A", 140_000), listed(140_000, "A"), held("A", 141_000, [0, 1, 2, 3]))
    rebalance(141_000)
    fault.refresh_from_db()
    assert fault.cleared_at is not None


def test_it_has_the_sign_of_what_nobody_has() -> None:
    kinds = ("nobody consumes", "orphan queue", "idle consumer")

    nobody, orphan, other = (render_to_string("groups/_sign.html", {"kind": kind}).split() for kind in kinds)

    assert nobody == orphan != other
