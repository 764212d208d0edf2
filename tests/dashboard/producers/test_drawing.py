from __future__ import annotations

from dashboard.producers.drawing import Box, draw
from dashboard.producers.standing import Backoff, Send


def test_sends_and_backoffs_stand_where_they_were() -> None:
    box = Box(100, 50, 1_000, 2_000)
    sends = [Send(900, 5, "ok", None), Send(1_500, 1, "ok", None), Send(2_000, 900, "ok", None)]
    sends.append(Send(1_000, 30_000, "broker error", None))
    backoffs = [
        Backoff(500, 100, is_isolated=True, ended_at=None),
        Backoff(1_500, 9_000, is_isolated=True, ended_at=None),
    ]

    picture = draw(box, sends, backoffs, [1])

    assert picture["sends"] == [
        {"x": 50.0, "y": 48.0, "kind": "fine"},
        {"x": 100.0, "y": box.y(900), "kind": "slow"},
        {"x": 0.0, "y": 4.0, "kind": "failed"},
    ]
    assert picture["backoffs"] == [{"x": 50.0, "width": 50.0, "ms": 9_000, "is_isolated": True}]
    assert picture["lines"] == [{"y": 48.0, "ms": 1}]
