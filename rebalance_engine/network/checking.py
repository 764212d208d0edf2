"""What an application may set, held to what makes sense before anything is started: by kind, and by range.

The ranges are those of ``DefaultMQPushConsumerImpl.checkConfig`` where Java has one. Where it has none, what would let
an event loop do nothing else any more is refused.
"""

from __future__ import annotations

import difflib
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeVar, cast

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.rules import (
    Rule,
    a,
    flag,
    function,
    is_async,
    latencies,
    maybe,
    needed,
    one_of,
    part_of_id,
    report_url,
    seconds,
    strategy,
    text,
    texts,
    version,
    whole,
)
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.sysflags import Compression

T = TypeVar("T", bound=Mapping[str, object])
Answer = tuple[int, int, int | None]

SOONEST_MS = 10  # what recurs


def check_options(given: T, known: type) -> T:
    """Hold options to what each may be, and give them as they are used.

    Args:
        known: the ``TypedDict`` of those that there are.

    Raises:
        TypeError: there is no such option, or it is of another kind.
        ValueError: its value makes no sense.
    """
    names, checked = known.__annotations__, dict[str, object]()
    for name, value in given.items():
        if name not in names:
            near = difflib.get_close_matches(name, names)
            hint = f"is {near[0]!r} meant" if near else f"there are {', '.join(sorted(names))}"
            raise TypeError(f"there is no option {name!r}; {hint}")
        checked[name] = RULES[name](name, value)
    return cast("T", checked)


def check_listener(name: str, listener: object) -> None:
    """Insist on something that can be called.

    Raises:
        TypeError: it cannot.
    """
    if listener is not None and not callable(listener):
        raise TypeError(needed(name, listener, "a function, or a coroutine function"))


def check_send(queue: object, timeout_ms: object, selector: object = None) -> tuple[MessageQueue | None, int | None]:
    """Hold what a call of a producer is given to what makes sense, before the machine of all calls has it.

    Returns:
        the queue and the time as they are used.

    Raises:
        TypeError: something is of another kind.
        ValueError: there is no such queue or time, or a queue and a selector.
    """
    to = None if queue is None else check_queue("queue", queue)
    if selector is not None and (not callable(selector) or is_async(selector)):
        raise TypeError(needed("selector", selector, "a plain function queues -> one of them"))
    if queue is not None and selector is not None:
        raise ValueError("there are a queue and a selector; only one can say where the message goes")
    return to, cast("int | None", _MAYBE_FROM_0("timeout_ms", timeout_ms))


def check_call(**given: object) -> None:
    """Hold the arguments of a call, by their names, to what each may be (``OF_CALLS``), before anything has them.

    Raises:
        TypeError: one is of another kind.
        ValueError: the value of one makes no sense.
    """
    for name, value in given.items():
        OF_CALLS[name](name, value)


def check_seconds(name: str, given: object, default: float | None = None) -> float:
    """Insist on a time to wait, and give it; None is the default, if there is one.

    Raises:
        TypeError: it is something else.
        ValueError: it is negative, no number, or longer than anybody waits.
    """
    return default if given is None and default is not None else seconds(name, given)


def check_queue(name: str, queue: object) -> MessageQueue:
    """Insist on a queue, and give it with an int for its number.

    Raises:
        TypeError: it is something else.
        ValueError: no queue has its number.
    """
    if not isinstance(queue, MessageQueue) or not all(isinstance(text, str) for text in queue[:2]):
        raise TypeError(needed(name, queue, "a MessageQueue(topic, broker, queue_id)"))
    queue_id = cast("int", _FROM_0(f"queue_id of {name}", queue.queue_id))
    return queue if type(queue.queue_id) is int else queue._replace(queue_id=queue_id)


def check_queues(name: str, queues: object) -> tuple[MessageQueue, ...]:
    """Insist on several queues, and give them; of a mapping queue -> anything its queues.

    Raises:
        TypeError: it is something else, or one of them is.
        ValueError: no queue has the number of one of them.
    """
    of = "MessageQueue(topic, broker, queue_id)"
    given = check_several(name, tuple(queues) if isinstance(queues, Mapping) else queues, of)
    return tuple(check_queue(f"one of {name}", queue) for queue in given)


