from base64 import urlsafe_b64decode
from pathlib import Path

import pytest

from rebalance_engine.embedded.recalling import handle_of
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.embedded.store import Draft
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.messages import Host
from rebalance_engine.remoting.requests.producing import RecallMessage
from tests.rebalance_engine.embedded.desk import START, Desk, settings

RECALL = RecallMessage(producer_group="PG", topic="orders", recall_handle="djEgb3JkZXJz")


def desk_of(tmp_path: Path, version: str) -> Desk:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(version)))
    desk.put_topic("orders")
    return desk


@pytest.mark.parametrize("version", ["5.3.2", "5.5.0"])
def test_a_timer_message_is_answered_with_its_handle(tmp_path: Path, version: str) -> None:
    desk = desk_of(tmp_path, version)

    answer = desk.send(desk.connect(), "orders", "later", TIMER_DELIVER_MS=str(START + 20_500), UNIQ_KEY="id")

    # 5.5.0's RecallMessageHandle reads it so; a second's end is what the timer wheel rounds to
    due = (START + 20_500) // 1_000 * 1_000
    assert urlsafe_b64decode(answer.recall_handle or "") == f"v1 orders east {due + 1} id".encode()


@pytest.mark.parametrize(
    ("version", "topic", "properties"),
    [
        ("5.3.1", "orders", {"TIMER_DELAY_SEC": "20"}),
        ("4.9.7", "orders", {"TIMER_DELAY_SEC": "20"}),
        ("5.5.0", "orders", {}),
        ("5.5.0", "orders", {"DELAY": "3"}),
        ("5.5.0", "orders", {"TIMER_DELIVER_MS": str(START)}),
        ("5.5.0", "orders", {"TIMER_DELAY_SEC": "20", "TRAN_MSG": "true", "PGROUP": "PG"}),
        ("5.5.0", "%RETRY%G", {"TIMER_DELAY_SEC": "20"}),
    ],
)
def test_any_other_message_has_none(tmp_path: Path, version: str, topic: str, properties: dict[str, str]) -> None:
    desk = desk_of(tmp_path, version)

    assert desk.send(desk.connect(), topic, "x", 0, UNIQ_KEY="id", **properties).recall_handle is None


def test_recalling_is_forbidden_as_nobody_allowed_it(tmp_path: Path) -> None:
    desk = desk_of(tmp_path, "5.3.2")

    refused = desk.refused(desk.connect(), RECALL)

    assert (refused.code, refused.remark) == (ResponseCode.NO_PERMISSION, "recall failed, operation is forbidden")
    assert refused.ext_fields == {"MSG_REGION": "DefaultRegion"}


@pytest.mark.parametrize("version", ["5.3.1", "4.9.7"])
def test_an_older_broker_does_not_know_the_request(tmp_path: Path, version: str) -> None:
    desk = desk_of(tmp_path, version)

    refused = desk.refused(desk.connect(), RECALL)

    assert refused.code == ResponseCode.REQUEST_CODE_NOT_SUPPORTED
    assert refused.remark == " request type 370 not supported"


def test_a_handle_is_what_java_makes_of_the_same_words() -> None:
    properties = {"TIMER_OUT_MS": "1700000020000", "REAL_TOPIC": "orders", "UNIQ_KEY": "??>>ä"}
    waits = Draft(
        topic="rmq_sys_wheel_timer",
        queue_id=0,
        body=b"",
        properties=properties,
        born_timestamp=START,
        born_host=Host("10.0.0.9", 5),
    )

    assert handle_of(waits, "east") == "djEgb3JkZXJzIGVhc3QgMTcwMDAwMDAyMDAwMSA_Pz4-w6Q="
