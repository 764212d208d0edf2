from pathlib import Path

import pytest

from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.queues import QueryAssignmentRequestBody
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, SetMessageRequestModeRequestBody
from rebalance_engine.remoting.requests.brokers import GetAllMessageRequestMode
from rebalance_engine.remoting.requests.changes import SetMessageRequestMode
from rebalance_engine.remoting.requests.consuming import QueryAssignment
from tests.rebalance_engine.embedded.desk import Desk, settings


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    made = Desk(tmp_path)
    made.put_topic("orders", 4)
    for client in ("B", "A"):
        made.join(made.connect(), "G", "orders", client=client)
    return made


def assigned(desk: Desk, client: str = "A", topic: str = "orders", **fields: object) -> list[tuple[int, str]] | None:
    asked = {"consumer_group": "G", "strategy_name": "AVG", **fields}
    body = QueryAssignmentRequestBody(topic=topic, client_id=client, **asked)  # type: ignore[arg-type]  # as asked
    found = desk.get(desk.connect(), QueryAssignment(body=body)).body.message_queue_assignments
    return None if found is None else [(one.message_queue.queue_id, one.mode.value) for one in found]


def set_mode() -> SetMessageRequestMode:
    body = SetMessageRequestModeRequestBody(topic="orders", consumer_group="G", mode=MessageRequestMode.POP)
    return SetMessageRequestMode(body=body)


@pytest.mark.parametrize(("name", "first", "second"), [("AVG", [0, 1], [2, 3]), ("AVG_BY_CIRCLE", [0, 2], [1, 3])])
def test_queues_are_divided_by_the_strategy_that_is_named(
    desk: Desk, name: str, first: list[int], second: list[int]
) -> None:
    shares = [assigned(desk, client, strategy_name=name) for client in ("A", "B")]

    assert shares == [[(queue, "PULL") for queue in first], [(queue, "PULL") for queue in second]]


def test_a_stranger_gets_nothing(desk: Desk) -> None:
    assert assigned(desk, "C") == []


@pytest.mark.parametrize(
    "fields", [{"strategy_name": "CONSISTENT_HASH"}, {"consumer_group": "nobody"}, {"topic": "unknown"}]
)
def test_what_cannot_be_divided_leaves_the_client_as_it_is(desk: Desk, fields: dict[str, str]) -> None:
    assert assigned(desk, **fields) is None


def test_a_broadcasting_group_gets_everything(desk: Desk) -> None:
    found = assigned(desk, consumer_group="nobody", message_model=MessageModel.BROADCASTING)

    assert found is not None and len(found) == 4


def test_by_pop_everybody_shares_and_the_choice_survives_a_restart(desk: Desk) -> None:
    desk.get(desk.connect(), set_mode())
    before = assigned(desk)

    desk.restart()
    desk.put_topic("orders", 4)
    desk.join(desk.connect(), "G", "orders")

    modes = desk.get(desk.connect(), GetAllMessageRequestMode()).body.message_request_mode_map
    assert (before, assigned(desk)) == ([(-1, "POP")], [(-1, "POP")])
    assert modes["orders"]["G"].mode is MessageRequestMode.POP


def test_4_9_divides_no_queues(tmp_path: Path) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings("4.9.7")))
    body = QueryAssignmentRequestBody(topic="orders", consumer_group="G", client_id="A", strategy_name="AVG")

    refused = desk.refused(desk.connect(), QueryAssignment(body=body))

    assert (refused.code, refused.remark) == (3, " request type 400 not supported")
