"""Recorded conversations, played to a broker in memory.

A recording has what clients and brokers sent, not when a broker took a request up: that lies between a request and its
answer. A request is played at the moment of its answer, or of its own arrival where none came. Pulls, which may wait
for messages, are played as they arrive; one that the real broker let through and the machine does not is played again
for a while, because a heartbeat before it may have been taken up before it was answered. Nor has a recording
connections that broke: a client that never said good-bye is cut off when its group was notified without a cause.
"""

import gzip
import heapq
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from rebalance_engine.effects import Closed, Opened, Push, Received, Respond, WakeAt, Woken
from rebalance_engine.membership.checks import PullTerms
from rebalance_engine.membership.machine import Broker
from rebalance_engine.membership.offsets import QueueStart
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.remoting.codec import decode, decode_response
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.requests.brokers import (
    GetAllTopicConfig,
    GetAllTopicConfigResponse,
    GetConsumerConnectionListResponse,
)
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import HeartBeat, NotifyConsumerIdsChanged, UnregisterClient
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2
from tests.rebalance_engine.remoting import recordings
from tests.rebalance_engine.remoting.recordings import one_command

RELEASES = ("4.9.7", "5.5.0")
TAKEN_UP_WITHIN_MS = 100
BROKERS = {25976: "broker-a", 25986: "broker-b"}


@dataclass
class Asked:
    """A request of a client, with the answer that the real broker gave it."""

    at: float
    connection: int
    command: Command
    request: Request[Response]
    answered_at: float | None = None
    answer: Response | None = None

    @property
    def played_at(self) -> float:
        """A pull may wait for messages after it was taken up; every other request is answered at once."""
        waits = self.answered_at is None or isinstance(self.request, PullMessage)
        return self.at if waits or self.answered_at is None else self.answered_at


@dataclass
class Recording:
    """One broker's conversations; ``notified`` are the group notifications: when, to whom, of which group."""

    release: str
    port: int
    asked: list[Asked] = field(default_factory=list)
    notified: list[tuple[float, int, str]] = field(default_factory=list)

    def topics(self) -> GetAllTopicConfigResponse:
        (answer,) = (one.answer for one in self.asked if isinstance(one.request, GetAllTopicConfig))
        assert isinstance(answer, GetAllTopicConfigResponse)
        return answer


@cache
def recording(release: str, port: int) -> Recording:
    told = Recording(release, port)
    waiting: dict[tuple[int, int], Asked] = {}
    for at, connection, sender, command in _frames(release, port):
        if sender == "client" and not command.is_response:
            asked = Asked(at, connection, command, decode(command))
            told.asked.append(asked)
            waiting[connection, command.opaque] = asked
        elif command.is_response and sender == "server":
            asked = waiting.pop((connection, command.opaque))
            asked.answered_at, asked.answer = at, decode_response(type(asked.request), command)
        elif not command.is_response:
            request = decode(command)
            if isinstance(request, NotifyConsumerIdsChanged):
                told.notified.append((at, connection, request.consumer_group))
    return told


def _frames(release: str, port: int) -> Iterator[tuple[float, int, str, Command]]:
    path = Path(recordings.__file__).parent / "vectors" / f"conversation-{release}.jsonl.gz"
    with gzip.open(path, "rt") as lines:
        for line in map(json.loads, lines):
            if line["port"] == port:
                yield line["ms"], line["conn"], line["from"], one_command(bytes.fromhex(line["hex"]))


@dataclass
class Played:
    """What the machine answered instead; pulls that it would have let through are not among ``answers``."""

    broker: Broker
    answers: list[tuple[Asked, Response]] = field(default_factory=list)
    let_through: list[Asked] = field(default_factory=list)
    notified: list[tuple[float, int, str]] = field(default_factory=list)


