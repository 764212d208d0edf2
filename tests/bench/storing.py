"""From facts to rows to the message that browsers get: one group of 10,000 queues, and thousands of groups.

On SQLite as the dashboard sets it up, in a folder of its own, in this process; ``DATABASE_URL`` measures another one.
From a stored change to its message is one rebalance: Celery's hand-over and the sockets come on top. Beside the time by
the wall stands this process's own processor time, which a busy machine changes less.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter_ns, process_time_ns

from rebalance_engine.events import Fact
from tests.bench.report import Row, at_most

QUEUES, MEMBERS = 10_000, 100
JOINS, QUICK_JOINS = 25, 3
GROUPS, QUICK_GROUPS = 2_500, 50  # of 8 queues and 2 members each: 20k queues, 5k clients
BATCH = 1_000  # facts, as the watcher's writer stores them
AIM_S = 0.1


@dataclass
class Clock:
    """Times of one step, in seconds: by the wall, and of the processor."""

    wall: list[float] = field(default_factory=list)
    own: list[float] = field(default_factory=list)

    def time(self, step: Callable[[], object]) -> None:
        """Time one more."""
        begun, worked = perf_counter_ns(), process_time_ns()
        step()
        self.own.append((process_time_ns() - worked) / 1e9)
        self.wall.append((perf_counter_ns() - begun) / 1e9)

    def rows(self, what: str, size: str, *, has_aim: bool = False) -> Iterator[Row]:
        """Give the median and the 99th percentile (of few rounds the slowest); the aim is for the latter."""
        note = f"processor {1e3 * _at(self.own, 0.5):.1f} ms, {len(self.wall)} rounds"
        yield Row(f"{what}, p50", size, _at(self.wall, 0.5), note=note)
        if len(self.wall) > 1:
            aim = at_most(AIM_S) if has_aim else None
            note = f"processor {1e3 * _at(self.own, 0.99):.1f} ms"
            yield Row(f"{what}, p99", size, _at(self.wall, 0.99), aim=aim, note=note)


def run(*, quick: bool) -> Iterator[Row]:
    """Measure one large group, then many small ones, each in a database of its own."""
    home = tempfile.mkdtemp(prefix="evenkeel-bench-")
    os.environ |= {"DJANGO_SETTINGS_MODULE": "tests.dashboard.settings", "EVENKEEL_TEST_HOME": home}
    import django  # noqa: PLC0415 - the home must be known first

    django.setup()
    from django.db import connection  # noqa: PLC0415 - as above

    try:
        for measure in (_large, _many):
            name = connection.creation.create_test_db(verbosity=0, autoclobber=True)
            try:
                yield from measure(quick=quick)
            finally:
                connection.creation.destroy_test_db(name, verbosity=0)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def _large(*, quick: bool) -> Iterator[Row]:
    from dashboard.groups.ending import tell_ended  # noqa: PLC0415 - Django is set up now
    from dashboard.groups.models import Group  # noqa: PLC0415
    from dashboard.groups.rebalancing import rebalance_once  # noqa: PLC0415
    from tests.dashboard import story  # noqa: PLC0415

    size = f"{QUEUES:,}/{MEMBERS}"
    names = [f"10.0.{number // 250}.{number % 250}@{4_000 + number}#{number:05d}" for number in range(MEMBERS)]
    clocks = {name: Clock() for name in ("route", "looks", "first", "join", "message", "moved", "closed", "same")}
    story.add_cluster()
    clocks["route"].time(lambda: story.told(story.route(QUEUES)))
    story.told(*(fact for name in names for fact in story.seen(name)))
    clocks["looks"].time(lambda: story.told(*_looks(names, 10)))
    group = Group.objects.get().pk
    clocks["first"].time(lambda: rebalance_once(group=group, now=story.T0 + 20))
    at = 1_000
    for number in range(QUICK_JOINS if quick else JOINS):
        at += 10_000
        name = f"99.0.0.{number}@1#1"
        names.append(name)
        news = [
            story.joined(name, at),
            story.subscribes(name, at),
            story.uses(name, at, "AVG"),
            story.held(name, at + 1, []),
        ]
        clocks["join"].time(partial(story.told, *news, at=at + 1))
        clocks["message"].time(partial(rebalance_once, group=group, now=story.T0 + at + 2))
        clocks["moved"].time(partial(story.told, *_looks(names, at + 2_000), at=at + 2_000))
        clocks["closed"].time(partial(rebalance_once, group=group, now=story.T0 + at + 2_001))
        tell_ended(group=group, now=story.T0 + at + 2_002)
        clocks["same"].time(partial(story.told, *_looks(names, at + 3_000), at=at + 3_000))
    yield from clocks["route"].rows("first record of a route", size)
    yield from clocks["looks"].rows("first record of all that is held", size)
    yield from clocks["first"].rows("first rebalance", size)
    yield from clocks["join"].rows("one joins: record", size)
    yield from clocks["message"].rows("one joins: rebalance, to its message", size, has_aim=True)
    yield from clocks["moved"].rows("record of looks in which half the queues moved", size)
    yield from clocks["closed"].rows("rebalance that ends the round, and after its message tells the handoffs", size)
    yield from clocks["same"].rows("record of looks in which nothing moved", size)


def _many(*, quick: bool) -> Iterator[Row]:
    from dashboard.groups.models import Group  # noqa: PLC0415 - Django is set up now
    from dashboard.groups.rebalancing import due_groups, rebalance_once  # noqa: PLC0415
    from tests.dashboard import story  # noqa: PLC0415

    count = QUICK_GROUPS if quick else GROUPS
    size = f"{count:,} groups"
    story.add_cluster()
    recorded, first, asked = Clock(), Clock(), Clock()
    facts = [fact for number in range(count) for fact in _small(number)]
    for start in range(0, len(facts), BATCH):
        recorded.time(partial(story.told, *facts[start : start + BATCH]))
    groups = due_groups(now=story.T0 + 20)
    for group in groups:
        first.time(partial(rebalance_once, group=group, now=story.T0 + 20))
    asked.time(lambda: due_groups(now=story.T0 + 30))
    again = Clock()
    Group.objects.update(inputs_version=2)
    for group in groups[:200]:
        again.time(partial(rebalance_once, group=group, now=story.T0 + 40))
    note = f"{len(facts):,} facts in batches of {BATCH:,}"
    yield Row("record, facts a second", size, len(facts) / sum(recorded.wall), unit="facts", note=note)
    yield from first.rows("rebalance of one group", size)
    yield Row("sweep of all due groups", size, sum(first.wall), note=f"processor {sum(first.own):.1f} s")
    yield from asked.rows("sweep where none is due", size)
    yield from again.rows("rebalance of one whose inputs came to the same", size)


def _looks(names: list[str], at: int, queues: int = QUEUES) -> list[Fact]:
    """Say what each member holds where all have what averaging gives them."""
    from tests.dashboard import story  # noqa: PLC0415 - Django is set up now

    each, rest = divmod(queues, len(names))
    facts, begin = list[Fact](), 0
    for number, name in enumerate(sorted(names)):
        end = begin + each + (number < rest)
        facts.append(story.held(name, at, range(begin, end)))
        begin = end
    return facts


def _small(number: int) -> list[Fact]:
    from tests.dashboard import story  # noqa: PLC0415 - Django is set up now

    group, topic = f"group-{number:04d}", f"topic-{number:04d}"
    facts: list[Fact] = [story.route(8, topic=topic)]
    for client, mine in ((f"10.0.0.1@{number}#1", range(4)), (f"10.0.0.2@{number}#2", range(4, 8))):
        member, _, strategy = story.seen(client, group=group)
        facts += [member, story.subscribes(client, 0, topic, group=group), strategy]
        facts.append(story.held(client, 10, mine, group=group, topic=topic))
    return facts


def _at(times: list[float], part: float) -> float:
    return sorted(times)[min(len(times) - 1, int(part * len(times)))]
