from collections.abc import Mapping
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.binding import read_fields, read_value, to_ext_fields, to_java
from rebalance_engine.remoting.bodies import clients, queues, routes, settings
from rebalance_engine.remoting.bodies.clients import Connection, ConsumerData, ConsumeType
from rebalance_engine.remoting.bodies.queues import (
    ConsumeStats,
    MessageQueueForC,
    OffsetWrapper,
    ProcessQueueInfo,
    ResetOffsetBody,
)
from rebalance_engine.remoting.bodies.routes import QueueData
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.fastjson import read, write
from rebalance_engine.remoting.java import JavaObject
from tests.rebalance_engine.remoting.examples import examples

KINDS = [
    kind
    for module in (clients, queues, routes, settings)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, JavaObject) and kind.__module__ == module.__name__
]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
@hypothesis_settings(max_examples=30)  # of each of so many classes
@given(data=st.data())
def test_every_body_is_read_as_it_was_written(kind: type[JavaObject], data: st.DataObject) -> None:
    value = data.draw(examples(kind))

    assert read_value(kind, read(write(to_java(value)))) == value


def test_what_is_none_is_not_written() -> None:
    assert to_java(OffsetWrapper()) == {"brokerOffset": 0, "consumerOffset": 0, "lastTimestamp": 0}


def test_what_is_no_number_is_written_as_nothing() -> None:
    assert write(to_java(ConsumeStats(consume_tps=float("nan")))) == b'{"offsetTable":{},"consumeTps":null}'


def test_header_fields_are_texts() -> None:
    topic = TopicConfig(topic_name="T", order=True)

    assert to_ext_fields(topic, frozenset({"perm"})) == {
        "topicName": "T",
        "readQueueNums": "16",
        "writeQueueNums": "16",
        "topicFilterType": "SINGLE_TAG",
        "topicSysFlag": "0",
        "order": "true",
    }
    assert (
        to_ext_fields(ConsumerData(group_name="G"), frozenset({"subscriptionDataSet"}))["messageModel"] == "CLUSTERING"
    )


def test_unknown_names_are_passed_over_and_missing_ones_have_their_default() -> None:
    assert read_fields(TopicConfig, {"topicName": "T", "since6": {}, "perm": None}) == TopicConfig(topic_name="T")


def test_given_fields_are_not_read() -> None:
    assert read_fields(TopicConfig, {"topicName": "T", "perm": "x"}, perm=4).perm == 4


def test_what_has_no_default_cannot_be_missing() -> None:
    with pytest.raises(BrokenContent, match="QueueData has no broker_name, perm"):
        read_fields(QueueData, {"readQueueNums": 1, "writeQueueNums": 1})


def test_the_c_plus_plus_client_writes_numbers_as_texts_and_enums_as_ordinals() -> None:
    assert read_fields(ProcessQueueInfo, {"commitOffset": "90"}).commit_offset == 90
    consumer = read_fields(ConsumerData, {"groupName": "G", "consumeType": 0, "messageModel": 1})
    assert consumer.consume_type is ConsumeType.CONSUME_ACTIVELY
    assert consumer.message_model is MessageModel.CLUSTERING


def test_a_name_of_an_enum_is_known_in_any_case_and_an_unknown_one_says_nothing() -> None:
    fields = {"groupName": "G", "messageModel": "Broadcasting", "consumeFromWhere": "UNKOWN", "consumeType": "1"}

    consumer = read_fields(ConsumerData, fields)

    assert consumer.message_model is MessageModel.BROADCASTING
    assert consumer == ConsumerData(group_name="G", message_model=MessageModel.BROADCASTING)


@pytest.mark.parametrize("value", [9, -1, True, 1.0, [], {}])
def test_what_is_neither_a_name_nor_an_ordinal_is_refused(value: object) -> None:
    with pytest.raises(BrokenContent, match="needs to be one of "):
        read_fields(ConsumerData, {"groupName": "G", "messageModel": value})


def test_dropped_is_read_in_both_spellings_and_written_in_java_s() -> None:
    assert read_fields(ProcessQueueInfo, {"dropped": True}).dropped
    assert read_fields(ProcessQueueInfo, {"droped": True}).dropped
    assert "droped" in to_ext_fields(ProcessQueueInfo(), frozenset())


