"""What a page costs its browser: tasks of its main thread by processor time, and frames by the wall.

A machine shared with others makes each frame late, and a task no dearer. While a page has a task, nothing that is
pressed or pointed at is answered: what it itself does to whoever looks is the processor time of its longest one.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from playwright.sync_api import Page

from tests.bench.report import Row, at_most

AIM_S = 0.05  # what browsers call a long task
CATEGORIES = ["toplevel", "disabled-by-default-devtools.timeline"]
MAIN, TASK = "CrRendererMain", "RunTask"
COUNT_FRAMES = """() => {
  globalThis.frames_ = [];
  const look = (at) => {
    globalThis.frames_.push(at);
    globalThis.counting_ = requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}"""
COUNTED = "() => (cancelAnimationFrame(globalThis.counting_), globalThis.frames_)"


@dataclass(frozen=True, slots=True)
class Traced:
    """What was seen while something happened, in seconds.

    Attributes:
        longest: processor time of the page's longest task.
        total: processor time of all its tasks, style, layout and paint included.
        frames: from each frame to the next, by the wall; empty where they were not counted.
    """

    longest: float
    total: float
    frames: Sequence[float]


def traced(page: Page, work: Callable[[], object], *, counts_frames: bool = False) -> Traced:
    """Do something, and see what it costs the page. It stays on its address where frames are counted."""
    browser = page.context.browser
    assert browser is not None
    browser.start_tracing(page=page, categories=CATEGORIES)
    if counts_frames:
        page.evaluate(COUNT_FRAMES)
    work()
    at = page.evaluate(COUNTED) if counts_frames else []
    events = json.loads(browser.stop_tracing())["traceEvents"]
    own = {(e["pid"], e["tid"]) for e in events if e["name"] == "thread_name" and e["args"]["name"] == MAIN}
    tasks = [e.get("tdur", 0) / 1e6 for e in events if e["name"] == TASK and (e["pid"], e["tid"]) in own]
    frames = [(later - earlier) / 1e3 for earlier, later in pairwise(at)]
    if not tasks:
        raise LookupError(f"of {len(events)} traced events none is a task of a page")
    return Traced(longest=max(tasks), total=sum(tasks), frames=frames)


def rows_of(what: str, size: str, seen: Sequence[Traced]) -> Iterator[Row]:
    """Give the middle one of several rounds: its longest task, with the aim, and all that the page did."""
    longest, totals = [each.longest for each in seen], [each.total for each in seen]
    note = f"slowest of {len(seen)} {1e3 * max(longest):.0f} ms; all tasks {1e3 * median(totals):.0f} ms"
    if frames := sorted(frame for each in seen for frame in each.frames):
        slow = frames[int(0.99 * (len(frames) - 1) + 0.5)]
        note += f"; frames p50 {1e3 * median(frames):.0f}, p99 {1e3 * slow:.0f} ms by the wall"
    note += f"; load {os.getloadavg()[0]:.1f}"
    yield Row(f"{what}: longest task, processor", size, median(longest), aim=at_most(AIM_S), note=note)
