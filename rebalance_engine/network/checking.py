"""What an application may set, held to what makes sense before anything is started: by kind, and by range.

The ranges are those of ``DefaultMQPushConsumerImpl.checkConfig`` where Java has one. Where it has none, what would let
an event loop do nothing else any more is refused.
"""

from __future__ import annotations

import difflib
import inspect
import operator
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from enum import Enum
from pathlib import Path
from typing import SupportsIndex, TypeVar, cast

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.reports import check_url
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.sysflags import Compression

Rule = Callable[[str, object], None]
T = TypeVar("T", bound=Mapping[str, object])

MOST = 2**31 - 1
LONGEST_NAME = 255
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
        RULES[name](name, value)
        checked[name] = _plain(value)
    return cast("T", checked)


def check_listener(name: str, listener: object) -> None:
    """Insist on something that can be called.

    Raises:
        TypeError: it cannot.
    """
    if listener is not None and not callable(listener):
        raise TypeError(_needed(name, listener, "a function, or a coroutine function"))


def check_send(queue: object, timeout_ms: object, selector: object = None) -> tuple[MessageQueue | None, int | None]:
    """Hold what a call of a producer is given to what makes sense, before the machine of all calls has it.

    Returns:
        the queue and the time as they are used.

    Raises:
        TypeError: something is of another kind.
        ValueError: there is no such queue or time, or a queue and a selector.
    """
    to = None if queue is None else check_queue("queue", queue)
    if selector is not None and (not callable(selector) or _is_async(selector)):
        raise TypeError(_needed("selector", selector, "a plain function queues -> one of them"))
    if queue is not None and selector is not None:
        raise ValueError("there are a queue and a selector; only one can say where the message goes")
    _MAYBE_FROM_0("timeout_ms", timeout_ms)
    return to, cast("int | None", _plain(timeout_ms))


def check_call(**given: object) -> None:
    """Hold the arguments of a call, by their names, to what each may be (``OF_CALLS``), before anything has them.

    Raises:
        TypeError: one is of another kind.
        ValueError: the value of one makes no sense.
    """
    for name, value in given.items():
        OF_CALLS[name](name, value)


def check_queue(name: str, queue: object) -> MessageQueue:
    """Insist on a queue, and give it with an int for its number.

    Raises:
        TypeError: it is something else.
        ValueError: no queue has its number.
    """
    if not isinstance(queue, MessageQueue) or not all(isinstance(text, str) for text in queue[:2]):
        raise TypeError(_needed(name, queue, "a MessageQueue(topic, broker, queue_id)"))
    _FROM_0(f"queue_id of {name}", queue.queue_id)
    return queue if type(queue.queue_id) is int else queue._replace(queue_id=operator.index(queue.queue_id))


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
        raise TypeError(_needed(name, values, f"several {of}"))
    return tuple(values)


def check_offset(name: str, offset: object) -> int:
    """Insist on a place in a queue, and give it.

    Raises:
        TypeError: it is something else.
        ValueError: it is negative, or larger than any.
    """
    _OFFSET(name, offset)
    return cast("int", _plain(offset))


Answer = tuple[int, int, int | None]


def check_retry(answer: Answer) -> Answer:
    """Hold a listener's answer, (delay level, done, ms of suspension), to what makes sense.

    Returns:
        the same, or an equal one in ints.

    Raises:
        TypeError: something is of another kind.
        ValueError: its value makes no sense.
    """
    delay_level, done, suspend_ms = answer
    _DELAY_LEVEL("delay_level", delay_level)
    _FROM_0("done", done)
    _MAYBE_FROM_0("suspend_ms", suspend_ms)
    if all(type(one) is int or one is None for one in answer):
        return answer
    return cast("Answer", tuple(map(_plain, answer)))


# ---- the kinds of options ----


def _needed(name: str, value: object, what: str) -> str:
    shown = repr(value)
    return f"{name} is {shown if len(shown) <= 80 else shown[:77] + '...'}; needed is {what}"


def _whole(least: int, most: int = MOST, *, also: tuple[int | None, ...] = ()) -> Rule:
    others = "".join(f", or {one}" for one in also)
    needed = f"a whole number from {least} to {most}{others}"

    def check(name: str, value: object) -> None:
        if value is None and None in also:
            return
        number = value if type(value) is int else _as_int(value)
        if number is None:
            raise TypeError(_needed(name, value, needed))
        if not least <= number <= most and number not in also:
            raise ValueError(_needed(name, value, needed))

    return check


def _plain(value: object) -> object:
    """Give what was checked as it is used: a whole number of another library as an int."""
    if value is None or isinstance(value, int) or not isinstance(value, SupportsIndex):
        return value
    return operator.index(value)


def _as_int(value: object) -> int | None:
    """Give the int that a value stands for, such as one of NumPy's (``__index__``); None: it is no whole number."""
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array has the method, and need not be one number
        return None


