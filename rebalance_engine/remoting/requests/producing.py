"""Producing: one message, many in one, the end of a transaction, and taking a timer message back.

Sources: ``remoting/.../protocol/header/SendMessageRequestHeader.java``, ``SendMessageRequestHeaderV2.java``,
``SendMessageResponseHeader.java``, ``EndTransactionRequestHeader.java``, ``RecallMessageRequestHeader.java``;
``broker/.../processor/SendMessageProcessor.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.java import Int32
from rebalance_engine.remoting.requests.contract import Request, Response, RpcRequest

DEFAULT_TOPIC = "TBW102"  # ``TopicValidator.AUTO_CREATE_TOPIC_KEY_TOPIC``


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageResponse(Response):
    """The message is stored; the three codes besides SUCCESS say that fewer copies are safe than were wanted.

    Attributes:
        msg_id: the offset id.
        batch_uniq_id: for a batch, the unique ids, separated by commas.
        recall_handle: of a timer message that waits (5.3.2 and later): what a :class:`RecallMessage` needs.
    """

    CODES: ClassVar[frozenset[int]] = frozenset(
        {
            ResponseCode.SUCCESS,
            ResponseCode.FLUSH_DISK_TIMEOUT,
            ResponseCode.SLAVE_NOT_AVAILABLE,
            ResponseCode.FLUSH_SLAVE_TIMEOUT,
        }
    )
    NAMES: ClassVar[Mapping[str, str]] = {"msg_region": "MSG_REGION", "trace_on": "TRACE_ON"}

    msg_id: str
    queue_id: Int32
    queue_offset: int
    transaction_id: str | None = None
    batch_uniq_id: str | None = None
    recall_handle: str | None = None
    msg_region: str | None = None
    trace_on: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessage(RpcRequest[SendMessageResponse]):
    """Store a message; the first form, with names written out.

    Attributes:
        sys_flag: bits, see ``sysflags.MessageFlag``.
        flag: the application's own.
        properties: see ``properties``.
        born_timestamp: in ms.
        body: the message's body, compressed if ``sys_flag`` says so.
    """

    CODE = RequestCode.SEND_MESSAGE
    RESPONSE = SendMessageResponse

    producer_group: str
    topic: str
    default_topic: str = DEFAULT_TOPIC
    default_topic_queue_nums: Int32 = 4
    queue_id: Int32
    sys_flag: int = 0
    born_timestamp: int
    flag: int = 0
    properties: str | None = None
    reconsume_times: int = 0
    unit_mode: bool = False
    max_reconsume_times: int | None = None
    batch: bool = False
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendMessageV2(SendMessage):
    """Store a message; the second form, with names of one letter. This is what clients send."""

    CODE = RequestCode.SEND_MESSAGE_V2
    NAMES: ClassVar[Mapping[str, str]] = {
        "producer_group": "a",
        "topic": "b",
        "default_topic": "c",
        "default_topic_queue_nums": "d",
        "queue_id": "e",
        "sys_flag": "f",
        "born_timestamp": "g",
        "flag": "h",
        "properties": "i",
        "reconsume_times": "j",
        "unit_mode": "k",
        "max_reconsume_times": "l",
        "batch": "m",
        "bname": "n",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class SendBatchMessage(SendMessageV2):
    """Store several messages of one topic; ``body`` holds them in the form of ``batches``."""

    CODE = RequestCode.SEND_BATCH_MESSAGE

    batch: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class EndTransaction(RpcRequest[Response]):
    """Commit or roll back a prepared message; ``commit_or_rollback`` is the transaction's bits of the system flag."""

    CODE = RequestCode.END_TRANSACTION

    topic: str | None = None
    producer_group: str
    tran_state_table_offset: int
    commit_log_offset: int
    commit_or_rollback: int
    from_transaction_check: bool = False
    msg_id: str
    transaction_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTransactionState(RpcRequest[Response]):
    """Broker to producer, one-way: what became of this prepared message? ``body`` is the message, as stored."""

    CODE = RequestCode.CHECK_TRANSACTION_STATE

    topic: str | None = None
    tran_state_table_offset: int
    commit_log_offset: int
    msg_id: str | None = None
    transaction_id: str | None = None
    offset_msg_id: str | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessageResponse(Response):
    """The message will not be delivered; ``msg_id`` is its unique id."""

    msg_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallMessage(RpcRequest[RecallMessageResponse]):
    """Take back a timer message that waits, by the ``recall_handle`` that its send was answered with (5.3.2 on)."""

    CODE = RequestCode.RECALL_MESSAGE
    RESPONSE = RecallMessageResponse

    producer_group: str | None = None
    topic: str
    recall_handle: str


@dataclass(frozen=True, slots=True, kw_only=True)
class SendReplyMessage(SendMessage):
    """Reply to a message that asked for it; ``properties`` name the client that waits (``REPLY_TO_CLIENT``)."""

    CODE = RequestCode.SEND_REPLY_MESSAGE


@dataclass(frozen=True, slots=True, kw_only=True)
class SendReplyMessageV2(SendMessageV2):
    """The same in the second form. This is what clients send."""

    CODE = RequestCode.SEND_REPLY_MESSAGE_V2


@dataclass(frozen=True, slots=True, kw_only=True)
class PushReplyMessageToClient(Request[Response]):
    """Broker to producer: the reply to a message that asked for one."""

    CODE = RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT

    producer_group: str
    topic: str
    default_topic: str
    default_topic_queue_nums: Int32
    queue_id: Int32
    sys_flag: int
    born_timestamp: int
    flag: int
    properties: str | None = None
    reconsume_times: int | None = None
    unit_mode: bool = False
    born_host: str
    store_host: str
    store_timestamp: int
    body: bytes = b""
