from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.java import java_names
from rebalance_engine.remoting.requests.producing import (
    SendBatchMessage,
    SendMessage,
    SendMessageResponse,
    SendMessageV2,
)


def test_the_second_form_names_every_field_with_one_letter() -> None:
    names = java_names(SendMessageV2)

    assert sorted(name for name in names.values() if len(name) == 1) == list("abcdefghijklmn")
    assert names["bname"] == "n"


def test_the_first_form_writes_names_out() -> None:
    assert java_names(SendMessage)["born_timestamp"] == "bornTimestamp"


def test_a_batch_says_so() -> None:
    assert SendBatchMessage(producer_group="PG", topic="T", queue_id=0, born_timestamp=0).batch


def test_a_message_that_is_stored_less_safely_is_stored() -> None:
    assert ResponseCode.SLAVE_NOT_AVAILABLE in SendMessageResponse.CODES