def test_an_old_server_s_misspelling_is_read() -> None:
    fields = {"brokerName": "east", "readQueueNums": 1, "writeQueueNums": 1, "perm": 6, "topicSynFlag": 2}

    assert read_fields(QueueData, fields).topic_sys_flag == 2


def test_an_unlisted_language_is_other() -> None:
    assert read_fields(Connection, {"clientId": "A", "language": "COBOL"}).language is Language.OTHER
    assert read_fields(Connection, {"clientId": "A", "language": 9}).language is Language.GO


def test_offsets_come_by_queue_or_as_a_list() -> None:
    by_queue = read_value(ResetOffsetBody, read('{"offsetTable":{{"brokerName":"east","queueId":0,"topic":"T"}:5}}'))
    listed = read_value(
        ResetOffsetBody, read('{"offsetTable":[{"brokerName":"east","queueId":0,"topic":"T","offset":5}]}')
    )

    assert by_queue == ResetOffsetBody(offset_table={MessageQueue("T", "east", 0): 5})
    assert listed == ResetOffsetBody(
        offset_table=(MessageQueueForC(topic="T", broker_name="east", queue_id=0, offset=5),)
    )


@pytest.mark.parametrize(
    ("annotation", "value", "expected"),
    [
        (int, "-5", -5),
        (int, 1.0e10, 10_000_000_000),
        (float, 1, 1.0),
        (float, "1.5", 1.5),
        (bool, "TRUE", True),
        (str, 1, "1"),
        (str, True, "true"),
        (int | None, 5, 5),
        (tuple[int, ...], [1, "2"], (1, 2)),
        (Mapping[int, str], {"0": "a", "1": None}, {0: "a"}),
        (MessageQueue, {"topic": "T", "brokerName": "east", "queueId": "-1"}, MessageQueue("T", "east", -1)),
    ],
)
def test_reading_is_as_tolerant_as_fastjson(annotation: object, value: object, expected: object) -> None:
    assert read_value(annotation, value) == expected


@pytest.mark.parametrize(
    ("annotation", "value"),
    [
        (int, "five"),
        (int, True),
        (int, 1.5),
        (int, float("inf")),
        (int, 2**63),
        (int, "9" * 30),
        (int, []),
        (float, "x"),
        (float, True),
        (float, 10**400),
        (float, "1e999"),
        (float, "nan"),
        (bool, 1),
        (bool, "yes"),
        (str, {}),
        (str, ["x" * 1_000]),
        (MessageModel, 2),
        (MessageModel, []),
        (tuple[int, ...], {}),
        (tuple[int, ...], [None]),
        (Mapping[str, int], []),
        (Mapping[int, int], {"x": 1}),
        (Mapping[MessageQueue, int], {"x": 1}),
        (Mapping[MessageQueue, int], {'{"topic":"T"}': 1}),
        (MessageQueue, "T"),
        (MessageQueue, {"topic": 1, "brokerName": "east", "queueId": 0}),
        (MessageQueue, {"topic": "T", "brokerName": "east", "queueId": 2**31}),
        (ConsumeStats, []),
        (ConsumeStats, {"offsetTable": {"{}": {}}}),
    ],
)
def test_what_does_not_fit_is_broken(annotation: object, value: object) -> None:
    with pytest.raises(BrokenContent) as broken:
        read_value(annotation, value)

    assert len(str(broken.value)) < 200


def test_an_error_says_where() -> None:
    with pytest.raises(
        BrokenContent, match=r"^ConsumeStats.offset_table: OffsetWrapper.broker_offset: 'x'; it needs to be"
    ):
        read_value(
            ConsumeStats, read('{"offsetTable":{{"brokerName":"b","queueId":0,"topic":"T"}:{"brokerOffset":"x"}}}')
        )


def test_an_annotation_that_no_json_can_become_is_a_mistake() -> None:
    @dataclass(frozen=True)
    class Strange(JavaObject):
        what: complex

    with pytest.raises(AssertionError, match="no JSON can become"):
        read_fields(Strange, {})
