"""What a run consists of, as a value and as a text of verbs that can be read, edited and played again.

    seed 7
    broker east 5.5.0
    topic orders 8                           queues on each broker
    group AVG concurrent                     or orderly
    beside AVG_BY_CIRCLE                     if there is a second group of the same members, in the same processes
    listener 5..40 fails 10                  ms a batch; of 1000 messages so many fail
    latency 1..12                            ms a message on its way
    producer P 5.5.0 every 120               ms from message to message; behind it may stand: avoiding faults
    sends until 60000
    0 start A java-5.5.0                     a step: when, a verb, its words
    30000 kill A
    ends at 120000

Times are in ms since the beginning. A line that begins with # is a comment.

    start M PROFILE [as ID] [by STRATEGY]    a member; by default its client id is its name, its strategy the group's;
                                             CONFIG has the queues behind it: CONFIG:orders/east/0,orders/west/1
    stop M                    it shuts down properly
    kill M                    its process ends, its connections close
    die M                     its machine is gone, and nobody is told
    pause M MS                it stands still
    crash BROKER MS           it is killed, and started again after so long
    cut M BROKER MS           nothing gets through between the two
    slow BROKER EXTRA MS      every message to or from it takes so much longer
    mute MS                   all notifications are lost
    reset M BROKER            their connection breaks, and for the broker M is gone until it hears from it again
    lose MS                   every second one-way request of a client is lost
    drop MS                   one in twenty requests of clients is lost, and one in twenty answers
    grow TOPIC BROKER N       the topic has so many queues there
    subscribe TOPIC           all members subscribe to one more topic
    unsubscribe TOPIC         all members give a topic up
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TypeVar

from rebalance_engine.consumer import CPP, GO, Profile
from rebalance_engine.consumer import java as java_client
from rebalance_engine.membership.configs import LEGAL_CHARACTERS
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.simulation.clients import Listener
from rebalance_engine.simulation.whole_numbers import MOST_DIGITS, whole_number

VERBS = {  # verb -> the fewest and the most words after it
    "start": (2, 6),
    "stop": (1, 1),
    "kill": (1, 1),
    "die": (1, 1),
    "pause": (2, 2),
    "crash": (2, 2),
    "cut": (3, 3),
    "slow": (3, 3),
    "mute": (1, 1),
    "reset": (2, 2),
    "lose": (1, 1),
    "drop": (1, 1),
    "grow": (3, 3),
    "subscribe": (1, 1),
    "unsubscribe": (1, 1),
}
START_OPTIONS = {(), ("as",), ("by",), ("as", "by")}
LONGEST_RUN = 86_400_000  # ms
LAST_SEED = 2**63 - 1
LONGEST_TOPIC = 127  # ``TopicValidator.TOPIC_MAX_LENGTH``
OWN_TOPICS = (RETRY_TOPIC_PREFIX, "%DLQ%")  # how names of topics begin that brokers make for groups
AVOIDING = " avoiding faults"
FORMS = {  # what a line of each verb is; what is in capitals is anything
    "seed": ("seed N",),
    "broker": ("broker NAME VERSION",),
    "topic": ("topic NAME QUEUES",),
    "group": ("group STRATEGY concurrent", "group STRATEGY orderly"),
    "beside": ("beside STRATEGY",),
    "listener": ("listener LOW..HIGH", "listener LOW..HIGH fails N"),
    "latency": ("latency LOW..HIGH",),
    "producer": ("producer NAME VERSION every MS", f"producer NAME VERSION every MS{AVOIDING}"),
    "sends": ("sends until MS",),
    "ends": ("ends at MS",),
}
SEVERAL = {"broker", "topic", "producer"}  # of which there may be several lines

Value = TypeVar("Value")


class ScenarioError(ValueError):
    """A text says no scenario; the message says which line, what was seen and what is needed."""


@dataclass(frozen=True, slots=True)
class Step:
    """Something that is done to the cluster, in ms from the beginning; ``line`` is where it was read."""

    at: int
    verb: str
    words: tuple[str, ...]
    line: int | None = field(default=None, compare=False, repr=False)

    def __str__(self) -> str:
        """Write it as a line."""
        return " ".join((str(self.at), self.verb, *self.words))


@dataclass(frozen=True, slots=True)
class Sender:
    """A producer: name, version, ms from one message to the next, whether it avoids brokers that were slow."""

    name: str
    version: str
    every_ms: int
    avoids_faults: bool = False

    def __str__(self) -> str:
        """Write it as a line."""
        return f"producer {self.name} {self.version} every {self.every_ms}{AVOIDING if self.avoids_faults else ''}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What a run consists of; all luck comes from the seed.

    Attributes:
        brokers: name -> version.
        topics: name -> queues on each broker.
        beside: the strategy of a second group, if every member has a consumer of that too.
        latency: shortest and longest, in ms.
        sends_until, ends_at: in ms from the beginning.
    """

    seed: int = 0
    brokers: dict[str, str] = field(default_factory=dict)
    topics: dict[str, int] = field(default_factory=dict)
    strategy: str = "AVG"
    beside: str | None = None
    is_orderly: bool = False
    listener: Listener = field(default_factory=Listener)
    latency: tuple[int, int] = (1, 12)
    senders: tuple[Sender, ...] = ()
    sends_until: int = 0
    steps: tuple[Step, ...] = ()
    ends_at: int = 0

    def without(self, steps: Iterable[Step]) -> Scenario:
        """Leave steps out."""
        gone = set(map(id, steps))
        return replace(self, steps=tuple(step for step in self.steps if id(step) not in gone))


