"""Popping (5.x): messages that whoever asks first gets, and that come again unless they are acknowledged in time.

The codes do not fit into a binary header, so these requests travel with JSON headers only.

Sources: ``remoting/.../protocol/header/PopMessage*Header.java``, ``AckMessageRequestHeader.java``,
``ChangeInvisibleTime*Header.java``; ``broker/.../processor/PopMessageProcessor.java``, ``AckMessageProcessor.java``,
``ChangeInvisibleTimeProcessor.java``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from rebalance_engine.remoting.codes import RequestCode, ResponseCode
from rebalance_engine.remoting.java import Int32
from rebalance_engine.remoting.requests.contract import Response, RpcRequest

FROM_MIN, FROM_MAX = 0, 1  # ``ConsumeInitMode.java``: where a group starts that never popped a queue


@dataclass(frozen=True, slots=True, kw_only=True)
class PopMessageResponse(Response):
    """What the broker found; ``body`` is stored messages, one after another.

    It comes with these fields for SUCCESS (found), PULL_NOT_FOUND, POLLING_TIMEOUT (waited in vain) and POLLING_FULL
    (too many wait already).

    Attributes:
        pop_time: when they were popped, in ms; they come again ``invisible_time`` ms later.
        revive_qid: the queue of the broker's own topic in which the pop is noted.
        rest_num: how many more there are.
        start_offset_info: rows ``retry queue offset``, joined by ``;``: from where on each queue was popped.
        msg_offset_info: rows ``retry queue offset,offset``: which messages.
        order_count_info: rows of how often orderly ones were tried.
    """

    CODES: ClassVar[frozenset[int]] = frozenset(
        {
            ResponseCode.SUCCESS,
            ResponseCode.PULL_NOT_FOUND,
            ResponseCode.POLLING_TIMEOUT,
            ResponseCode.POLLING_FULL,
        }
    )

    pop_time: int
    invisible_time: int
    revive_qid: int
    rest_num: int
    start_offset_info: str | None = None
    msg_offset_info: str | None = None
    order_count_info: str | None = None
    body: bytes = b""


@dataclass(frozen=True, slots=True, kw_only=True)
class PopMessage(RpcRequest[PopMessageResponse]):
    """Ask for messages that nobody else shall see for a while.

    Attributes:
        queue_id: -1 is any queue of the broker.
        invisible_time: for how long, in ms.
        poll_time: how long the broker may wait for one, in ms, from ``born_time`` on.
        init_mode: ``FROM_MIN`` or ``FROM_MAX``.
        exp_type, exp: the subscription's expression.
        order: pop in order, without retries and checkpoints.
    """

    CODE = RequestCode.POP_MESSAGE
    RESPONSE = PopMessageResponse

    consumer_group: str
    topic: str
    queue_id: Int32
    max_msg_nums: int
    invisible_time: int
    poll_time: int
    born_time: int
    init_mode: int
    exp_type: str | None = None
    exp: str | None = None
    order: bool | None = None
    attempt_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AckMessage(RpcRequest[Response]):
    """Say that a popped message is consumed.

    Attributes:
        extra_info: the checkpoint that came with it, see ``checkpoints``.
        offset: of the message in its queue.
    """

    CODE = RequestCode.ACK_MESSAGE

    consumer_group: str
    topic: str
    queue_id: Int32
    extra_info: str
    offset: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMessageInvisibletimeResponse(Response):
    """What makes the message's checkpoint from now on."""

    pop_time: int
    invisible_time: int
    revive_qid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeMessageInvisibletime(RpcRequest[ChangeMessageInvisibletimeResponse]):
    """Let a popped message come again after so many ms from now."""

    CODE = RequestCode.CHANGE_MESSAGE_INVISIBLETIME
    RESPONSE = ChangeMessageInvisibletimeResponse

    consumer_group: str
    topic: str
    queue_id: Int32
    extra_info: str
    offset: int
    invisible_time: int