class Player:
    """Plays one recording to a fresh machine."""

    def __init__(self, told: Recording) -> None:
        self._told = told
        self._filled: set[tuple[str, int]] = set()
        address = f"127.0.0.1:{told.port}"
        settings = BrokerSettings(version=told.release, broker=BROKERS[told.port], address=address)
        self._addresses = _addresses(told)
        self._steps: list[tuple[float, int, Asked | int]] = []  # what is to happen: requests, breaking connections
        self._played = Played(Broker(settings, queue_start=self._queue_start))
        self._now = 0.0
        self._timers: dict[Any, int] = {}
        for config in told.topics().body.topic_config_table.values():
            if not config.topic_name.startswith("%RETRY%g_"):  # these are the heartbeats' to create
                self._played.broker.put_topic(config)

    def play(self) -> Played:
        self._carry_out(self._played.broker.start(0))
        self._steps = [(at, -1, connection) for at, connection in breaks(self._told)]
        self._steps += [(asked.played_at, number, asked) for number, asked in enumerate(self._told.asked)]
        heapq.heapify(self._steps)
        while self._steps:
            at, number, step = heapq.heappop(self._steps)
            self._wake(at)
            self._now = at
            if isinstance(step, Asked):
                self._ask(step, number)
            elif step in self._played.broker.channels:
                self._carry_out(self._played.broker.handle(Closed(channel=step), int(at)))
            self._played.broker.check()
        return self._played

    def _ask(self, asked: Asked, number: int) -> None:
        broker, at = self._played.broker, int(self._now)
        if asked.connection not in broker.channels:
            address = self._addresses.get(asked.connection, f"127.0.0.1:{asked.connection}")
            broker.handle(Opened(channel=asked.connection, address=address), at)
        broker.introduce(asked.connection, asked.command.language, asked.command.version)
        if isinstance(asked.request, SendMessageV2) and isinstance(asked.answer, SendMessageResponse):
            self._filled.add((asked.request.topic, asked.answer.queue_id))
        elif isinstance(asked.request, PullMessage):
            self._pull(asked, asked.request, number)
        elif broker.knows(asked.request):
            token = None if asked.answered_at is None else 1
            effects = broker.handle(Received(channel=asked.connection, request=asked.request, token=token), at)
            self._carry_out(effects)
            self._played.answers.extend(
                (asked, effect.response)
                for effect in effects
                if isinstance(effect, Respond) and isinstance(effect.response, Response)
            )

    def _pull(self, asked: Asked, pull: PullMessage, number: int) -> None:
        at = int(self._now)
        checked = self._played.broker.check_pull(asked.connection, pull, at)
        if (
            isinstance(checked, Refused)
            and not isinstance(asked.answer, Refused)
            and at < asked.at + TAKEN_UP_WITHIN_MS
        ):
            heapq.heappush(self._steps, (self._now + 5, number, asked))
        elif isinstance(checked, PullTerms):
            self._played.broker.commit_with_pull(asked.connection, pull, at)
            self._played.let_through.append(asked)
        else:
            self._played.answers.append((asked, checked))

    def _queue_start(self, topic: str, queue_id: int) -> QueueStart:
        return QueueStart.IN_MEMORY if (topic, queue_id) in self._filled else QueueStart.EMPTY

    def _wake(self, until: float) -> None:
        for timer, at in tuple(self._timers.items()):
            if at <= until:
                self._carry_out(self._played.broker.handle(Woken(timer=timer), int(max(at, self._now))))

    def _carry_out(self, effects: tuple[object, ...]) -> None:
        for effect in effects:
            if isinstance(effect, WakeAt):
                self._timers[effect.timer] = effect.at
            elif isinstance(effect, Push):
                assert isinstance(effect.request, NotifyConsumerIdsChanged)
                self._played.notified.append((self._now, effect.channel, effect.request.consumer_group))


def breaks(told: Recording) -> Iterator[tuple[float, int]]:
    """Say when connections of members broke that never unregistered: right before the notification that says so."""
    for connection, groups in _members(told).items():
        last = max(asked.at for asked in told.asked if asked.connection == connection)
        heard = [at for at, _, group in told.notified if at > last and group in groups]
        if heard:
            yield min(heard) - 1, connection


def _addresses(told: Recording) -> dict[int, str]:
    """Find where connections came from, which frames do not say, but lists of connections do."""
    lists = [one.answer.body for one in told.asked if isinstance(one.answer, GetConsumerConnectionListResponse)]
    by_client = {entry.client_id: entry.client_addr or "" for body in lists for entry in body.connection_set}
    beats = [one for one in told.asked if isinstance(one.request, HeartBeat)]
    return {
        one.connection: by_client[one.request.body.client_id]
        for one in beats
        if isinstance(one.request, HeartBeat) and one.request.body.client_id in by_client
    }


def _members(told: Recording) -> dict[int, set[str]]:
    members: dict[int, set[str]] = {}
    for asked in told.asked:
        if isinstance(asked.request, HeartBeat):
            groups = {consumer.group_name for consumer in asked.request.body.consumer_data_set}
            members.setdefault(asked.connection, set()).update(groups)
        elif isinstance(asked.request, UnregisterClient):
            members.get(asked.connection, set()).discard(asked.request.consumer_group or "")
    return {connection: groups for connection, groups in members.items() if groups}
