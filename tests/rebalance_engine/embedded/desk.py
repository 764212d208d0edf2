"""One broker on a directory and a clock of our own: what a client asks of it, and what it answers, without sockets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import TypeVar, cast

from rebalance_engine.effects import (
    Answered,
    Channel,
    Close,
    Closed,
    Failure,
    Heard,
    Opened,
    Push,
    Received,
    Respond,
    State,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.embedded.broker import EmbeddedBroker
from rebalance_engine.embedded.core import Ask, HandOn
from rebalance_engine.embedded.routes import RouteTable
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.messages import StoredMessage, decode_messages
from rebalance_engine.remoting.properties import encode_properties
from rebalance_engine.remoting.requests.consuming import PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.membership import HeartBeat, HeartBeatResponse
from rebalance_engine.remoting.requests.producing import SendMessageResponse, SendMessageV2
from rebalance_engine.remoting.tags import subscription

R = TypeVar("R", bound=Response)
START = 1_700_000_000_000
SUSPENDS = 2


def settings(version: str = "5.5.0", **membership: object) -> BrokerSettings:
    return BrokerSettings(version=version, broker="east", address="10.0.0.1:10911", **membership)  # type: ignore[arg-type]  # a test says what it sets


@dataclass
class Desk:
    """A broker, and clients that talk to it by turns."""

    directory: Path
    settings: EmbeddedSettings = field(default_factory=lambda: EmbeddedSettings(membership=settings()))
    now: int = START
    language: Language = Language.JAVA
    version: int = 513
    answers: dict[tuple[Channel, int], Response] = field(default_factory=dict)
    handed_on: dict[tuple[Channel, int], Command] = field(default_factory=dict)
    pushed: list[Push] = field(default_factory=list)
    asked: list[Ask] = field(default_factory=list)
    closed: list[Channel] = field(default_factory=list)
    routes: RouteTable = field(default_factory=RouteTable)
    _timers: dict[object, int] = field(default_factory=dict)
    _tokens: int = 0
    _channels: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.broker = EmbeddedBroker(
            self.settings, self.directory, self.now, luck=Random(1), route_of=self.routes.route
        )
        self._timers.clear()
        self._carry_out(self.broker.start(self.now))

    def restart(self, *, crashes: bool = False) -> None:
        if crashes:
            self.broker.crash()
        else:
            self.broker.stop()
        self.start()

    def connect(self) -> Channel:
        self._channels += 1
        self.hear(Opened(channel=self._channels, address=f"10.0.0.9:{40_000 + self._channels}"))
        return self._channels

    def disconnect(self, channel: Channel) -> None:
        self.hear(Closed(channel=channel))

    def hear(self, heard: Heard) -> None:
        self._carry_out(self.broker.handle(heard, self.now))
        self.broker.check()

    def begin(self, channel: Channel, request: Request[Response]) -> int:
        """Ask, and do not wait; the answer is under its token once it comes."""
        self._tokens += 1
        received = Received(
            channel=channel, request=request, token=self._tokens, language=self.language, version=self.version
        )
        self.hear(received)
        return self._tokens

    def ask(self, channel: Channel, request: Request[R]) -> R | Refused:
        return cast("R | Refused", self.answers.pop((channel, self.begin(channel, request))))

    def get(self, channel: Channel, request: Request[R]) -> R:
        """Ask what is not refused."""
        answer = self.ask(channel, request)
        assert not isinstance(answer, Refused), answer
        return answer

    def refused(self, channel: Channel, request: Request[Response]) -> Refused:
        answer = self.ask(channel, request)
        assert isinstance(answer, Refused), answer
        return answer

    def answer(self, response: Response | Command) -> None:
        """Answer what the broker last asked a client."""
        self.hear(Answered(token=self.asked.pop(0).token, response=response))

    def leave_unanswered(self, failure: Failure) -> None:
        self.hear(Unanswered(token=self.asked.pop(0).token, failure=failure))

    def wait(self, ms: int) -> None:
        """Let time go by, waking the broker whenever it asked to be."""
        until = self.now + ms
        while self._timers and min(self._timers.values()) <= until:
            timer = min(self._timers, key=lambda one: self._timers[one])
            self.now = max(self.now, self._timers.pop(timer))
            self.hear(Woken(timer=timer))
        self.now = until

    def _carry_out(self, effects: tuple[object, ...]) -> None:
        for effect in effects:
            match effect:
                case Respond(channel=channel, token=token, response=Response() as response):
                    self.answers[channel, token] = response
                case HandOn(channel=channel, token=token, answer=command):
                    self.handed_on[channel, token] = command
                case WakeAt(at=at, timer=timer):
                    self._timers[timer] = at
                case Push():
                    self.pushed.append(effect)
                case Ask():
                    self.asked.append(effect)
                case Close(channel=channel):
                    self.closed.append(channel)
                case State():
                    pass
                case _:
                    raise AssertionError(effect)

    # ---- what tests often do ----

    def put_topic(self, topic: str, queues: int = 1) -> None:
        self.broker.put_topic(topic, queues)
        registered = self.broker.registration()
        assert registered.body is not None
        self.routes.register(
            "east",
            0,
            address=registered.broker_addr,
            cluster=registered.cluster_name,
            topics=registered.body.topic_config_serialize_wrapper.topic_config_table,
            channel=None,
            at=self.now,
        )

    def send(
        self, channel: Channel, topic: str, body: str, queue_id: int = 0, **properties: str
    ) -> SendMessageResponse:
        return self.get(channel, sending(topic, body, queue_id, **properties))

    def join(self, channel: Channel, group: str, *topics: str, client: str = "A", tags: str = "*") -> HeartBeatResponse:
        return self.get(channel, joining(group, *topics, client=client, tags=tags))


def joining(group: str, *topics: str, client: str = "A", tags: str = "*") -> HeartBeat:
    wanted = tuple(subscription(topic, tags, version=1) for topic in (*topics, f"%RETRY%{group}"))
    consumer = ConsumerData(group_name=group, message_model=MessageModel.CLUSTERING, subscription_data_set=wanted)
    return HeartBeat(body=HeartbeatData(client_id=client, consumer_data_set=(consumer,)))


def sending(topic: str, body: str, queue_id: int = 0, **properties: str) -> SendMessageV2:
    return SendMessageV2(
        producer_group="PG",
        topic=topic,
        queue_id=queue_id,
        born_timestamp=START - 5,
        properties=encode_properties(properties),
        body=body.encode(),
    )


def pulling(topic: str, offset: int, queue_id: int = 0, group: str = "G", **fields: int) -> PullMessage:
    return PullMessage(
        consumer_group=group,
        topic=topic,
        queue_id=queue_id,
        queue_offset=offset,
        max_msg_nums=fields.get("most", 32),
        sys_flag=fields.get("sys_flag", SUSPENDS),
        commit_offset=fields.get("commit", 0),
        suspend_timeout_millis=15_000,
        sub_version=1,
    )


def messages(answer: Response) -> tuple[StoredMessage, ...]:
    assert isinstance(answer, PullMessageResponse), answer
    return decode_messages(answer.body)


def bodies(answer: Response) -> list[str]:
    return [message.body.decode() for message in messages(answer)]
