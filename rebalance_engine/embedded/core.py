"""What all rooms of one broker share: its tables, its messages, and what it has to say at the end of a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from rebalance_engine.effects import Address, Channel, Effect
from rebalance_engine.embedded.rates import Rates
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.embedded.store import MessageStore
from rebalance_engine.embedded.topics import READ_WRITE
from rebalance_engine.membership.machine import Broker
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.messages import Host
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

REGION = "DefaultRegion"
OLD_FAQ = "http://rocketmq.apache.org/docs/faq/"
NEW_FAQ = "https://rocketmq.apache.org/docs/bestPractice/06FAQ"
PUT = "TOPIC_PUT_NUMS"  # ``BrokerStatsManager.java``
PUT_SIZE = "TOPIC_PUT_SIZE"
GOT = "GROUP_GET_NUMS"
GOT_SIZE = "GROUP_GET_SIZE"
SENT_BACK = "SNDBCK_PUT_NUMS"
ALL_PUT = "BROKER_PUT_NUMS"
ALL_GOT = "BROKER_GET_NUMS"


@dataclass(frozen=True, slots=True)
class Ask:
    """An effect: ask the client at the other end of a channel; Answered or Unanswered of this token follows.

    Attributes:
        unread: whether the response that is heard is the frame as it came, a ``Command``.
    """

    channel: Channel
    request: Request[Response]
    token: int
    timeout_ms: int
    unread: bool = False


@dataclass(frozen=True, slots=True)
class HandOn:
    """An effect: answer a request with the frame with which a client answered."""

    channel: Channel
    token: int
    answer: Command


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """A request that is served.

    Attributes:
        token: what an answer must name; None where none is wanted.
        caller: the address from which it came.
        at: what time it is, in ms.
    """

    channel: Channel
    request: Request[Response]
    token: int | None
    caller: Address
    language: Language
    version: int
    at: int

    @property
    def host(self) -> Host:
        """Where it came from, as it is written into messages."""
        return host_of(self.caller)


@dataclass(slots=True)
class Core:
    """One broker's state, for its rooms.

    Attributes:
        outbox: effects of this step, in order.
        permission: ``brokerPermission``; an operator may take reading or writing away while it runs.
        booted_at: when this run began, in ms.
        on_arrival: is told of each message that can be seen now: topic, queue id, hash of its tag, time.
    """

    settings: EmbeddedSettings
    membership: Broker
    store: MessageStore
    booted_at: int
    rates: Rates = field(default_factory=Rates)
    outbox: list[Effect | Ask | HandOn] = field(default_factory=list)
    permission: int = READ_WRITE
    on_arrival: Callable[[str, int, int, int], None] = lambda _topic, _queue, _tag, _at: None

    @property
    def host(self) -> Host:
        """Where this broker listens."""
        return host_of(self.settings.membership.address)

    def find_topic(self, topic: str) -> TopicConfig | None:
        """Look a topic up."""
        return self.membership.topics.find(topic)

    def see_faq(self) -> str:
        """Say where Java's remarks lead."""
        faq = NEW_FAQ if self.settings.is_since((5, 1, 0)) else OLD_FAQ
        return f"\nSee {faq} for further details."


def host_of(address: Address) -> Host:
    """Read ``ip:port``.

    >>> host_of("127.0.0.1:10911")
    Host(ip='127.0.0.1', port=10911)
    """
    ip, _, port = address.rpartition(":")
    return Host(ip.strip("[]"), int(port))


def refuse(code: ResponseCode, remark: str) -> Refused:
    """Refuse, in Java's words."""
    return Refused(code=code, remark=remark)
