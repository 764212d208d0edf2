from __future__ import annotations

import pytest

from dashboard.groups import told
from dashboard.groups.told import Told, keep_told, told_by_hand


@pytest.fixture(autouse=True)
def nobody_keeps_anything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "_keepers", [])


def test_whoever_knows_is_asked_once() -> None:
    asked: list[int] = []

    def knows(group: int) -> Told | None:
        asked.append(group)
        return Told(1, {}) if group == 7 else None

    keep_told(knows)
    keep_told(knows)

    assert told_by_hand(group=7) == Told(1, {})
    assert told_by_hand(group=8) is None
    assert asked == [7, 8]


def test_where_nobody_keeps_it_nobody_knows() -> None:
    assert told_by_hand(group=7) is None
