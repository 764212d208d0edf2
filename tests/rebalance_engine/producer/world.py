"""A producer among a name server and brokers in memory, told by transcripts: a verb, ``----``, what happened.

    client java 5.3.0 avoids_faults luck=7    whose behaviour, what is set, which numbers luck gives
    route orders east:2 west:2 perm=6         what the name server answers; ``route orders`` takes the topic away
    broker east takes 5                       it answers after 5 ms; also: refuses CODE, stores CODE, silent, down
    start                                     begin to refresh and to probe
    send orders thread=B mode=async key=7     send, and let time pass until the call has ended
    begin orders                              send, and let no time pass
    wait 30000                                let time pass
    explain orders                            which queue would be next, and why
    queues orders / faults                    what the producer knows

A line that begins with # is a comment and is kept.
"""

import heapq
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rebalance_engine.effects import (
    Answered,
    Cancel,
    Effect,
    Failure,
    Heard,
    Send,
    SendOneway,
    State,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.events import (
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import (
    CPP,
    GO,
    Attempt,
    Choice,
    Failed,
    Message,
    Mode,
    Producer,
    Profile,
    Sent,
    Story,
    java,
)
from rebalance_engine.producer.selectors import by_hash
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from rebalance_engine.remoting.requests.consuming import GetMaxOffset, OffsetResponse
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2
from tests.rebalance_engine.producer.luck import SOURCE, WrittenLuck, route, settings

TOPIC_NOT_EXIST = 17


@dataclass(slots=True)
class Broker:
    """How a broker behaves."""

    takes_ms: int = 1
    mood: str = "stores"
    code: int = 0


@dataclass(slots=True)
class World:
    """A producer, everything around it, and the time."""

    at: int = 0
    routes: dict[str, TopicRouteData] = field(default_factory=dict)
    brokers: dict[str, Broker] = field(default_factory=dict)
    producer: Producer | None = None
    said: list[str] = field(default_factory=list)
    begun: set[int] = field(default_factory=set)
    ended: set[int] = field(default_factory=set)
    _due: list[tuple[int, int, Heard]] = field(default_factory=list)
    _order: int = 0
    _timers: dict[object, int] = field(default_factory=dict)

    # ---- verbs ----

    def do(self, line: str) -> list[str]:
        """Carry out one verb and say what happened."""
        verb, *words = line.split()
        VERBS[verb](self, words)
        if self.producer is not None:
            self.producer.check()
        said, self.said = self.said, []
        return said

    def client(self, words: list[str]) -> None:
        for left_over in (self._due, self._timers, self.begun, self.ended):
            left_over.clear()
        names, given = _options(words)
        profile = _profile(names)
        if "name_servers" in given:
            given["name_servers"] = tuple(filter(None, str(given["name_servers"]).split(",")))
        numbers = [int(number) for number in str(given.pop("luck", "")).split(",") if number]
        self.producer = Producer(profile, settings(**given), luck=WrittenLuck(*numbers), source=SOURCE)

    def set_route(self, words: list[str]) -> None:
        (topic, *brokers), given = _options(words)
        if brokers or given:
            self.routes[topic] = route(*brokers, **given)
        else:
            self.routes.pop(topic, None)

    def set_broker(self, words: list[str]) -> None:
        name, mood, *number = words
        broker = self.brokers.setdefault(name, Broker())
        if mood == "takes":
            broker.takes_ms, broker.mood, broker.code = int(number[0]), "stores", 0
        else:
            broker.mood, broker.code = mood, int(number[0]) if number else 0

    def start(self, _words: list[str]) -> None:
        self._take(self._producer.start(self.at))

    def begin(self, words: list[str]) -> None:
        self._send(words)

    def send(self, words: list[str]) -> None:
        number = self._send(words)
        while self._due and number not in self.ended:
            self._next()

    def wait(self, words: list[str]) -> None:
        until = self.at + int(words[0])
        while self._due and self._due[0][0] <= until:
            self._next()
        self.at = until

    def explain(self, words: list[str]) -> None:
        (topic,), given = _options(words)
        self._say_choice(self._producer.explain(topic, self.at, **given), "would take")

    def queues(self, words: list[str]) -> None:
        info = self._producer.desk.book.info(words[0])
        names = [f"{queue.broker}/{queue.queue_id}" for queue in (info.queues if info else [])]
        self.said.append(" ".join(names) or "none")

    def faults(self, _words: list[str]) -> None:
        for item in self._producer.desk.faults:
            reachable = "" if item.is_reachable else ", unreachable"
            self.said.append(f"{item.broker}: {item.latency_ms} ms, available from {item.available_from}{reachable}")

    # ---- time ----

    def _send(self, words: list[str]) -> int:
        (topic,), given = _options(words)
        mode = Mode(given.pop("mode", "sync"))
        to: Any = None
        if "queue" in given:
            broker, _, number = str(given.pop("queue")).partition("/")
            to = MessageQueue(topic, broker, int(number))
        elif "key" in given:
            to = by_hash(given.pop("key"))
        sending = self._producer.send(Message(topic=topic, body=b"x"), self.at, mode=mode, to=to, **given)
        self.begun.add(sending.number)
        self._take(sending.effects)
        return sending.number

    def _next(self) -> None:
        at, _, heard = heapq.heappop(self._due)
        self.at = max(self.at, at)
        if isinstance(heard, Woken) and self._timers.get(heard.timer) != at:
            return  # was set anew or cancelled
        self._take(self._producer.handle(heard, self.at))

    def _take(self, effects: tuple[Effect, ...]) -> None:
        assert self.producer is not None
        self.producer.check()
        for effect in effects:
            self._carry_out(effect)
        for story in self.producer.take_finished():
            self._tell(story)

    def _carry_out(self, effect: Effect) -> None:
        match effect:
            case Send():
                self._say_request(effect.to, effect.request, effect.timeout_ms)
                self._answer(effect)
            case SendOneway():
                self._say_request(effect.to, effect.request, None)
            case WakeAt(at=at, timer=timer):
                self._timers[timer] = at
                self._later(at, Woken(timer=timer))
            case Cancel(timer=timer):
                self._timers.pop(timer, None)
            case State(fact=fact):
                self._say_fact(fact)
            case _:
                raise AssertionError(f"a producer asked for {effect}")

    def _later(self, at: int, heard: Heard) -> None:
        heapq.heappush(self._due, (at, self._order, heard))
        self._order += 1

    # ---- the others ----

    def _answer(self, asked: Send) -> None:
        name = asked.to.partition(":")[0]
        broker = self.brokers.get(name, Broker())
        if broker.mood == "down":
            self._later(self.at, Unanswered(token=asked.token, failure=Failure.NOT_CONNECTED))
        elif broker.mood == "silent" or broker.takes_ms > asked.timeout_ms:
            self._later(self.at + asked.timeout_ms, Unanswered(token=asked.token, failure=Failure.TIMEOUT))
        else:
            answered = Answered(token=asked.token, response=self._response(asked.request, broker))
            self._later(self.at + broker.takes_ms, answered)

    def _response(self, request: object, broker: Broker) -> object:
        if isinstance(request, GetRouteInfoByTopic):
            found = self.routes.get(request.topic)
            return GetRouteInfoByTopicResponse(body=found) if found else Refused(code=TOPIC_NOT_EXIST)
        if broker.mood == "refuses":
            return Refused(code=broker.code, remark="no")
        if isinstance(request, GetMaxOffset):
            return OffsetResponse(offset=1)
        assert isinstance(request, SendMessageV2)
        return SendMessageResponse(code=broker.code, msg_id="0", queue_id=request.queue_id, queue_offset=0)

    # ---- words ----

    def _say(self, text: str) -> None:
        self.said.append(f"{self.at:>6} {text}")

    def _say_request(self, to: str, request: object, timeout_ms: int | None) -> None:
        match request:
            case GetRouteInfoByTopic(topic=topic):
                self._say(f"asks where {topic} is")
            case GetMaxOffset():
                self._say(f"probes {to}")
            case SendMessageV2(queue_id=queue_id):
                limit = "" if timeout_ms is None else f", {timeout_ms} ms"
                self._say(f"sends to {to} queue {queue_id}{limit}")

    def _say_fact(self, fact: object) -> None:
        match fact:
            case BrokerLatency(broker=broker, latency_ms=latency_ms, outcome=outcome):
                self._say(f"fact: {broker} took {latency_ms} ms, {outcome.value}")
            case BrokerBackedOff(broker=broker, backoff_ms=backoff_ms, is_isolated=is_isolated):
                self._say(f"fact: backs off from {broker} for {backoff_ms} ms{', isolated' if is_isolated else ''}")
            case BrokerBackoffEnded(broker=broker):
                self._say(f"fact: {broker} is available again")
            case BrokerUnreachable(broker=broker):
                self._say(f"fact: {broker} is unreachable")
            case BrokerReachable(broker=broker):
                self._say(f"fact: {broker} is reachable again")

    def _tell(self, story: Story) -> None:
        self.ended.add(story.number)
        for attempt in story.attempts:
            self._tell_attempt(attempt)
        match story.result:
            case Sent(queue=queue, response=response):
                code = "" if response is None or response.code == 0 else f", status {response.code}"
                self._say(f"sent to {queue.broker}/{queue.queue_id}{code}")
            case Failed(error=error, text=text, code=code):
                self._say(f"{error.value} {code}: {text}")

    def _tell_attempt(self, attempt: Attempt) -> None:
        if attempt.choice is not None:
            self._say_choice(attempt.choice, "took")

    def _say_choice(self, choice: Choice, verb: str) -> None:
        for step in choice.steps:
            if step.skipped is not None:
                self.said.append(f"       {step}")
        name = f"{choice.queue.broker}/{choice.queue.queue_id}" if choice.queue else "nothing"
        self.said.append(f"       {verb} {name}: {choice.why.value}")

    @property
    def _producer(self) -> Producer:
        assert self.producer is not None, "the transcript has no client yet"
        return self.producer


def _options(words: list[str]) -> tuple[list[str], dict[str, Any]]:
    """Split ``orders thread=B avoids_faults`` into plain words and settings; a bare setting is True."""
    plain = [word for word in words if "=" not in word and word not in FLAGS]
    flags = {word: True for word in words if word in FLAGS}
    return plain, flags | {key: _value(text) for key, _, text in (word.partition("=") for word in words if "=" in word)}


def _value(text: str) -> int | str:
    return int(text) if text.lstrip("-").isdigit() else text


def _profile(names: list[str]) -> Profile:
    return java(names[1]) if names[0] == "java" else {"cpp": CPP, "go": GO}[names[0]]


FLAGS = {"avoids_faults", "detects", "retries_when_not_stored", "is_retry"}
VERBS: dict[str, Callable[[World, list[str]], None]] = {
    "client": World.client,
    "route": World.set_route,
    "broker": World.set_broker,
    "start": World.start,
    "send": World.send,
    "begin": World.begin,
    "wait": World.wait,
    "explain": World.explain,
    "queues": World.queues,
    "faults": World.faults,
}


def happened(*lines: str) -> list[str]:
    """Carry out verbs and say what happened in the last one, without the times."""
    world = World()
    said = [world.do(line) for line in lines][-1]
    return [text.lstrip(" 0123456789") for text in said]


def play(path: Path) -> str:
    """Play a transcript and write it as it really went."""
    world = World()
    return "".join(_played(world, path.read_text()))


def _played(world: World, text: str) -> Iterator[str]:
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        end = lines.index("----") if "----" in lines else len(lines)
        said = [text for line in lines[:end] if not line.startswith("#") for text in world.do(line)]
        written = [*lines[:end], *(["----", *said] if said else [])]
        yield ("\n".join(written) + "\n\n") if written else ""
