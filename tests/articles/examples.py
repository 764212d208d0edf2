"""The articles' own words for queues and consumers, so that their examples read here as they do there."""

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate

SOURCE_WALK = "Rebalance 源码解析"
MECHANISM = "六:RocketMQ源码分析消息消费机制—-消费端消息负载均衡机制与重新分布"
PROCESS = "RocketMQ Rebalance流程"
ALLOCATION = "RocketMQ队列分配和重平衡"
BALANCING = "RocketMQ源码解析之负载均衡"
TITLES = (SOURCE_WALK, MECHANISM, PROCESS, ALLOCATION, BALANCING)


def queues(first: int, last: int, topic: str = "orders", broker: str = "east") -> list[MessageQueue]:
    """Make queues ``first`` to ``last``; some articles count from 0, some from 1."""
    return [MessageQueue(topic, broker, number) for number in range(first, last + 1)]


def consumers(count: int) -> list[str]:
    """Name c1, c2 and so on, with zeros in front where there are ten or more, so that they sort by number."""
    width = len(str(count))
    return [f"c{number:0{width}}" for number in range(1, count + 1)]


def shares(strategy: str, of_queues: list[MessageQueue], of_consumers: list[str]) -> dict[str, str]:
    """Allocate, and write each share as the articles do: ``{"c1": "q1 q2"}``."""
    allotted = allocate(strategy, of_queues, of_consumers)
    return {client: " ".join(f"q{queue.queue_id}" for queue in share) for client, share in allotted.items()}
