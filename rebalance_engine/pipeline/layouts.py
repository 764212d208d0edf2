"""How a line of each kind of log begins, and which kind a file is of. Plain Python: it looks at a file's first lines.

Sources: ``rmq.client.logback.xml`` and ``rmq.broker.logback.xml`` (5.x), ``ClientLogger.java`` (4.x),
``src/log/Logging.cpp`` of rocketmq-client-cpp, ``rlog/log.go`` of rocketmq-client-go.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

GMT8_MS = 8 * 3600 * 1000


@dataclass(frozen=True, slots=True)
class Layout:
    """How one program writes its lines.

    Attributes:
        begins: what every line but a continuation begins with; two digits of the year are part of it.
        head: a whole line's beginning, to tell the layout by.
        zone_ms: how far its wall clock is ahead of UTC, in ms; None: whatever zone the process ran in.
        resolution_ms: of its time stamps.
        is_client: a client's log, not a broker's.
        is_verified: recovered from real logs; the others follow the upstream source only.
    """

    name: str
    begins: str
    head: re.Pattern[str]
    zone_ms: int | None
    resolution_ms: int
    is_client: bool
    is_verified: bool


_DAY = r"20\d\d-\d\d-\d\d"
_CLOCK = r"\d\d:\d\d:\d\d"

JAVA5 = Layout(
    "java5",
    "20",
    re.compile(rf"{_DAY} {_CLOCK}\.\d{{3}} (?:INFO |WARN |ERROR|DEBUG|TRACE) \[\d+\] \[.*\] \[[^\]]*#[^\]]*\] - "),
    GMT8_MS,
    1,
    is_client=True,
    is_verified=True,
)
JAVA4 = Layout(
    "java4",
    "20",
    re.compile(rf"{_DAY} {_CLOCK},\d{{3}} [A-Z]+ \S+ - "),
    None,
    1,
    is_client=True,
    is_verified=True,
)
BROKER = Layout(
    "broker",
    "20",
    re.compile(rf"{_DAY} {_CLOCK} [A-Z]+ .*? - "),
    GMT8_MS,
    1000,
    is_client=False,
    is_verified=True,
)
CPP = Layout(  # Logging.cpp: Boost.Log's default time stamp, local time
    "cpp",
    "[20",
    re.compile(rf"\[{_DAY} {_CLOCK}\.\d+\]\([a-z]+\):"),
    None,
    1,
    is_client=True,
    is_verified=False,
)
GO = Layout(  # rlog/log.go: logrus' TextFormatter, RFC 3339 with its offset; a fraction where its format has one
    "go",
    'time="20',
    re.compile(rf'time="{_DAY}T{_CLOCK}(?:\.\d{{1,9}})?(?:Z|[+-]\d\d:\d\d)" level=\w+ msg='),
    0,
    1000,
    is_client=True,
    is_verified=False,
)
HISTORY = Layout(  # Evenkeel's own event log, rebalance_engine.eventlog
    "history",
    '{"v":',
    re.compile(r'\{"v":\d+,"event":"\w+","at":\d+'),
    0,
    1,
    is_client=False,
    is_verified=True,
)
LAYOUTS = {layout.name: layout for layout in (JAVA5, JAVA4, BROKER, CPP, GO, HISTORY)}


def find_layout(lines: Iterable[str]) -> Layout | None:
    """Find the layout that most of a file's lines have; None where no line has any."""
    found: dict[str, int] = {}
    for line in lines:
        for layout in LAYOUTS.values():
            if layout.head.match(line):
                found[layout.name] = found.get(layout.name, 0) + 1
                break
    return LAYOUTS[max(found, key=lambda name: found[name])] if found else None
