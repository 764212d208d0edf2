from rebalance_engine.remoting.codec import decode, encode
from rebalance_engine.remoting.java import java_names
from rebalance_engine.remoting.requests.upkeep import (
    DeleteSubscriptiongroup,
    GetAllDelayOffset,
    QueryMessage,
    ViewMessageById,
)


def test_a_search_for_a_unique_id_says_so_as_java_does() -> None:
    query = QueryMessage(topic="T", key="K", max_num=32, begin_timestamp=0, end_timestamp=9, is_unique_key=True)

    assert (encode(query, opaque=1).ext_fields or {})["_UNIQUE_KEY_QUERY"] == "true"
    assert decode(encode(query, opaque=1)) == query


def test_a_message_is_asked_for_by_its_place_in_the_log() -> None:
    assert encode(ViewMessageById(offset=7), opaque=1).ext_fields == {"offset": "7"}


def test_offsets_of_a_deleted_group_stay_unless_they_are_to_go() -> None:
    assert not DeleteSubscriptiongroup(group_name="G").clean_offset
    assert java_names(DeleteSubscriptiongroup)["clean_offset"] == "cleanOffset"


def test_a_question_without_fields_has_an_empty_header_all_the_same() -> None:
    assert encode(GetAllDelayOffset(), opaque=1).ext_fields == {}
