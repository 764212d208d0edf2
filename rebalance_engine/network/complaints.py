"""What keeps a client from its messages: said once for each reason, and once more when it is over.

A machine tries again by itself, as Java's does, and says nothing; who waits for messages should not have to guess.
"""

from __future__ import annotations

import logging

from rebalance_engine.effects import Address
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.acl import is_refused_by_acl
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic

logger = logging.getLogger(__name__)

DEFAULT_TOPIC = "TBW102"  # ``TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC``: is asked for, and need not be there
MOST = 1_000  # reasons that are kept

Reason = tuple[str, Address | str]


class Complaints:
    """The troubles of one client, as its answers show them.

    Args:
        name: of the client, for the log.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: dict[Reason, str] = {}
        self._refused: dict[Address, set[type]] = {}

    @property
    def now(self) -> tuple[str, ...]:
        """All that is wrong, a sentence each."""
        return tuple(self._said.values())

    def unanswered(self, error: NoAnswer) -> None:
        """Note that somebody did not answer."""
        why = error.detail or error.failure.value
        self._begin(("reach", error.address), f"{error.address} does not answer: {why}")

    def answered(self, by: Address, request: object, answer: object) -> None:
        """Note what somebody answered."""
        if self._said:
            self._end(("reach", by), f"{by} answers again")
        if isinstance(answer, Refused):
            self._note_refusal(by, request, answer)
        elif self._said:
            self._note_success(by, request)

    def say(self, what: str, words: str) -> None:
        """Say once what is wrong with something else than answers."""
        self._begin((what, ""), words)

    def take_back(self, what: str, words: str) -> None:
        """Say that it is over, if it was said."""
        self._end((what, ""), words)

    def _note_refusal(self, by: Address, request: object, refused: Refused) -> None:
        if isinstance(request, GetRouteInfoByTopic) and refused.code == ResponseCode.TOPIC_NOT_EXIST:
            topic = request.topic
            if topic != DEFAULT_TOPIC and not topic.startswith(RETRY_TOPIC_PREFIX):
                self._begin(("topic", topic), f"there is no topic {topic!r}, says {by}; it is looked for again")
        elif _is_trouble(refused):
            self._refused.setdefault(by, set()).add(type(request))
            words = f"{by} refuses {type(request).__name__}: {refused.remark or f'code {refused.code}'}"
            self._begin(("refusal", by), words)

    def _note_success(self, by: Address, request: object) -> None:
        if isinstance(request, GetRouteInfoByTopic):
            self._end(("topic", request.topic), f"topic {request.topic!r} is there now")
        kinds = self._refused.get(by)
        if kinds is not None:
            kinds.discard(type(request))
            if not kinds:
                del self._refused[by]
                self._end(("refusal", by), f"{by} accepts again what it refused")

    def _begin(self, reason: Reason, words: str) -> None:
        if reason not in self._said and len(self._said) < MOST:
            self._said[reason] = words
            logger.warning("%s: %s", self._name, words)

    def _end(self, reason: Reason, words: str) -> None:
        if self._said.pop(reason, None) is not None:
            logger.info("%s: %s", self._name, words)


def _is_trouble(refused: Refused) -> bool:
    is_unknown_group = refused.code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    return is_unknown_group or is_refused_by_acl(refused.code, refused.remark)
