"""A scenario for a seed: a cluster of a likely shape, and faults that come sometimes apart and sometimes at once."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import replace

from rebalance_engine.simulation.bounds import WARM_UP, earliest_end, settles_within
from rebalance_engine.simulation.clients import Listener
from rebalance_engine.simulation.scenario import Scenario, Sender, Step
from rebalance_engine.simulation.timers import ROUND

NAMES = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
FEWEST_MEMBERS, MOST_MEMBERS = 5, 6
FEWEST_FAULTS, MOST_FAULTS = 3, 4
MOST_CHANGES = 2  # joins, leaves and the like besides
FEWEST_LEFT = 3  # members; with fewer there is little to divide
CLIENTS = ("java-5.5.0", "java-5.5.0", "java-5.5.0", "java-4.9.7", "java-5.1.4", "cpp", "go")
BROKERS = ("5.5.0", "5.5.0", "4.9.7", "5.1.4")
SPARE = "refunds"  # a topic to which the group subscribes later
TIME_TO_FINISH = 50_000  # ms; for what failed last: two retries take 40 s
LEAKED_LOCK = 40_000  # ms; a lock that leaked just before must run out and be noticed
TWO_GROUPS = 0.08  # of all runs; each takes twice the time
FIRST_START = 2_000  # ms; brokers have registered before
ALONE = 14_000  # ms; by then the rules want a group in order again after most that can happen
LISTENERS = (*[(5, 60)] * 16, (5, 700), (5, 700), (1_000, 3_000), (1_000, 3_000))  # ms
FLAPPING = 0.25  # of all orderly runs
FEWEST_FLAPS, MOST_FLAPS = 2, 4
SLOW_LISTENERS = ((1_000, 8_000), (1_000, 8_000), (5_000, 30_000))  # ms; the last outlast a lock that is not renewed
PAUSES = (2_000, 15_000, 40_000, 40_000, 70_000, 135_000)  # ms; the last is longer than pulls and members live

Fault = Callable[[], Iterator[str]]


def draw(seed: int) -> Scenario:
    """Draw a scenario: at least 5 members, 16 queues, 3 faults; always the same one for a seed.

    Faults are what a real cluster suffers: joins, leaves and changes of topics come besides. Each does something: who
    is killed lives, who is cut off runs, and a loss has something to lose.
    """
    return _Drawing(seed).scenario()


class _Drawing:
    """A scenario in the making."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._luck = random.Random(f"scenario {seed}")  # noqa: S311 - luck that can be had again, no secret
        luck = self._luck
        self._brokers = {"east": luck.choice(BROKERS), "west": luck.choice(BROKERS)}
        self._topics = luck.choice(({"orders": 8}, {"orders": 4, "payments": 4}, {"orders": 6, "payments": 3}))
        self._is_orderly = luck.random() < 0.4
        self._clients = CLIENTS if luck.random() < 0.4 else (luck.choice(CLIENTS),)
        self._listener = luck.choice(LISTENERS)
        self._is_flapping = self._is_orderly and self._luck_of("flaps").random() < FLAPPING
        if self._is_flapping:
            self._listener = self._luck_of("slow").choice(SLOW_LISTENERS)
        self._names = luck.sample(NAMES, len(NAMES))  # brokers list members in the order in which they came
        self._alive: list[str] = []
        self._at = 0
        self._busy_until: dict[str, int] = {}  # who is paused, cut off or down
        self._grown: dict[tuple[str, str], int] = {}  # topic and broker -> queues there
        self._faults: tuple[Fault, ...] = (
            *(self._kill, self._kill, self._die, self._bounce, self._pause, self._pause, self._crash, self._crash),
            *(self._cut, self._cut, self._slow, self._mute, self._lose, self._drop, self._reset),
        )
        self._changes: tuple[Fault, ...] = (
            *(self._join, self._join, self._leave, self._leave, self._grow, self._twin, self._dissent),
            *(self._unsubscribe, self._subscribe),
        )

    def scenario(self) -> Scenario:
        luck = self._luck
        steps = [*self._starts(), *self._draw_faults(), *self._draw_flaps()]
        drawn = Scenario(
            seed=self._seed,
            brokers=self._brokers,
            topics=self._topics,
            strategy=self._strategy(),
            beside=self._beside(),
            is_orderly=self._is_orderly,
            listener=Listener(*self._listener, fails=luck.choice((0, 0, 20))),
            latency=(1, luck.choice((5, 20))),
            senders=(Sender("sender", luck.choice(("5.5.0", "4.9.7")), self._sends_every()),),
            steps=tuple(steps),
        )
        settled = max(FIRST_START + WARM_UP, *(step.at + settles_within(step, drawn) for step in steps))
        rest = TIME_TO_FINISH + (LEAKED_LOCK if self._is_orderly else 0)
        drawn = replace(drawn, sends_until=min(settled, steps[-1].at + 40_000))
        return replace(drawn, ends_at=max(settled + rest, earliest_end(drawn)))

    def _luck_of(self, what: str) -> random.Random:
        """Give something luck of its own: what is drawn besides stays as it is."""
        return random.Random(f"{what} {self._seed}")  # noqa: S311 - luck that can be had again, no secret

    def _sends_every(self) -> int:
        """Draw the ms from message to message: listeners keep up."""
        if self._is_flapping:
            return self._listener[1] // 8
        return 600 if self._listener[0] >= 1_000 else self._luck.choice((200, 300))

    def _strategy(self) -> str:
        """Draw a strategy that all clients have."""
        known = ["AVG", "AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH"]
        if "go" in self._clients:
            known.remove("CONSISTENT_HASH")
        return "AVG" if "cpp" in self._clients else self._luck.choice(known)

    def _beside(self) -> str | None:
        """Draw whether there is a second group in the same processes."""
        luck = self._luck_of("beside")
        if luck.random() >= TWO_GROUPS:
            return None
        known = ("AVG",) if "cpp" in self._clients else ("AVG", "AVG_BY_CIRCLE")
        return luck.choice(known)

    # ---- members ----

    def _starts(self) -> Iterator[Step]:
        for number in range(self._luck.randint(FEWEST_MEMBERS, MOST_MEMBERS)):
            yield Step(FIRST_START + number * self._luck.randint(0, 700), "start", (self._newcomer(), self._client()))

    def _newcomer(self) -> str:
        name = self._names.pop()
        self._alive.append(name)
        return name

    def _client(self) -> str:
        return self._luck.choice(self._clients)

    def _victim(self) -> str:
        """Draw who runs undisturbed; there is always one, as members are many and faults few."""
        return self._luck.choice([name for name in self._alive if self._busy_until.get(name, 0) <= self._at])

    def _loser(self) -> str:
        """Draw who goes for good."""
        victim = self._victim()
        self._alive.remove(victim)
        return victim

    def _broker(self) -> str:
        """Draw a broker that is up; if none is, one that will be in a moment."""
        up = [name for name in self._brokers if self._busy_until.get(name, 0) <= self._at]
        return self._luck.choice(up or [min(self._brokers, key=lambda name: self._busy_until[name])])

    def _lasts(self, name: str, *choices: int) -> int:
        """Draw how long something holds a process up."""
        ms = self._luck.choice(choices)
        self._busy_until[name] = self._at + ms
        return ms

    # ---- faults ----

    def _draw_faults(self) -> Iterator[Step]:
        """Let the first come alone, after the group is in order, in half of all runs; the others as they please."""
        luck = self._luck
        faults = luck.choices(self._faults, k=luck.randint(FEWEST_FAULTS, MOST_FAULTS))
        kinds = faults + luck.choices(self._changes, k=luck.randint(0, MOST_CHANGES))
        luck.shuffle(kinds)
        self._at = 8_000
        if luck.random() < 0.5:
            self._at = FIRST_START + WARM_UP + 1_000
            yield from self._fault(luck.choice((self._join, self._leave, self._kill)))
            self._at += ALONE
        for kind in kinds:
            yield from self._fault(kind)
            self._at += luck.choice((luck.randint(100, 5_000), ALONE, 25_000))

    def _fault(self, kind: Fault) -> Iterator[Step]:
        """Do something; where few are left, somebody joins before. A broker that is down is waited for."""
        if len(self._alive) <= FEWEST_LEFT:
            yield from self._fault_of(self._join)
        self._at = max(self._at, min(self._busy_until.get(name, 0) for name in self._brokers))
        self._at = max(self._at, min(self._busy_until.get(name, 0) for name in self._alive))
        yield from self._fault_of(kind)

    def _fault_of(self, kind: Fault) -> Iterator[Step]:
        for line in kind():
            verb, *words = line.split()
            yield Step(self._at, verb, tuple(words))
            self._at += self._luck.randint(1, 2_000)

    def _kill(self) -> Iterator[str]:
        yield f"kill {self._loser()}"

    def _die(self) -> Iterator[str]:
        yield f"die {self._loser()}"

    def _bounce(self) -> Iterator[str]:
        member = self._victim()
        yield f"kill {member}"
        yield f"start {member} {self._client()}"

    def _pause(self) -> Iterator[str]:
        member = self._victim()
        yield f"pause {member} {self._lasts(member, *PAUSES)}"

    def _crash(self) -> Iterator[str]:
        broker = self._broker()
        yield f"crash {broker} {self._lasts(broker, 500, 5_000, 20_000, 40_000)}"

    def _cut(self) -> Iterator[str]:
        member, broker = self._victim(), self._broker()
        yield f"cut {member} {broker} {self._lasts(member, 10_000, 40_000)}"

    def _slow(self) -> Iterator[str]:
        yield f"slow {self._broker()} {self._luck.choice((20, 100, 300))} {self._luck.choice((5_000, 20_000))}"

    def _mute(self) -> Iterator[str]:
        yield f"mute {self._luck.choice((3_000, 10_000))}"
        yield from self._luck.choice((self._join, self._kill))()

    def _lose(self) -> Iterator[str]:
        yield f"lose {self._luck.choice((5_000, 20_000))}"
        yield from self._luck.choice((self._join, self._leave))()

    def _drop(self) -> Iterator[str]:
        yield f"drop {self._luck.choice((5_000, 20_000))}"
        yield from self._luck.choice((self._join, self._leave))()

    def _reset(self) -> Iterator[str]:
        yield f"reset {self._victim()} {self._broker()}"

    # ---- queues that come back ----

    def _draw_flaps(self) -> Iterator[Step]:
        """Let queues leave members and come back to them while their listeners, which are slow, still have messages."""
        luck = self._luck
        for _ in range(luck.randint(FEWEST_FLAPS, MOST_FLAPS) if self._is_flapping else 0):
            yield from self._fault(luck.choice((self._restart, self._bounce, self._reset, self._waver)))
            self._at += luck.choice((luck.randint(100, 5_000), ALONE))

    def _restart(self) -> Iterator[str]:
        member = self._victim()
        yield f"stop {member}"
        self._at += self._luck.randint(0, self._listener[1])
        yield f"start {member} {self._client()}"

    def _waver(self) -> Iterator[str]:
        """Give a topic up and want it again; between the two lies a rebalance of some members."""
        *_, topic = (each for each in self._topics if each != SPARE)
        yield f"unsubscribe {topic}"
        self._at += self._luck.randint(0, ROUND)
        yield f"subscribe {topic}"

    # ---- what else changes ----

    def _join(self) -> Iterator[str]:
        yield f"start {self._newcomer()} {self._client()}"

    def _leave(self) -> Iterator[str]:
        yield f"stop {self._loser()}"

    def _grow(self) -> Iterator[str]:
        topic = self._luck.choice(tuple(self._topics))
        broker = self._broker()
        queues = self._grown.get((topic, broker), self._topics[topic]) + self._luck.randint(1, 4)
        self._grown[topic, broker] = queues
        yield f"grow {topic} {broker} {queues}"

    def _twin(self) -> Iterator[str]:
        """Let a second process of one client id come; in order it goes again, as two share their locks."""
        twin, other = self._names.pop(), self._victim()
        yield f"start {twin} {self._client()} as {other}"
        if self._is_orderly or self._luck.random() < 0.3:
            yield f"kill {twin}"

    def _dissent(self) -> Iterator[str]:
        """Let a member divide the queues by another strategy; in an orderly group it would wait for locks for ever."""
        if self._is_orderly:
            yield from self._join()
        else:
            yield f"start {self._newcomer()} java-5.5.0 by {self._luck.choice(('AVG', 'AVG_BY_CIRCLE'))}"

    def _unsubscribe(self) -> Iterator[str]:
        *_, topic = (each for each in self._topics if each != SPARE)
        if topic == "orders":
            yield from self._join()
            return
        yield f"unsubscribe {topic}"
        if self._luck.random() < 0.5:
            yield f"subscribe {topic}"

    def _subscribe(self) -> Iterator[str]:
        if SPARE in self._topics:
            yield from self._leave()
            return
        self._topics = {**self._topics, SPARE: 2}
        yield f"subscribe {SPARE}"
