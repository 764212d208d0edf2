"""Batches as a machine delivers them."""

from rebalance_engine.consumer import Deliver
from rebalance_engine.consumer.messages import message_of
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.messages import Host, StoredMessage

EAST, WEST = (MessageQueue("orders", broker, 0) for broker in ("east", "west"))
HOST = Host("127.0.0.1", 1)


def deliver(token: int, queue: MessageQueue = EAST, count: int = 1) -> Deliver:
    """Give messages of one queue, the first with its token for its offset."""
    stored = [
        StoredMessage(
            topic="orders",
            queue_id=0,
            queue_offset=token + number,
            commit_log_offset=0,
            born_timestamp=0,
            born_host=HOST,
            store_timestamp=0,
            store_host=HOST,
            body=b"x",
        )
        for number in range(count)
    ]
    return Deliver(group="G", queue=queue, messages=tuple(map(message_of, stored)), token=token)