def _seconds(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(_needed(name, value, "a number of seconds"))
    if not 0 <= value <= MOST:
        raise ValueError(_needed(name, value, f"0 to {MOST} seconds"))


def _flag(name: str, value: object) -> None:
    if not isinstance(value, bool):
        raise TypeError(_needed(name, value, "True or False"))


def _one_of(kind: type[Enum]) -> Rule:
    needed = " or ".join(f"{kind.__name__}.{one.name}" for one in kind)

    def check(name: str, value: object) -> None:
        if not isinstance(value, kind):
            raise TypeError(_needed(name, value, needed))

    return check


def _a(*kinds: type) -> Rule:
    needed = " or ".join(f"a {kind.__name__}" for kind in kinds)

    def check(name: str, value: object) -> None:
        if not isinstance(value, kinds):
            raise TypeError(_needed(name, value, needed))

    return check


def _name(name: str, value: object) -> None:
    """Take a part of a client id; None is as if it were not set."""
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(_needed(name, value, "a text"))
    if not 1 <= len(value) <= LONGEST_NAME or not value.isprintable():
        raise ValueError(_needed(name, value, f"1 to {LONGEST_NAME} characters, all of which can be seen"))


def _callable(name: str, value: object) -> None:
    if value is not None and not callable(value):
        raise TypeError(_needed(name, value, "a function"))


def _report_url(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, str):
        raise TypeError(_needed(name, value, "a text"))
    try:
        check_url(value)
    except ValueError as error:
        raise ValueError(f"{name} is {error}") from error


def _strategy(name: str, value: object) -> None:
    if value is None or isinstance(value, str):
        return
    needed = "a name of a strategy, or a plain function (client id, queues, client ids) -> own queues"
    if not callable(value) or _is_async(value):
        raise TypeError(_needed(name, value, needed))


def _is_async(value: Callable[..., object]) -> bool:
    return inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(type(value).__call__)


def _latencies(name: str, value: object) -> None:
    if value is None:
        return
    if not isinstance(value, tuple) or any(isinstance(one, bool) or not isinstance(one, int) for one in value):
        raise TypeError(_needed(name, value, "a tuple of ms"))
    if not value or any(one < 0 for one in value):
        raise ValueError(_needed(name, value, "one number of ms at least, each 0 or more"))


def _version(name: str, value: object) -> None:
    if not isinstance(value, str) and type(value).__name__ != "Profile":  # theirs are not loaded for this
        raise TypeError(_needed(name, value, "a version of the Java client, or a Profile"))


def _maybe(rule: Rule) -> Rule:
    def check(name: str, value: object) -> None:
        if value is not None:
            rule(name, value)

    return check


def _text(name: str, value: object) -> None:
    if not isinstance(value, str):
        raise TypeError(_needed(name, value, "a text"))


def _texts(name: str, value: object) -> None:
    if isinstance(value, str) or not isinstance(value, Collection) or not all(isinstance(one, str) for one in value):
        raise TypeError(_needed(name, value, "several texts"))


OF_CALLS: Mapping[str, Rule] = {
    "broker": _maybe(_text),
    "config": _a(TopicConfig),
    "drain_s": _maybe(_seconds),
    "expression": _text,
    "keeps_connections": _flag,
    "most_kept": _whole(1, sys.maxsize),
    "names": _texts,
    "timeout_s": _seconds,
}

_FROM_0, _MAYBE_FROM_0 = _whole(0), _whole(0, also=(None,))
_OFFSET = _whole(0, 2**63 - 1)
_DELAY_LEVEL = _whole(-1)
_RECURS = _whole(SOONEST_MS)
RULES: Mapping[str, Rule] = {
    "instance": _name,
    "ip": _name,
    "version": _version,
    "network": _a(NetworkSettings, type(None)),
    "on_fact": _callable,
    "report_url": _report_url,
    "drain_s": _seconds,
    "heartbeat_every_ms": _RECURS,
    "routes_every_ms": _RECURS,
    "persist_every_ms": _RECURS,
    "offsets_dir": _a(str, Path),
    # of consumers
    "strategy": _strategy,
    "strategy_params": _a(Mapping),
    "model": _one_of(MessageModel),
    "orderly": _flag,
    "from_where": _one_of(ConsumeFromWhere),
    "from_timestamp": _whole(0, 2**63 - 1, also=(None,)),
    "threads": _whole(1, 1_000),
    "batch": _whole(1, 1_024),
    "max_reconsume_times": _whole(-1),
    "queue_messages": _whole(1, 65_535, also=(None,)),
    "queue_mib": _whole(1, 1_024, also=(None,)),
    "span": _whole(1, 65_535, also=(None,)),
    "topic_messages": _whole(1, 6_553_500, also=(-1, None)),
    "topic_mib": _whole(1, 102_400, also=(-1, None)),
    "pull_batch": _whole(1, 1_024, also=(None,)),
    "pull_interval_ms": _whole(0, 65_535),
    "suspend_ms": _whole(0),
    "consume_timeout_ms": _RECURS,
    "client_rebalance": _flag,
    "auto_commit_ms": _whole(0, also=(None,)),
    "pop_batch": _whole(1, 32),
    "pop_threshold": _whole(1),
    "pop_invisible_ms": _whole(1),
    # of producers
    "send_timeout_ms": _whole(1),
    "timeout_per_request_ms": _whole(1, also=(None,)),
    "retries": _whole(0, also=(None,)),
    "retries_when_not_stored": _flag,
    "avoids_faults": _flag,
    "latency_max_ms": _latencies,
    "not_available_ms": _latencies,
    "detects": _flag,
    "detect_interval_ms": _RECURS,
    "detect_timeout_ms": _whole(1),
    "default_topic": _a(str),
    "default_topic_queues": _whole(1),
    "compression": _one_of(Compression),
    "compress_from": _whole(0, also=(None,)),
    "max_size": _whole(1),
    "most_under_way": _whole(1),
}
