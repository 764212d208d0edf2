from __future__ import annotations

import time

import pytest

from dashboard.common.clock import now_ms


@pytest.mark.parametrize(
    ("ns", "ms"),
    [(0, 0), (1_700_000_000_123_000_000, 1_700_000_000_123), (1_700_000_000_123_999_999, 1_700_000_000_123)],
)
def test_the_clock_tells_whole_milliseconds_since_1970_that_have_passed(
    monkeypatch: pytest.MonkeyPatch, ns: int, ms: int
) -> None:
    monkeypatch.setattr(time, "time_ns", lambda: ns)

    assert now_ms() == ms