def profile(name: str) -> Profile:
    """Give the client of a scenario's ``java-5.5.0``, ``cpp`` or ``go``.

    Raises:
        ScenarioError: there is no such client.
    """
    if name in ("cpp", "go"):
        return CPP if name == "cpp" else GO
    language, _, version = name.partition("-")
    if language != "java":
        raise ScenarioError(f"the client is {name!r}; it needs to be cpp, go or like java-5.5.0")
    try:
        return java_client(version)
    except ValueError as error:
        raise ScenarioError(str(error)) from error


def in_time_order(steps: Iterable[Step]) -> tuple[Step, ...]:
    """Order steps by their times; what is done at the same time stays as it is listed."""
    return tuple(sorted(steps, key=lambda step: step.at))


# ---- writing ----


def write(scenario: Scenario) -> str:
    """Write a scenario as lines, its steps by their times."""
    return "\n".join(_lines(scenario)) + "\n"


def _lines(scenario: Scenario) -> Iterator[str]:
    yield f"seed {scenario.seed}"
    yield from (f"broker {name} {version}" for name, version in scenario.brokers.items())
    yield from (f"topic {name} {queues}" for name, queues in scenario.topics.items())
    yield f"group {scenario.strategy} {'orderly' if scenario.is_orderly else 'concurrent'}"
    if scenario.beside is not None:
        yield f"beside {scenario.beside}"
    listener = scenario.listener
    yield f"listener {listener.low}..{listener.high} fails {listener.fails}"
    yield f"latency {scenario.latency[0]}..{scenario.latency[1]}"
    yield from map(str, scenario.senders)
    yield f"sends until {scenario.sends_until}"
    yield from map(str, in_time_order(scenario.steps))
    yield f"ends at {scenario.ends_at}"


# ---- reading ----


def read(text: str) -> Scenario:
    """Read what ``write`` wrote, or a person; the steps may come in any order.

    Raises:
        ScenarioError: a line says nothing that is known.
    """
    reader = _Reader()
    for number, line in enumerate(text.splitlines(), start=1):
        words = line.split()
        if words and not line.startswith("#"):
            try:
                reader.read(words, number)
            except (ValueError, IndexError) as error:
                raise ScenarioError(f"line {number}, {line!r}: {error}") from error
    return reader.scenario()


