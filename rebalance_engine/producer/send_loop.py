"""One call of ``send``: what was tried, what became of it, and what the caller gets.

The loops themselves are in ``java_loop``, ``cpp_loop`` and ``go_loop``; this is what they share.

Sources: ``client/.../impl/producer/DefaultMQProducerImpl.java`` (``sendDefaultImpl``, ``sendKernelImpl``),
``client/.../impl/MQClientAPIImpl.java`` (``processSendResponse``), ``client/.../common/ClientErrorCode.java``.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from enum import Enum, IntEnum

from rebalance_engine.effects import Answered, Failure, Unanswered
from rebalance_engine.events import SendOutcome
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.selection import Choice
from rebalance_engine.producer.tasks import Interrupted, Reply
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.producing import SendMessageResponse


class Mode(Enum):
    """How the caller waits (``CommunicationMode``)."""

    SYNC = "sync"
    ASYNC = "async"
    ONEWAY = "oneway"


class ClientErrorCode(IntEnum):
    """Codes that the Java client makes up itself."""

    CONNECT_BROKER_EXCEPTION = 10001
    ACCESS_BROKER_TIMEOUT = 10002
    BROKER_NOT_EXIST_EXCEPTION = 10003
    NO_NAME_SERVER_EXCEPTION = 10004
    NOT_FOUND_TOPIC_EXCEPTION = 10005


class Error(Enum):
    """What the caller gets instead of a result, named as Java names it; C++ and Go have fewer kinds."""

    CLIENT = "MQClientException"
    BROKER = "MQBrokerException"
    REMOTING = "RemotingException"
    TOO_MANY = "RemotingTooMuchRequestException"
    ILLEGAL_STATE = "IllegalStateException"
    INTERRUPTED = "InterruptedException"


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What an application sends.

    Attributes:
        body: as it goes out, compressed if ``sys_flag`` says so.
        properties: in the form of the wire.
        is_batch: ``body`` holds several messages.
        reconsume_times, max_reconsume_times: of messages to a retry topic.
    """

    topic: str
    body: bytes = b""
    properties: str | None = None
    sys_flag: int = 0
    flag: int = 0
    is_batch: bool = False
    reconsume_times: int = 0
    max_reconsume_times: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A result; ``response`` says how safely it is stored, and is None for a one-way send."""

    queue: MessageQueue
    response: SendMessageResponse | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An exception; ``code`` is the broker's or a :class:`ClientErrorCode`, -1 where there is none."""

    error: Error
    text: str
    code: int = -1


Result = Sent | Failed


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of one attempt.

    Attributes:
        code: the broker's, or -1.
        failure: why no answer came.
        text: what to tell people.
        is_too_late: the timeout was over before anything was sent.
    """

    kind: SendOutcome
    code: int = -1
    failure: Failure | None = None
    text: str = ""
    response: SendMessageResponse | None = None
    is_too_late: bool = False

    @property
    def is_stored(self) -> bool:
        """Whether the broker has the message, be it with fewer copies than wanted."""
        return self.response is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One attempt of a call; times in ms.

    Attributes:
        choice: why this queue; None where the application named it or a retry kept it.
        broker: where it really went: an asynchronous retry keeps the queue id and changes the broker.
        latency_ms, outcome: None while it is under way.
    """

    queue: MessageQueue
    broker: str | None
    began_at: int
    choice: Choice | None = None
    latency_ms: int | None = None
    outcome: Outcome | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Story:
    """A call as a value: what was tried, and the result, None while it is under way."""

    number: int
    topic: str
    mode: Mode
    thread: Hashable
    began_at: int
    ended_at: int | None
    attempts: tuple[Attempt, ...]
    result: Result | None


@dataclass(slots=True, kw_only=True)
class Call:
    """A call that is under way. ``timeout_ms`` is for all of it, or for each attempt, as the profile says."""

    number: int
    message: Message
    mode: Mode
    thread: Hashable
    began_at: int
    timeout_ms: int
    attempts: list[Attempt] = field(default_factory=list)
    result: Result | None = None
    ended_at: int | None = None

    @property
    def topic(self) -> str:
        """Where the message goes."""
        return self.message.topic

    def begin(self, queue: MessageQueue, broker: str | None, at: int, choice: Choice | None = None) -> None:
        """Note that an attempt starts."""
        self.attempts.append(Attempt(queue=queue, broker=broker, began_at=at, choice=choice))

    def conclude(self, outcome: Outcome, at: int) -> Attempt:
        """Note what became of the attempt under way."""
        attempt = self.attempts[-1]
        self.attempts[-1] = replace(attempt, latency_ms=at - attempt.began_at, outcome=outcome)
        return self.attempts[-1]

    def story(self) -> Story:
        """Tell it as a value."""
        return Story(
            number=self.number,
            topic=self.topic,
            mode=self.mode,
            thread=self.thread,
            began_at=self.began_at,
            ended_at=self.ended_at,
            attempts=tuple(self.attempts),
            result=self.result,
        )


def outcome_of(reply: Reply) -> Outcome:
    """Read what came back for a request to store a message."""
    if isinstance(reply, Interrupted):
        return Outcome(kind=SendOutcome.INTERRUPTED, text="the thread was interrupted")
    if isinstance(reply, Unanswered):
        return Outcome(kind=SendOutcome.REMOTING_ERROR, failure=reply.failure, text=reply.failure.value)
    response = reply.response if isinstance(reply, Answered) else reply
    if isinstance(response, SendMessageResponse):
        kind = SendOutcome.OK if response.code == ResponseCode.SUCCESS else SendOutcome.NOT_STORED
        return Outcome(kind=kind, code=response.code, response=response)
    if isinstance(response, Refused):
        return Outcome(kind=SendOutcome.BROKER_ERROR, code=response.code, text=response.remark or "")
    return Outcome(kind=SendOutcome.REMOTING_ERROR, text=f"the answer is a {type(response).__name__}")


def sent(call: Call, outcome: Outcome) -> Sent:
    """Make the result of an attempt that was stored; the broker says in which queue it really is."""
    response, attempt = outcome.response, call.attempts[-1]
    assert response is not None and attempt.broker is not None
    return Sent(queue=MessageQueue(call.topic, attempt.broker, response.queue_id), response=response)


def raised(outcome: Outcome) -> Failed:
    """Make the exception of an attempt that nobody retries, as it leaves the client unwrapped."""
    if outcome.is_too_late:
        return Failed(error=Error.TOO_MANY, text=outcome.text)
    return Failed(error=_ERRORS[outcome.kind], text=outcome.text, code=outcome.code)


_ERRORS = {
    SendOutcome.CLIENT_ERROR: Error.CLIENT,
    SendOutcome.REMOTING_ERROR: Error.REMOTING,
    SendOutcome.BROKER_ERROR: Error.BROKER,
    SendOutcome.INTERRUPTED: Error.INTERRUPTED,
}
