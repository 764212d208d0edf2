from __future__ import annotations

import pytest
from django.test import override_settings
from redis import Redis

from dashboard.groups.viewing import viewed
from dashboard.live.following import note_followed
from dashboard.live.streams import Stream

G = Stream("group-1", 1, is_overview=False, cluster=None, shows=(7, "g"))
OVERVIEW = Stream("overview-7", 7, is_overview=True, cluster=None, shows=None)


def test_a_group_that_is_followed_is_looked_at(redis: Redis, redis_server: str) -> None:
    with override_settings(REDIS_URL=redis_server):
        note_followed(streams=[G, OVERVIEW], now=1_000)

    assert viewed(redis=redis, cluster=7, now=2_000) == {"g"}
    assert viewed(redis=redis, cluster=8, now=2_000) == frozenset()


def test_the_overview_alone_makes_no_group_fresher(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        pytest.fail("there is nothing to say")

    monkeypatch.setattr("dashboard.live.following.connect", fail)

    note_followed(streams=[OVERVIEW], now=1_000)