class _Reader:
    """The lines read so far."""

    def __init__(self) -> None:
        self._brokers: dict[str, str] = {}
        self._topics: dict[str, int] = {}
        self._senders: list[Sender] = []
        self._steps: list[Step] = []
        self._so_far = Scenario()
        self._said: set[str] = set()
        self._verbs: dict[str, Callable[[list[str]], None]] = {
            "seed": lambda words: self._set(seed=_number(words[0], most=LAST_SEED)),
            "broker": lambda words: _add(self._brokers, words[0], words[1]),
            "topic": lambda words: _add(self._topics, _topic(words[0]), _number(words[1], least=1)),
            "group": lambda words: self._set(strategy=words[0], is_orderly=words[1] == "orderly"),
            "beside": lambda words: self._set(beside=words[0]),
            "listener": self._listener,
            "latency": lambda words: self._set(latency=_range(words[0])),
            "producer": lambda words: self._senders.append(_sender(words)),
            "sends": lambda words: self._set(sends_until=_number(words[1])),
            "ends": lambda words: self._set(ends_at=_number(words[1])),
        }

    def read(self, words: list[str], line: int) -> None:
        verb = words[0]
        if verb[0].isdigit():
            self._steps.append(_step(words, line))
        elif verb in self._verbs:
            self._check_form(verb, words)
            self._verbs[verb](words[1:])
        else:
            raise ValueError(f"it needs to begin with a time or one of {', '.join(self._verbs)}")

    def _check_form(self, verb: str, words: list[str]) -> None:
        forms = [form.split() for form in FORMS[verb]]
        if not any(len(form) == len(words) and all(map(_fits, form, words)) for form in forms):
            raise ValueError(f"it needs to be {' or '.join(repr(form) for form in FORMS[verb])}")
        if verb in self._said and verb not in SEVERAL:
            raise ValueError(f"there is a line of {verb} already; one is needed at most")
        self._said.add(verb)

    def _listener(self, words: list[str]) -> None:
        self._set(listener=Listener(*_range(words[0]), fails=_number(words[2]) if len(words) > 2 else 0))

    def _set(self, **fields: object) -> None:
        self._so_far = replace(self._so_far, **fields)  # type: ignore[arg-type]  # each caller names fields of theirs

    def scenario(self) -> Scenario:
        if any(count > 1_024 for count in self._topics.values()):
            raise ScenarioError(f"the topics are {self._topics}; one needs to have 1024 queues on each broker at most")
        return replace(
            self._so_far,
            brokers=self._brokers,
            topics=self._topics,
            senders=tuple(self._senders),
            steps=in_time_order(self._steps),
        )


def _fits(form: str, word: str) -> bool:
    """Say whether a word stands where a form has it, or something in capitals."""
    return not form.islower() or form == word


def _add(known: dict[str, Value], name: str, value: Value) -> None:
    if name in known:
        raise ValueError(f"{name!r} is there already; each needs a name of its own")
    known[name] = value


def _topic(name: str) -> str:
    if not LEGAL_CHARACTERS.issuperset(name) or len(name) > LONGEST_TOPIC:
        needed = f"{LONGEST_TOPIC} letters, digits, %, |, _ and - at most"
        raise ValueError(f"the topic is {name!r}; it needs to have {needed}")
    if name.startswith(OWN_TOPICS):
        raise ValueError(f"the topic is {name!r}, which brokers make for a group; it needs to be one of its own")
    return name


def _sender(words: list[str]) -> Sender:
    return Sender(words[0], words[1], _number(words[3], least=2), avoids_faults=len(words) > 4)


def _step(words: list[str], line: int) -> Step:
    at, verb, rest = _number(words[0]), (words[1] if len(words) > 1 else ""), words[2:]
    if verb not in VERBS:
        raise ValueError(f"the verb is {verb!r}; it needs to be one of {', '.join(VERBS)}")
    fewest, most = VERBS[verb]
    if not fewest <= len(rest) <= most:
        raise ValueError(f"{verb} has {len(rest)} words; it needs {fewest} to {most}")
    if verb == "start" and (len(rest) % 2 or tuple(rest[2::2]) not in START_OPTIONS):
        raise ValueError(f"start has {' '.join(rest[2:])!r} behind the client; it needs as ID, by STRATEGY, or both")
    return Step(at, verb, tuple(rest), line)


def _number(word: str, least: int = 0, most: int = LONGEST_RUN) -> int:
    number = whole_number(word, least, most)
    if number is None:
        raise ValueError(
            f"the number is {word!r}; it needs to be from {least} to {most}, of {MOST_DIGITS} digits at most"
        )
    return number


def _range(word: str) -> tuple[int, int]:
    low, _, high = word.partition("..")
    if _number(low) > _number(high):
        raise ValueError(f"the range is {word}; its first number must not be above its second")
    return int(low), int(high)
