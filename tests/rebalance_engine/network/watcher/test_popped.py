from rebalance_engine.events import Exactness
from rebalance_engine.network.watcher.popped import Popped
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestMode,
    MessageRequestModeSerializeWrapper,
    SetMessageRequestModeRequestBody,
)
from tests.rebalance_engine.network.watcher.seeing import by


def modes(*rows: tuple[str, str, MessageRequestMode]) -> MessageRequestModeSerializeWrapper:
    table: dict[str, dict[str, SetMessageRequestModeRequestBody]] = {}
    for topic, group, mode in rows:
        body = SetMessageRequestModeRequestBody(topic=topic, consumer_group=group, mode=mode)
        table.setdefault(topic, {})[group] = body
    return MessageRequestModeSerializeWrapper(message_request_mode_map=table)


POP, PULL = MessageRequestMode.POP, MessageRequestMode.PULL
Told = list[tuple[str, str, tuple[str, ...]]]


def said(popped: Popped, at: int, *rows: tuple[str, str, MessageRequestMode]) -> Told:
    return [(fact.group, fact.broker, fact.topics) for fact in popped.heard("east", modes(*rows), by(at))]


def test_only_groups_that_are_set_to_pop_are_told_of_and_only_once() -> None:
    popped = Popped({})
    rows = ("orders", "G", POP), ("audit", "G", POP), ("orders", "H", PULL), ("orders", "CID_RMQ_SYS_TRANS", POP)

    assert said(popped, 1, *rows) == [("G", "east", ("audit", "orders"))]
    assert said(popped, 2, *rows) == []
    assert said(popped, 3, ("audit", "G", PULL), ("orders", "G", POP)) == [("G", "east", ("orders",))]
    assert said(popped, 4) == [("G", "east", ())]


def test_what_was_known_before_is_taken_back_where_it_is_so_no_more() -> None:
    popped = Popped({"G": {"east": ("orders",), "west": ("orders",)}, "H": {"east": ("orders", "audit")}})

    assert said(popped, 1, ("orders", "H", POP), ("audit", "H", POP)) == [("G", "east", ())]


def test_a_change_is_of_after_the_last_look_and_what_is_seen_first_may_have_been_so_for_any_time() -> None:
    popped, rows = Popped({}), [[("orders", "G", POP)], [("orders", "G", POP)], []]

    told = [list(popped.heard("east", modes(*row), by(at))) for at, row in enumerate(rows, 1)]

    assert [[fact.exactness for fact in facts] for facts in told] == [
        [Exactness.at_most(1)],
        [],
        [Exactness.between(2, 3)],
    ]
