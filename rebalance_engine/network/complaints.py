"""What keeps a client from its messages: said once for each reason, and once more when it is over.

A machine tries again by itself, as Java's does, and says nothing; who waits for messages should not have to guess.
What nobody tried again for long, such as a send to a topic that was refused, is past: whether it would still be so is
not known.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass

from rebalance_engine.effects import Address
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageQueue
from rebalance_engine.network.homes import Homes, writable
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.acl import is_refused_by_acl
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenMessage, RemotingError
from rebalance_engine.remoting.messages import StoredMessage
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.remoting.requests.producing import SendMessage

logger = logging.getLogger(__name__)

OF_SUBSCRIPTION: dict[int, str] = {
    ResponseCode.SUBSCRIPTION_NOT_EXIST: "it does not know the subscription",
    ResponseCode.SUBSCRIPTION_NOT_LATEST: "it does not know the newest version of the subscription",
}
FAIR_MS = 100  # a healthy answer may need so long; who got less time is not accused of silence
MOST_IN_A_ROW = 3  # refused pulls of a queue; so many can come with a change of the group, and mean nothing
DEFAULT_TOPIC = "TBW102"  # ``TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC``: is asked for, and need not be there
MOST = 1_000  # reasons that are kept
MOST_PAST = 100
PAST_AFTER_S = 600.0  # what is tried again at all is within a minute, unless intervals are set to be longer
LOOKS_EVERY_S = 1.0

Reason = tuple[str, str, str]  # what, of whom, of which topic
Refusal = tuple[type, MessageQueue | None]  # a request's kind, and for which queue we asked


@dataclass(slots=True)
class _Said:
    """A trouble in words, and when it was last met; None: it lasts until it is taken back."""

    words: str
    met_at: float | None


class Complaints:
    """The troubles of one client, as its answers show them.

    Args:
        name: of the client, for the log.
        clock: gives the seconds since any moment.

    Attributes:
        on_given_up: is told of a topic that is given up; for who says something of topics himself.
    """

    def __init__(self, name: str, clock: Callable[[], float]) -> None:
        self._name = name
        self._clock = clock
        self._homes = Homes()
        self._said: dict[Reason, _Said] = {}
        self._past: dict[Reason, _Said] = {}  # the oldest make room
        self._refused: dict[Reason, dict[Refusal, str]] = {}  # in which words; brokers allow one topic, and one kind
        self._refused_pulls: dict[MessageQueue, int] = {}
        self._looked_at = -math.inf
        self._given_up: dict[str, None] = {}  # in the order in which they were; the oldest make room
        self.on_given_up: Callable[[str], None] = lambda _topic: None

    @property
    def now(self) -> tuple[str, ...]:
        """All that is wrong, a sentence each."""
        self._let_pass()
        return tuple(said.words for said in self._said.values())

    @property
    def past(self) -> tuple[str, ...]:
        """What was wrong when it was last tried, long ago."""
        self._let_pass()
        at = self._clock()
        return tuple(f"{said.words} ({_ago(said, at)}, and not tried since)" for said in self._past.values())

    def unanswered(self, error: NoAnswer, timeout_ms: float = math.inf) -> None:
        """Note that somebody did not answer; who is in no route any more, or had hardly any time, needs not.

        Args:
            timeout_ms: how long an answer was waited for, the making of a connection included.
        """
        if timeout_ms >= FAIR_MS and not self._homes.were_left(error.address):
            why = error.detail or error.failure.value
            self._begin(("reach", error.address, ""), f"{error.address} does not answer: {why}")

    def answered(self, by: Address, request: object, answer: object) -> None:
        """Note what somebody answered."""
        if self._said or self._past:
            self._let_pass()
            self._end(("reach", by, ""), f"{by} answers again")
        if isinstance(request, PullMessage):
            self._note_pull(request, answer)
        if isinstance(answer, Refused):
            self._note_refusal(by, request, answer)
            return
        if isinstance(answer, GetRouteInfoByTopicResponse) and isinstance(request, GetRouteInfoByTopic):
            self._note_route(request.topic, answer.body)
        if self._said or self._past:
            self._note_success(by, request)

    def garbled(self, by: Address, request: object, error: RemotingError) -> None:
        """Note that nobody can read what somebody answered; it is over with an answer to the same that can be read."""
        if not self.has_given_up(_topic_of(request)):
            self._refuse(by, request, f"what {by} answers to {_named(request)} cannot be read: {error}")

    def dropped(self, mq: MessageQueue) -> None:
        """Note that a queue is not asked for any more; nobody will hear whether it could be."""
        if self._refused_pulls and self._refused_pulls.pop(mq, 0) > MOST_IN_A_ROW:
            self._end_refused_pulls(mq)
        for reason in [reason for reason in self._refused if reason[2] == mq.topic]:
            gone = [refusal for refusal in self._refused[reason] if refusal[1] == mq]
            self._forget(reason, gone, f"{reason[1]} is not asked any more for {_shown(mq)}")

    def give_up(self, topic: str) -> None:
        """Note that the application wants a topic no more: nothing is wrong with it, and late answers mean nothing."""
        self._given_up[topic] = None
        if len(self._given_up) > MOST:
            del self._given_up[next(iter(self._given_up))]
        for mq in [mq for mq in self._refused_pulls if mq.topic == topic]:
            self.dropped(mq)
        for reason in [reason for reason in (*self._said, *self._past) if reason[2] == topic]:
            self._refused.pop(reason, None)
            self._end(reason, f"topic {topic!r} is not wanted any more")
        self._leave(self._homes.forget(topic))
        self.on_given_up(topic)

    def want(self, topic: str) -> None:
        """Note that a topic is wanted, again perhaps."""
        self._given_up.pop(topic, None)

    def has_given_up(self, topic: str | None) -> bool:
        """Whether the application wants a topic no more."""
        return topic in self._given_up

    def unreadable(self, stored: StoredMessage | None, error: BrokenMessage) -> None:
        """Note that a message cannot be read, and is skipped; of None all that came with it behind that point."""
        if stored is None:
            what, topic, where = "what a broker sent", "", "the rest of an answer"
        else:
            what, topic = f"{stored.topic}/{stored.queue_id} at {stored.store_host.ip}", stored.topic
            where = f"the message at offset {stored.queue_offset} of {what}"
        words = f"{where} cannot be read, and is skipped: {error}"
        logger.warning("%s: %s", self._name, words)
        self._said.pop(("unread", what, topic), None)  # the last one is told
        self._begin(("unread", what, topic), words, is_logged=True)

    def say(self, what: str, words: str) -> None:
        """Say once what is wrong with something else than answers."""
        self._begin((what, "", ""), words, lasts=True)

    def take_back(self, what: str, words: str) -> None:
        """Say that it is over, if it was said."""
        self._end((what, "", ""), words)

    # ---- what answers say ----

    def _note_refusal(self, by: Address, request: object, refused: Refused) -> None:
        topic = _topic_of(request)
        if self.has_given_up(topic):
            return
        if isinstance(request, GetRouteInfoByTopic) and refused.code == ResponseCode.TOPIC_NOT_EXIST:
            if topic != DEFAULT_TOPIC and not topic.startswith(RETRY_TOPIC_PREFIX):
                self._begin(("topic", "", topic), f"there is no topic {topic!r}, says {by}; it is looked for again")
        elif _is_trouble(refused):
            self._refuse(by, request, f"{by} refuses {_named(request)}: {refused.remark or f'code {refused.code}'}")

    def _refuse(self, by: Address, request: object, words: str) -> None:
        reason, refusal = ("refusal", by, _topic_of(request)), _refusal_of(request)
        known = self._refused.get(reason, {})
        if refusal in known or (len(known) < MOST and len(self._refused) < MOST):
            self._refused[reason] = known | {refusal: words}
            self._begin(reason, words)

    def _note_pull(self, pull: PullMessage, answer: object) -> None:
        mq = MessageQueue(pull.topic, pull.bname or "", pull.queue_id)
        if not isinstance(answer, Refused):
            if self._refused_pulls.pop(mq, 0) > MOST_IN_A_ROW:
                self._end_refused_pulls(mq)
        elif self.has_given_up(mq.topic):
            return
        elif (why := OF_SUBSCRIPTION.get(answer.code)) and (mq in self._refused_pulls or self._has_room):
            self._refused_pulls[mq] = count = self._refused_pulls.get(mq, 0) + 1
            if count > MOST_IN_A_ROW:
                words = f"{mq.broker} refuses pulls of topic {mq.topic!r}, {count} in a row: {why}"
                self._begin(_pulls_of(mq), f"{words} (code {answer.code})")

    @property
    def _has_room(self) -> bool:
        return len(self._refused_pulls) < MOST

    def _end_refused_pulls(self, mq: MessageQueue) -> None:
        """Say that it is over, unless another queue of the topic is still refused there."""
        others = (_pulls_of(other) for other, count in self._refused_pulls.items() if count > MOST_IN_A_ROW)
        if _pulls_of(mq) not in others:
            self._end(_pulls_of(mq), f"{mq.broker} refuses no more pulls of topic {mq.topic!r}")

    def _note_success(self, by: Address, request: object) -> None:
        topic = _topic_of(request)
        if isinstance(request, GetRouteInfoByTopic):
            self._end(("topic", "", topic), f"topic {topic!r} is there now")
        of = f" of topic {topic!r}" if topic else ""
        self._forget(("refusal", by, topic), [_refusal_of(request)], f"{by} accepts again what it refused{of}")

    def _note_route(self, topic: str, route: TopicRouteData) -> None:
        """Take back what a route makes past: who is in none, and who is no broker to send to."""
        if topic != DEFAULT_TOPIC and not self.has_given_up(topic):
            self._leave(self._homes.learn(topic, route))
        refused = [reason for reason in self._refused if reason[2] == topic]
        for reason in refused and [reason for reason in refused if reason[1] not in writable(route)]:
            sends = [refusal for refusal in self._refused[reason] if issubclass(refusal[0], SendMessage)]
            self._forget(reason, sends, f"messages of topic {topic!r} are not sent to {reason[1]} any more")

    def _leave(self, gone: Collection[Address]) -> None:
        for reason in [reason for reason in (*self._said, *self._past) if reason[1] in gone]:
            self._refused.pop(reason, None)
            self._end(reason, f"no route names {reason[1]} any more")

    def _forget(self, reason: Reason, refusals: Iterable[Refusal], words: str) -> None:
        """Note what is refused no more, in these words if it is all; what still is stands in the words of its own."""
        known = self._refused.get(reason)
        if known is None:
            return
        left = {refusal: said for refusal, said in known.items() if refusal not in refusals}
        if not left:
            del self._refused[reason]
            self._end(reason, words)
        elif len(left) < len(known):
            self._refused[reason] = left
            for said in (one[reason] for one in (self._said, self._past) if reason in one):
                said.words = said.words if said.words in left.values() else next(iter(left.values()))

    # ---- what is said, and how long ----

    def _begin(self, reason: Reason, words: str, *, lasts: bool = False, is_logged: bool = False) -> None:
        met_at = None if lasts else self._clock()
        self._past.pop(reason, None)
        if reason in self._said:
            self._said[reason].met_at = met_at
        elif len(self._said) < MOST:
            self._said[reason] = _Said(words, met_at)
            if not is_logged:
                logger.warning("%s: %s", self._name, words)

    def _end(self, reason: Reason, words: str) -> None:
        was_past = self._past.pop(reason, None) is not None
        if self._said.pop(reason, None) is not None or was_past:
            logger.info("%s: %s", self._name, words)

    def _let_pass(self) -> None:
        """Take for past what nobody met for long."""
        at = self._clock()
        if at < self._looked_at + LOOKS_EVERY_S:
            return
        self._looked_at = at
        for reason in [reason for reason, said in self._said.items() if _is_before(said, at - PAST_AFTER_S)]:
            self._past[reason] = said = self._said.pop(reason)
            logger.info("%s: %s (%s, and not tried since)", self._name, said.words, _ago(said, at))
        while len(self._past) > MOST_PAST:
            forgotten = next(iter(self._past))
            del self._past[forgotten]
            self._refused.pop(forgotten, None)


def _is_before(said: _Said, at: float) -> bool:
    return said.met_at is not None and said.met_at < at


def _ago(said: _Said, at: float) -> str:
    assert said.met_at is not None, "what lasts does not pass"
    return f"{(at - said.met_at) / 60:.0f} min ago"


def _topic_of(request: object) -> str:
    topic = getattr(request, "topic", None)
    return topic if isinstance(topic, str) else ""


def _named(request: object) -> str:
    topic = _topic_of(request)
    return type(request).__name__ + (f" of topic {topic!r}" if topic else "")


def _refusal_of(request: object) -> Refusal:
    """Say what was refused; sends are allowed or refused for all queues of a topic."""
    broker, queue_id = getattr(request, "bname", None), getattr(request, "queue_id", None)
    if isinstance(request, SendMessage) or broker is None or queue_id is None:
        return type(request), None
    return type(request), MessageQueue(_topic_of(request), broker, queue_id)


def _shown(mq: MessageQueue) -> str:
    return f"{mq.topic}/{mq.broker}/{mq.queue_id}"


def _pulls_of(mq: MessageQueue) -> Reason:
    return "pull", mq.broker, mq.topic


def _is_trouble(refused: Refused) -> bool:
    is_unknown_group = refused.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    return is_unknown_group or is_refused_by_acl(refused.code, refused.remark)
