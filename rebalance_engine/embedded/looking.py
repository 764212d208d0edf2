"""Finding single messages: by their place, by key or unique id, and in the index of a queue.

Keys are looked for in the messages of the topic from the newest back, as there is no index of them; so far back as
``MOST_LOOKED_AT`` messages a queue.

Source: ``broker/.../processor/QueryMessageProcessor.java``, ``AdminBrokerProcessor.java`` (``queryConsumeQueue``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from rebalance_engine.embedded.core import Call, Core, refuse
from rebalance_engine.model import java_utf8
from rebalance_engine.remoting.bodies.upkeep import ConsumeQueueData, QueryConsumeQueueResponseBody
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.messages import decode_messages
from rebalance_engine.remoting.properties import KEYS, UNIQ_KEY
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.upkeep import (
    QueryConsumeQueue,
    QueryConsumeQueueResponse,
    QueryMessage,
    QueryMessageResponse,
    ViewMessageById,
    ViewMessageByIdResponse,
)

MOST_LOOKED_AT = 50_000
MOST_FOUND = 64  # ``maxMsgsNumBatch``
FOUND_BY_ID = 32  # ``defaultQueryMaxNum``
MOST_OF_INDEX = 1_024


class Looking:
    """The room of whoever looks for single messages."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self.serves: Mapping[type, Callable[[Call, Any], Response]] = {
            ViewMessageById: self._view,
            QueryMessage: self._query,
            QueryConsumeQueue: self._index,
        }

    def _view(self, _: Call, request: ViewMessageById) -> Response:
        data = self._core.store.at_position(request.offset)
        if data is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"can not find message by the offset, {request.offset}")
        return ViewMessageByIdResponse(body=data)

    def _query(self, _: Call, request: QueryMessage) -> Response:
        most = FOUND_BY_ID if request.is_unique_key else min(max(1, request.max_num), MOST_FOUND)
        found: list[bytes] = []
        for data in self._candidates(request):
            if _has_key(data, request.key):
                found.append(data)
                if len(found) == most:
                    break
        if not found:
            return refuse(ResponseCode.QUERY_NOT_FOUND, "can not find message, maybe time range not correct")
        newest = max(decode_messages(data)[0].commit_log_offset for data in found)
        return QueryMessageResponse(
            index_last_update_timestamp=max(decode_messages(data)[0].store_timestamp for data in found),
            index_last_update_phyoffset=newest,
            body=b"".join(found),
        )

    def _candidates(self, request: QueryMessage) -> Iterator[bytes]:
        """Give the messages of the time range that hold the key somewhere, the newest of each queue first."""
        key, store, config = java_utf8(request.key), self._core.store, self._core.find_topic(request.topic)
        if not key or config is None:
            return
        for queue_id in range(max(config.read_queue_nums, config.write_queue_nums)):
            first = store.search(request.topic, queue_id, request.begin_timestamp)
            last = store.search(request.topic, queue_id, request.end_timestamp + 1)
            for offset in range(last - 1, max(first, last - MOST_LOOKED_AT) - 1, -1):
                for data in store.messages(request.topic, queue_id, offset, 1):
                    if key in data:
                        yield data

    def _index(self, _: Call, request: QueryConsumeQueue) -> Response:
        store, topic, queue_id = self._core.store, request.topic, request.queue_id
        if self._core.find_topic(topic) is None:
            return refuse(ResponseCode.SYSTEM_ERROR, f"{topic}-{queue_id} consumeQueue is not exist")
        subscription = None
        if request.consumer_group:
            subscription = self._core.membership.registry.find_subscription(request.consumer_group, topic)
        rows = tuple(
            ConsumeQueueData(physic_offset=position, physic_size=size, tags_code=tag)
            for position, size, tag in store.places(topic, queue_id, request.index, min(request.count, MOST_OF_INDEX))
        )
        body = QueryConsumeQueueResponseBody(
            subscription_data=subscription,
            queue_data=rows,
            max_queue_index=store.end(topic, queue_id),
            min_queue_index=store.begin(topic, queue_id),
        )
        return QueryConsumeQueueResponse(body=body)


def _has_key(data: bytes, key: str) -> bool:
    properties = decode_messages(data)[0].properties
    return key == properties.get(UNIQ_KEY) or key in properties.get(KEYS, "").split(" ")
