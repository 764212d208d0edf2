from collections.abc import Sequence

import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.arrivals import arrived
from rebalance_engine.pipeline.rounds import Cause
from rebalance_engine.pipeline.sweep import Hold

START, STOP = Cause(60_000, "consumer started", "A", "web1"), Cause(90_000, "consumer stopped", "A", "web1")
NO_HOLDS: dict[MessageQueue, Sequence[Hold]] = {}


def test_who_never_reached_a_broker_neither_comes_nor_goes() -> None:
    assert arrived([START, STOP], NO_HOLDS, []) == []
    assert arrived([Cause(60_000, "consumer started", None, "web1"), STOP], NO_HOLDS, []) == []


@pytest.mark.parametrize(
    "sign",
    [
        Cause(65_000, "reached", "A", "web1"),
        Cause(65_000, "reached", None, "web1"),
    ],
    ids=["a heartbeat", "a notification"],
)
def test_who_reached_a_broker_comes_then(sign: Cause) -> None:
    came = Cause(65_000, "consumer started", "A", "web1")

    assert arrived([STOP, START], NO_HOLDS, [sign]) == [came, STOP]


def test_who_takes_a_queue_has_reached_a_broker() -> None:
    holds = {MessageQueue("orders", "east", 0): [Hold(66_000, 90_000, "A", process="web1")]}

    assert [one.at_ms for one in arrived([START, STOP], holds, [])] == [66_000, 90_000]


def test_whom_a_broker_lists_soon_starts_as_it_says_itself() -> None:
    soon, late = Cause(60_000 - 400, "joined", "A", "east"), Cause(300_000, "joined", "A", "east")

    assert arrived([soon, START], NO_HOLDS, []) == [soon, START]
    assert [one.at_ms for one in arrived([late, START], NO_HOLDS, [])] == [300_000, 300_000]


def test_what_a_later_process_of_its_name_reached_says_nothing_of_one() -> None:
    again = Cause(120_000, "consumer started", "A", "web2")
    joined = Cause(121_000, "joined", "A", "east")

    assert arrived([START, STOP, again, joined], NO_HOLDS, []) == [joined, again]
    assert arrived([START, again, joined], NO_HOLDS, []) == [joined, again]


def test_who_was_not_seen_to_start_goes() -> None:
    assert arrived([STOP], NO_HOLDS, []) == [STOP]


def test_a_stop_begins_with_its_first_good_bye_to_a_broker() -> None:
    """Whose good-byes nobody knows, and those of one that never was a member, are no going."""
    byes = [Cause(at, "unregistered", "A", "web1") for at in (80_000, 81_000)]
    again = [Cause(at, "unregistered", "A", "web1") for at in (190_000, 191_000)]

    assert arrived([STOP, *byes], NO_HOLDS, []) == [byes[0], STOP]
    assert arrived([STOP, *again, *byes], NO_HOLDS, []) == [byes[0], STOP, again[0]]
    assert arrived([START, *byes, STOP], NO_HOLDS, []) == []
    assert arrived([Cause(80_000, "unregistered", None, "web1"), STOP], NO_HOLDS, []) == [STOP]


def test_others_of_the_process_say_nothing_of_one() -> None:
    """Nor does what a broker told the process then, which may have been for the other."""
    other, nobody = (Cause(65_000, "reached", client, "web1") for client in ("B", None))

    assert arrived([START, STOP], NO_HOLDS, [other]) == []
    assert arrived([START, STOP], NO_HOLDS, [other, nobody]) == []
