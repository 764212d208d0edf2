"""A scenario for a seed: a cluster of a likely shape, and faults that come sometimes apart and sometimes at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from rebalance_engine.simulation.bounds import WARM_UP, deadlines
from rebalance_engine.simulation.clients import Listener
from rebalance_engine.simulation.scenario import Scenario, Sender, Step

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FEWEST_MEMBERS, MOST_MEMBERS = 5, 7
FEWEST_FAULTS, MOST_FAULTS = 3, 5
CLIENTS = ("java-5.5.0", "java-5.5.0", "java-5.5.0", "java-4.9.7", "java-5.1.4", "cpp", "go")
BROKERS = ("5.5.0", "5.5.0", "4.9.7", "5.1.4")
TIME_TO_FINISH = 50_000  # ms; for what failed last: two retries take 40 s
LEAKED_LOCK = 40_000  # ms; a lock that leaked just before must run out and be noticed
FIRST_START = 2_000  # ms; brokers have registered before
ALONE = 14_000  # ms; by then the rules want a group in order again after most that can happen
SLOW_LISTENERS = (5, 700)  # ms


def draw(seed: int) -> Scenario:
    """Draw a scenario: at least 5 members, 16 queues, 3 faults; always the same one for a seed."""
    return _Drawing(seed).scenario()


class _Drawing:
    """A scenario in the making."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._luck = random.Random(f"scenario {seed}")  # noqa: S311 - luck that can be had again, no secret
        luck = self._luck
        self._brokers = {"east": luck.choice(BROKERS), "west": luck.choice(BROKERS)}
        self._topics = luck.choice(({"orders": 8}, {"orders": 4, "payments": 4}, {"orders": 6, "payments": 3}))
        self._is_orderly = luck.random() < 0.3
        self._clients = CLIENTS if luck.random() < 0.4 else (luck.choice(CLIENTS),)
        self._names = luck.sample(NAMES, len(NAMES))  # brokers list members in the order in which they came
        self._members: list[str] = []
        self._faults: tuple[Callable[[], Iterator[str]], ...] = (
            *(self._join, self._join, self._leave, self._kill, self._kill, self._die, self._bounce),
            *(
                self._pause,
                self._crash,
                self._cut,
                self._slow,
                self._mute_join,
                self._lose,
                self._grow,
                self._twin,
                self._dissent,
            ),
            *(self._unsubscribe, self._subscribe),
        )

    def scenario(self) -> Scenario:
        luck = self._luck
        steps = [*self._starts(), *self._draw_faults()]
        drawn = Scenario(
            seed=self._seed,
            brokers=self._brokers,
            topics=self._topics,
            strategy="AVG_BY_CIRCLE" if "cpp" not in self._clients and luck.random() < 0.3 else "AVG",
            is_orderly=self._is_orderly,
            listener=Listener(*(SLOW_LISTENERS if luck.random() < 0.1 else (5, 60)), fails=luck.choice((0, 0, 20))),
            latency=(1, luck.choice((5, 20))),
            senders=(Sender("P", luck.choice(("5.5.0", "4.9.7")), luck.choice((150, 300))),),
            steps=tuple(steps),
        )
        settled = deadlines(drawn)[-1]
        rest = TIME_TO_FINISH + (LEAKED_LOCK if self._is_orderly else 0)
        return replace(drawn, sends_until=min(settled, steps[-1].at + 40_000), ends_at=settled + rest)

    # ---- members ----

    def _starts(self) -> Iterator[Step]:
        for number in range(self._luck.randint(FEWEST_MEMBERS, MOST_MEMBERS)):
            yield Step(FIRST_START + number * self._luck.randint(0, 700), "start", (self._name(), self._client()))

    def _name(self) -> str:
        name = self._names[len(self._members)]
        self._members.append(name)
        return name

    def _client(self) -> str:
        return self._luck.choice(self._clients)

    def _member(self) -> str:
        return self._luck.choice(self._members)

    def _broker(self) -> str:
        return self._luck.choice(tuple(self._brokers))

    # ---- faults ----

    def _draw_faults(self) -> Iterator[Step]:
        """Let the first come alone, after the group is in order, in half of all runs; the others as they please."""
        luck = self._luck
        count, at = luck.randint(FEWEST_FAULTS, MOST_FAULTS), 8_000
        if luck.random() < 0.5:
            yield from self._fault(WARM_UP + 1_000, luck.choice((self._join, self._leave, self._kill)))
            count, at = count - 1, WARM_UP + 1_000 + ALONE
        for _ in range(count):
            *_, last = fault = list(self._fault(at, luck.choice(self._faults)))
            yield from fault
            at = last.at + luck.choice((luck.randint(100, 5_000), ALONE, 25_000))

    def _fault(self, at: int, kind: Callable[[], Iterator[str]]) -> Iterator[Step]:
        for line in kind():
            verb, *words = line.split()
            yield Step(at, verb, tuple(words))
            at += self._luck.randint(1, 2_000)

    def _join(self) -> Iterator[str]:
        yield f"start {self._name()} {self._client()}"

    def _leave(self) -> Iterator[str]:
        yield f"stop {self._member()}"

    def _kill(self) -> Iterator[str]:
        yield f"kill {self._member()}"

    def _die(self) -> Iterator[str]:
        yield f"die {self._member()}"

    def _bounce(self) -> Iterator[str]:
        member = self._member()
        yield f"{self._luck.choice(('kill', 'stop'))} {member}"
        yield f"start {member} {self._client()}"

    def _pause(self) -> Iterator[str]:
        yield f"pause {self._member()} {self._luck.choice((2_000, 15_000, 40_000, 70_000))}"

    def _crash(self) -> Iterator[str]:
        yield f"crash {self._broker()} {self._luck.choice((500, 5_000, 20_000))}"

    def _cut(self) -> Iterator[str]:
        yield f"cut {self._member()} {self._broker()} {self._luck.choice((2_000, 10_000, 40_000))}"

    def _slow(self) -> Iterator[str]:
        yield f"slow {self._broker()} {self._luck.choice((20, 100, 300))} {self._luck.choice((5_000, 20_000))}"

    def _mute_join(self) -> Iterator[str]:
        yield f"mute {self._luck.choice((3_000, 10_000))}"
        yield from self._luck.choice((self._join, self._kill))()

    def _lose(self) -> Iterator[str]:
        yield f"lose {self._luck.choice((5_000, 20_000))}"
        yield from self._luck.choice((self._join, self._leave))()

    def _grow(self) -> Iterator[str]:
        topic = self._luck.choice(tuple(self._topics))
        yield f"grow {topic} {self._broker()} {self._topics[topic] + self._luck.randint(1, 4)}"

    def _twin(self) -> Iterator[str]:
        """Let a second process of one client id come, and mostly go again; two of them share their order locks."""
        twin = self._name()
        yield f"start {twin} {self._client()} as {self._member()}"
        if self._is_orderly or self._luck.random() < 0.6:
            yield f"kill {twin}"

    def _dissent(self) -> Iterator[str]:
        """Let a member divide the queues by another strategy; in an orderly group it would wait for locks for ever."""
        if self._is_orderly:
            yield from self._join()
        else:
            yield f"start {self._name()} java-5.5.0 by {self._luck.choice(('AVG', 'AVG_BY_CIRCLE'))}"

    def _unsubscribe(self) -> Iterator[str]:
        yield f"unsubscribe {tuple(self._topics)[-1]}" if len(self._topics) > 1 else "mute 1000"

    def _subscribe(self) -> Iterator[str]:
        yield f"subscribe {tuple(self._topics)[-1]}" if len(self._topics) > 1 else "mute 1000"
