import enum
import math
import sys
from collections.abc import Callable
from typing import cast

import numpy as np
import pytest

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network import Consumer, LitePullConsumer, Producer
from rebalance_engine.network.checking import (
    RULES,
    check_call,
    check_listener,
    check_offset,
    check_options,
    check_queue,
    check_queues,
    check_retry,
    check_send,
)
from rebalance_engine.network.options import ConsumerOptions, ProducerOptions


async def awaits(_client: str, queues: list[MessageQueue], _clients: list[str]) -> list[MessageQueue]:
    return queues


class Colour(enum.Enum):
    RED = "red"


def test_every_option_has_its_rule_and_no_rule_is_left_over() -> None:
    assert RULES.keys() == ConsumerOptions.__annotations__.keys() | ProducerOptions.__annotations__.keys()


@pytest.mark.parametrize("name", RULES)
def test_no_option_takes_something_of_no_kind(name: str) -> None:
    """An object without any meaning is none of the kinds."""
    with pytest.raises(TypeError, match=rf"^{name} is <object object at .*>; needed is "):
        RULES[name](name, object())


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("heartbeat_every_ms", 0, "heartbeat_every_ms is 0; needed is a whole number from 10"),
        ("routes_every_ms", -5, "needed is a whole number from 10 to 2147483647$"),
        ("persist_every_ms", 0, "needed is a whole number from 10"),
        ("consume_timeout_ms", 0, "needed is a whole number from 10"),
        ("pull_batch", 0, "pull_batch is 0; needed is a whole number from 1 to 1024, or None"),
        ("drain_s", -1, "drain_s is -1; needed is 0 to 2147483647 seconds"),
        ("drain_s", float("nan"), "drain_s is nan; needed is 0 to 2147483647 seconds"),
        ("drain_s", math.inf, "drain_s is inf; needed is 0 to 2147483647 seconds"),
        ("max_reconsume_times", -2, "max_reconsume_times is -2; needed is a whole number from -1"),
        ("ip", "1" * 300, "needed is 1 to 255 characters"),
        ("instance", "", "instance is ''; needed is 1 to 255"),
        ("instance", "a\nb", "all of which can be seen"),
        ("threads", 0, "needed is a whole number from 1 to 1000"),
        ("suspend_ms", 2**31, "suspend_ms is 2147483648; needed is a whole number from 0 to 2147483647"),
        ("topic_messages", 0, "from 1 to 6553500, or -1, or None"),
    ],
)
def test_a_value_that_makes_no_sense_is_refused_with_what_was_seen_and_needed(
    name: str, value: object, said: str
) -> None:
    with pytest.raises(ValueError, match=said):
        check_options({name: value}, ConsumerOptions)


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        (
            "model",
            "BROADCASTING",
            "model is 'BROADCASTING'; needed is MessageModel.CLUSTERING or MessageMod",
        ),
        ("model", Colour.RED, "needed is MessageModel"),
        ("orderly", "yes", "orderly is 'yes'; needed is True or False"),
        ("threads", True, "threads is True; needed is a whole number"),
        ("threads", 2.0, "needed is a whole number"),
        ("strategy", awaits, "needed is a name of a strategy, or a plain function"),
        ("on_fact", "print", "needed is a function"),
        ("ordely", True, "there is no option 'ordely'; is 'orderly' meant"),
        ("zzz", True, "there is no option 'zzz'; there are auto_commit_ms, "),
    ],
)
def test_another_kind_or_name_is_refused(name: str, value: object, said: str) -> None:
    with pytest.raises(TypeError, match=said):
        check_options({name: value}, ConsumerOptions)


@pytest.mark.parametrize(
    ("value", "error"), [((), ValueError), ((5, -1), ValueError), ([5], TypeError), ((True,), TypeError)]
)
def test_times_by_latency_are_a_tuple_of_ms(value: object, error: type[Exception]) -> None:
    with pytest.raises(error, match="ms"):
        check_options({"latency_max_ms": value}, ProducerOptions)


