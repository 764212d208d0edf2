"""Messages that are seen only when their producer says so: prepared, committed, rolled back, asked about.

A prepared message is stored under a topic of RocketMQ's own, with its real topic and queue among its properties. What
is decided about it is a message of another such topic, whose body is the offset of the prepared one; so both survive a
restart. One that nobody decided about is asked about: it is stored again, with how often that was, and its producer
group is told where it is now. As in RocketMQ a commit that comes twice is a message that comes twice.

Sources: ``broker/.../processor/EndTransactionProcessor.java``, ``broker/.../transaction/``:
``TransactionalMessageServiceImpl.java`` (``check``), ``TransactionalMessageBridge.java``,
``DefaultTransactionalMessageCheckListener.java``, ``AbstractTransactionalMessageCheckListener.java``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from rebalance_engine.effects import Push
from rebalance_engine.embedded import topics
from rebalance_engine.embedded.core import Call, Core, refuse
from rebalance_engine.embedded.store import Draft, Kept, draft_of, properties_of
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.message_ids import offset_id
from rebalance_engine.remoting.messages import StoredMessage, decode_messages, encode_message
from rebalance_engine.remoting.properties import REAL_QUEUE_ID, REAL_TOPIC, TAGS, UNIQ_KEY
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.producing import CheckTransactionState, EndTransaction
from rebalance_engine.remoting.sysflags import MessageFlag

HALF_TOPIC, DECIDED_TOPIC = "RMQ_SYS_TRANS_HALF_TOPIC", "RMQ_SYS_TRANS_OP_HALF_TOPIC"
GIVEN_UP_TOPIC = "TRANS_CHECK_MAX_TIME_TOPIC"
PREPARED, PRODUCER_GROUP, TRANSACTION_ID = "TRAN_MSG", "PGROUP", "__transactionId__"
CHECK_TIMES, IMMUNITY_S = "TRANSACTION_CHECK_TIMES", "CHECK_IMMUNITY_TIME_IN_SECONDS"
REMOVED = "d"
KEPT_MS = 72 * 3_600_000  # ``fileReservedTime``; a prepared message that is older is given up
COMMIT, ROLLBACK = int(MessageFlag.TRANSACTION_COMMIT), int(MessageFlag.TRANSACTION_ROLLBACK)

Keep = Callable[[Draft, int], Kept | Refused]


def is_prepared(properties: Mapping[str, str]) -> bool:
    """Say whether a producer wants to decide later about a message."""
    return properties.get(PREPARED, "").lower() == "true"


class Transactions:
    """The room of whoever decides later.

    Args:
        core: of the broker.
        keep: stores a message as it is; ``deliver`` stores one now, or for later if it says so.
    """

    def __init__(self, core: Core, keep: Keep, deliver: Keep) -> None:
        self._core = core
        self._keep = keep
        self._deliver = deliver
        self._undecided = self._recover()
        self._asked = 0
        self.serves: Mapping[type, Callable[[Call, Any], Response | None]] = {EndTransaction: self._end}

    def _recover(self) -> dict[int, None]:
        """Find the offsets of those that were prepared and not decided, in order."""
        store = self._core.store
        undecided = dict.fromkeys(range(store.begin(HALF_TOPIC, 0), store.end(HALF_TOPIC, 0)))
        begin, end = store.begin(DECIDED_TOPIC, 0), store.end(DECIDED_TOPIC, 0)
        for data in store.messages(DECIDED_TOPIC, 0, begin, end - begin):
            for word in decode_messages(data)[0].body.decode("ascii", "replace").split(","):
                if word.isdigit():
                    undecided.pop(int(word), None)
        return undecided

    # ---- prepared ----

    def prepare(self, draft: Draft, at: int) -> Kept | Refused:
        """Store a message where nobody sees it."""
        unique_id = draft.properties.get(UNIQ_KEY)
        own = {TRANSACTION_ID: unique_id} if unique_id else {}
        own |= {REAL_TOPIC: draft.topic, REAL_QUEUE_ID: str(draft.queue_id)}
        return self._keep_half(replace(draft, properties={**draft.properties, **own}), at)

    def _keep_half(self, draft: Draft, at: int) -> Kept | Refused:
        self._ensure(HALF_TOPIC)
        half = replace(draft, topic=HALF_TOPIC, queue_id=0, sys_flag=draft.sys_flag & ~ROLLBACK)
        kept = self._keep(half, at)
        if isinstance(kept, Kept):
            self._undecided[kept.offset] = None
        return kept

    def _ensure(self, topic: str) -> None:
        if self._core.find_topic(topic) is None:
            self._core.membership.put_topic(topics.make(self._core.settings, topic, 1))

    # ---- decided ----

    def _end(self, call: Call, request: EndTransaction) -> Response | None:
        if request.commit_or_rollback not in {COMMIT, ROLLBACK}:
            return None  # not known yet; Java does not answer that either
        half = self._core.store.message_at(request.commit_log_offset)
        if half is None or half.topic != HALF_TOPIC:
            return refuse(ResponseCode.SYSTEM_ERROR, "Find prepared transaction message failed")
        refused = self._why_not(request, half, call.at)
        if refused is not None:
            return refused
        if request.commit_or_rollback == COMMIT:
            kept = self._deliver(_committed(half), call.at)
            if isinstance(kept, Refused):
                return kept
        self._decide(half.queue_offset, call.at)
        return Response()

    def _why_not(self, request: EndTransaction, half: StoredMessage, at: int) -> Refused | None:
        own = half.properties
        if IMMUNITY_S in own and not request.from_transaction_check and at - half.born_timestamp > self._immune_ms(own):
            return Refused(code=ResponseCode.ILLEGAL_OPERATION)  # its producer will be asked
        if own.get(PRODUCER_GROUP) != request.producer_group:
            return refuse(ResponseCode.SYSTEM_ERROR, "The producer group wrong")
        if half.queue_offset != request.tran_state_table_offset:
            return refuse(ResponseCode.SYSTEM_ERROR, "The transaction state table offset wrong")
        return None

    def _decide(self, offset: int, at: int) -> None:
        self._undecided.pop(offset, None)
        self._ensure(DECIDED_TOPIC)
        host = self._core.host
        is_5 = self._core.settings.is_since((5, 0, 0))
        body = f"{offset}," if is_5 else str(offset)
        properties = {TAGS: REMOVED}
        self._keep(
            Draft(
                topic=DECIDED_TOPIC,
                queue_id=0,
                body=body.encode(),
                properties=properties,
                born_timestamp=at,
                born_host=host,
            ),
            at,
        )

    # ---- asked about ----

    def check(self, at: int) -> None:
        """Ask about those that nobody decided about in time, the oldest first."""
        for offset in tuple(self._undecided):
            data = next(self._core.store.messages(HALF_TOPIC, 0, offset, 1), None)
            if data is None:
                del self._undecided[offset]  # it went with the oldest messages
                continue
            half = decode_messages(data)[0]
            own = properties_of(half)
            if _times(own) >= self._core.settings.transaction_checks or at - half.born_timestamp > KEPT_MS:
                self._give_up(half, at)
            elif at - half.born_timestamp >= self._immune_ms(own):
                self._ask(half, own, at)
            elif IMMUNITY_S not in own:
                break  # those after it are younger

    def _immune_ms(self, properties: Mapping[str, str]) -> int:
        word = properties.get(IMMUNITY_S, "")
        if word.isascii() and word.isdigit() and len(word) < 10:
            return int(word) * 1_000
        return self._core.settings.transaction_timeout_ms

    def _give_up(self, half: StoredMessage, at: int) -> None:
        self._ensure(GIVEN_UP_TOPIC)
        self._keep(replace(draft_of(half), topic=GIVEN_UP_TOPIC, queue_id=0), at)
        self._decide(half.queue_offset, at)

    def _ask(self, half: StoredMessage, own: dict[str, str], at: int) -> None:
        own[CHECK_TIMES] = str(_times(own) + 1)
        kept = self._keep_half(replace(draft_of(half), properties=own), at)
        if isinstance(kept, Refused):
            return
        self._decide(half.queue_offset, at)
        data = self._core.store.at_position(kept.position)
        producers = self._core.membership.producers.find(own.get(PRODUCER_GROUP, "")) or ()
        if data is None or not producers:
            return  # again with the next check
        again = decode_messages(data)[0]
        self._asked += 1
        asked = producers[self._asked % len(producers)]
        self._core.outbox.append(Push(channel=asked.peer.channel, request=self._question(again, own)))

    def _question(self, half: StoredMessage, own: Mapping[str, str]) -> CheckTransactionState:
        real = replace(half, topic=own[REAL_TOPIC], queue_id=int(own[REAL_QUEUE_ID]))
        return CheckTransactionState(
            topic=half.topic,
            tran_state_table_offset=half.queue_offset,
            commit_log_offset=half.commit_log_offset,
            msg_id=own.get(UNIQ_KEY),
            transaction_id=own.get(UNIQ_KEY),
            offset_msg_id=offset_id(self._core.host, half.commit_log_offset),
            bname=self._core.settings.membership.broker,
            body=encode_message(real),
        )


def _times(properties: Mapping[str, str]) -> int:
    word = properties.get(CHECK_TIMES, "")
    return int(word) if word.isascii() and word.isdigit() and len(word) < 10 else 0


def _committed(half: StoredMessage) -> Draft:
    own = properties_of(half)
    topic, queue_id = own.pop(REAL_TOPIC), int(own.pop(REAL_QUEUE_ID))
    own.pop(PREPARED, None)
    return replace(
        draft_of(half),
        topic=topic,
        queue_id=queue_id,
        properties=own,
        sys_flag=half.sys_flag | COMMIT,
        prepared_transaction_offset=half.commit_log_offset,
    )
