"""When a watcher stores which groups are gone."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from dashboard.config import watching
from dashboard.config.watching import Threads
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.watcher import Health, Watcher
from tests.rebalance_engine.network.loop import on_a_loop


@on_a_loop
async def test_which_groups_are_gone_is_stored_once_for_what_brokers_told_and_not_for_what_they_were_asked_in_vain(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    noted: list[int] = []

    def note(**told: object) -> int:
        noted.append(cast("int", told["asked_at"]))
        return 0

    monkeypatch.setattr(watching, "note_gone", note)
    looked = Threads()
    having = SimpleNamespace(told_at=None)
    memory = SimpleNamespace(are_groups_told=True, having=having, groups=frozenset({"g"}), masters={"a": "127.0.0.1:1"})
    health = Health(sweep_ended_at=90, sweep_took_ms=10)
    watcher = cast("Watcher", SimpleNamespace(memory=memory, health=health))
    watch_ = watching._Watch(looked, "shop", 1, NetworkSettings())

    for told_at in (None, 5, 5, 7):
        having.told_at, health.sweep_ended_at = told_at, health.sweep_ended_at + 60 if health.sweep_ended_at else None
        await watch_._note_gone(watcher)
    await looked.close()

    assert noted == [5, 7]