def test_what_makes_sense_is_taken() -> None:
    check_options(
        {
            "model": MessageModel.BROADCASTING,
            "instance": None,
            "ip": "2001:db8::1",
            "drain_s": 0,
            "pull_batch": None,
            "topic_mib": -1,
            "max_reconsume_times": -1,
            "offsets_dir": "offsets",
            "strategy": lambda _client, queues, _clients: queues,
        },
        ConsumerOptions,
    )
    check_options({"latency_max_ms": (50, 100), "retries": None, "compress_from": 0}, ProducerOptions)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Consumer("a:1", "G", "orders", None, heartbeat_ms=5),  # type: ignore[call-arg]
        lambda: LitePullConsumer("a:1", "G", "orders", heartbeat_ms=5),  # type: ignore[call-arg]
        lambda: Producer("a:1", heartbeat_ms=5),  # type: ignore[call-arg]
        lambda: Consumer("a:1", "G", "orders", "print"),  # type: ignore[arg-type]
        lambda: Consumer("a:1", "G", 5),  # type: ignore[arg-type]
        lambda: Consumer("a:1", 5, "orders"),  # type: ignore[arg-type]
        lambda: LitePullConsumer("a:1", 5),  # type: ignore[arg-type]
        lambda: Producer("a:1", 5),  # type: ignore[arg-type]
        lambda: Consumer(5, "G", "orders"),  # type: ignore[arg-type]
        lambda: LitePullConsumer(5, "G"),  # type: ignore[arg-type]
        lambda: Producer(5),  # type: ignore[arg-type]
    ],
)
def test_nothing_is_made_of_what_is_of_another_kind(make: Callable[[], object]) -> None:
    said = r"there is no option 'heartbeat_ms'|listener is 'print'|the (topics are|group is|name servers are) 5; needed"
    with pytest.raises(TypeError, match=said):
        make()


def test_a_consumer_without_topics_is_refused() -> None:
    with pytest.raises(ValueError, match="there are no topics"):
        Consumer("a:1", "G", [])


def test_whole_numbers_of_other_libraries_become_plain() -> None:
    five = np.int64(5)
    queue = MessageQueue("orders", "east", cast("int", five))

    given = [
        *check_options({"threads": five, "drain_s": 0.5}, ConsumerOptions).values(),
        check_offset("offset", five),
        check_queue("queue", queue).queue_id,
        check_queues("queues", [queue])[0].queue_id,
        *check_send(queue, five),
        *check_retry((cast("int", five), cast("int", five), cast("int", five))),
    ]

    assert given == [5, 0.5, 5, 5, 5, MessageQueue("orders", "east", 5), 5, 5, 5, 5]
    assert not any(isinstance(one, np.integer) for one in given)
    assert type(given[5].queue_id) is int  # type: ignore[attr-defined]


@pytest.mark.parametrize("value", [np.bool_(1), np.float64(5), np.array([5, 6]), True])
def test_what_stands_for_no_whole_number_is_none(value: object) -> None:
    with pytest.raises(TypeError, match=r"offset is .*; needed is a whole number from 0 to 9223372036854775807"):
        check_offset("offset", value)


def test_the_queues_of_a_mapping_are_its_keys() -> None:
    queue = MessageQueue("orders", "east", 0)

    assert check_queues("queues", {queue: 5}) == (queue,)
    with pytest.raises(TypeError, match="one of queues is 'orders'; needed is a MessageQueue"):
        check_queues("queues", {"orders": 5})


def test_as_many_facts_may_be_kept_as_there_is_room_for() -> None:
    check_call(most_kept=sys.maxsize)
    with pytest.raises(ValueError, match=f"most_kept is 0; needed is a whole number from 1 to {sys.maxsize}"):
        check_call(most_kept=0)


def test_a_listener_can_be_called() -> None:
    check_listener("listener", None)
    check_listener("listener", print)
    with pytest.raises(TypeError, match="listener is 5; needed is a function"):
        check_listener("listener", 5)
