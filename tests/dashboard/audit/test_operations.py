from __future__ import annotations

import pytest

from dashboard.audit.operations import BEGINNING, append, digest_of
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


def test_each_entry_is_chained_to_the_one_before() -> None:
    first = append(at=T0, author="ada", verb="recompute", subject="g", detail={"reason": "lag"})
    second = append(at=T0 + 1, author="bob", verb="recompute")

    assert (first.number, first.previous) == (1, BEGINNING)
    assert (second.number, second.previous) == (2, first.digest)
    assert digest_of(first) == first.digest


def test_hostile_words_are_stored() -> None:
    entry = append(at=T0, author="\0\ud800<b>", verb="recompute")

    entry.refresh_from_db()
    assert digest_of(entry) == entry.digest