def check_several(name: str, values: object, of: str) -> tuple[object, ...]:
    """Insist on something that can be looped over and is not one thing itself, and give what is in it.

    Raises:
        TypeError: it is something else.
    """
    if isinstance(values, MessageQueue | str | bytes | Mapping) or not isinstance(values, Iterable):
        raise TypeError(needed(name, values, f"several {of}"))
    return tuple(values)


def check_offset(name: str, offset: object) -> int:
    """Insist on a place in a queue, and give it.

    Raises:
        TypeError: it is something else.
        ValueError: it is negative, or larger than any.
    """
    return cast("int", _OFFSET(name, offset))


def check_retry(answer: Answer) -> Answer:
    """Hold a listener's answer, (delay level, done, ms of suspension), to what makes sense.

    Returns:
        the same, or an equal one in ints.

    Raises:
        TypeError: something is of another kind.
        ValueError: its value makes no sense.
    """
    delay_level, done, suspend_ms = answer
    plain = _DELAY_LEVEL("delay_level", delay_level), _FROM_0("done", done), _MAYBE_FROM_0("suspend_ms", suspend_ms)
    return answer if all(type(one) is int or one is None for one in answer) else cast("Answer", plain)


# ---- what is held to which rule ----

OF_CALLS: Mapping[str, Rule] = {
    "broker": maybe(text),
    "client": text,
    "config": a(TopicConfig),
    "drain_s": maybe(seconds),
    "expression": text,
    "group": text,
    "keeps_connections": flag,
    "most_kept": whole(1, sys.maxsize),
    "names": texts,
}

_FROM_0, _MAYBE_FROM_0 = whole(0), whole(0, also=(None,))
_OFFSET = whole(0, 2**63 - 1)
_DELAY_LEVEL = whole(-1)
_RECURS = whole(SOONEST_MS)
RULES: Mapping[str, Rule] = {
    "instance": part_of_id,
    "ip": part_of_id,
    "version": version,
    "network": a(NetworkSettings, type(None)),
    "on_fact": function,
    "report_url": report_url,
    "drain_s": seconds,
    "heartbeat_every_ms": _RECURS,
    "routes_every_ms": _RECURS,
    "persist_every_ms": _RECURS,
    "offsets_dir": a(str, Path),
    # of consumers
    "strategy": strategy,
    "strategy_params": a(Mapping),
    "model": one_of(MessageModel),
    "orderly": flag,
    "from_where": one_of(ConsumeFromWhere),
    "from_timestamp": whole(0, 2**63 - 1, also=(None,)),
    "threads": whole(1, 1_000),
    "batch": whole(1, 1_024),
    "max_reconsume_times": whole(-1),
    "queue_messages": whole(1, 65_535, also=(None,)),
    "queue_mib": whole(1, 1_024, also=(None,)),
    "span": whole(1, 65_535, also=(None,)),
    "topic_messages": whole(1, 6_553_500, also=(-1, None)),
    "topic_mib": whole(1, 102_400, also=(-1, None)),
    "pull_batch": whole(1, 1_024, also=(None,)),
    "pull_interval_ms": whole(0, 65_535),
    "suspend_ms": whole(0),
    "consume_timeout_ms": _RECURS,
    "client_rebalance": flag,
    "auto_commit_ms": whole(0, also=(None,)),
    "pop_batch": whole(1, 32),
    "pop_threshold": whole(1),
    "pop_invisible_ms": whole(1),
    # of producers
    "send_timeout_ms": whole(1),
    "timeout_per_request_ms": whole(1, also=(None,)),
    "retries": whole(0, also=(None,)),
    "retries_when_not_stored": flag,
    "avoids_faults": flag,
    "latency_max_ms": latencies,
    "not_available_ms": latencies,
    "detects": flag,
    "detect_interval_ms": _RECURS,
    "detect_timeout_ms": whole(1),
    "default_topic": a(str),
    "default_topic_queues": whole(1),
    "compression": one_of(Compression),
    "compress_from": whole(0, also=(None,)),
    "max_size": whole(1),
    "most_under_way": whole(1),
}
