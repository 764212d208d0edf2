from __future__ import annotations

from dashboard.common.clock import now_ms
from dashboard.common.fields import MAX_AT


def test_the_clock_tells_milliseconds_and_does_not_go_back() -> None:
    first, second = now_ms(), now_ms()

    assert 1_700_000_000_000 < first <= second < MAX_AT
