import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import HeartbeatData
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody
from rebalance_engine.remoting.codec import decode, decode_response, encode, encode_response
from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.errors import BrokenContent
from rebalance_engine.remoting.fastjson import read
from rebalance_engine.remoting.requests import REQUESTS
from rebalance_engine.remoting.requests.brokers import GetBrokerConfig
from rebalance_engine.remoting.requests.consuming import (
    LockBatchMq,
    PullMessage,
    PullMessageResponse,
    QueryConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused, Request, Response, UnknownRequest
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, HeartBeat, UnregisterClient
from rebalance_engine.remoting.requests.nameserver import RegisterBroker
from tests.rebalance_engine.remoting.examples import examples
from tests.rebalance_engine.remoting.recordings import RELEASES, Recorded, one_command, recorded
from tests.rebalance_engine.remoting.work import attempt

KINDS = pytest.mark.parametrize("kind", REQUESTS.values(), ids=lambda kind: kind.__name__)


@KINDS
@settings(max_examples=30)  # of each of so many classes
@given(data=st.data())
def test_every_request_is_read_as_it_was_written(kind: type[Request[Response]], data: st.DataObject) -> None:
    request = data.draw(examples(kind))
    if isinstance(request, RegisterBroker):
        request = replace(request, compressed=False)  # deflated it has room for less: ``test_registration.py``

    assert decode(encode(request, opaque=7)) == request


@KINDS
@settings(max_examples=30)  # of each of so many classes
@given(data=st.data())
def test_every_response_is_read_as_it_was_written(kind: type[Request[Response]], data: st.DataObject) -> None:
    response = data.draw(examples(kind.RESPONSE))

    assert decode_response(kind, encode_response(response, opaque=7)) == response


@KINDS
@given(
    ext_fields=st.none()
    | st.dictionaries(st.sampled_from(["topic", "queueId", "group", "a", "e", "g"]), st.text(max_size=5)),
    body=st.binary(max_size=30) | st.sampled_from([b"{}", b"[]", b"null", b'{"topic":1}', b'{"mqSet":[{}]}']),
)
def test_any_command_is_a_request_or_broken(
    kind: type[Request[Response]], ext_fields: dict[str, str] | None, body: bytes
) -> None:
    request = Command(code=kind.CODE, opaque=7, ext_fields=ext_fields, body=body)
    response = Command(code=0, opaque=7, flag=1, ext_fields=ext_fields, body=body)

    assert isinstance(attempt(lambda: decode(request)), kind | BrokenContent)
    assert isinstance(attempt(lambda: decode_response(kind, response)), kind.RESPONSE | BrokenContent)


# ---- recorded conversations ----


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_request_is_read_with_nothing_left_over(release: str) -> None:
    requests = [frame for frame in recorded(release) if not frame.command.is_response]

    lost = [left for frame in requests for left in left_over(frame, written_again(frame))]

    assert len(requests) > 400
    assert lost == []


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_response_is_read_with_nothing_left_over(release: str) -> None:
    responses = [frame for frame in recorded(release) if frame.command.is_response]

    lost = [left for frame in responses for left in left_over(frame, written_again(frame))]

    assert len(responses) > 300
    assert lost == []


@pytest.mark.parametrize("release", RELEASES)
def test_every_recorded_request_is_known_but_the_one_that_does_not_exist(release: str) -> None:
    unknown = {frame.command.code for frame in recorded(release) if not frame.command.is_response} - REQUESTS.keys()

    assert unknown == {9999}


def written_again(frame: Recorded) -> Command:
    command = frame.command
    if not command.is_response:
        return encode(decode(command), opaque=command.opaque, oneway=command.is_oneway)
    assert frame.asked is not None
    kind = REQUESTS.get(frame.asked.code, UnknownRequest)
    return encode_response(decode_response(kind, command), opaque=command.opaque)


def left_over(frame: Recorded, again: Command) -> list[str]:
    """What was in the recorded command and is not, or not alike, in the one written again."""
    command = frame.command
    left = [name for name in ("code", "flag", "opaque", "remark") if getattr(command, name) != getattr(again, name)]
    ext_fields = again.ext_fields or {}
    left += [name for name, value in (command.ext_fields or {}).items() if ext_fields.get(name) != value]
    if command.body != again.body:
        left += missing(with_read_keys(read(command.body)), with_read_keys(read(again.body)), str(command.code))
    return left


def missing(value: object, again: object, path: str) -> list[str]:
    if isinstance(value, dict) and isinstance(again, dict):
        absent = [f"{path}.{key}" for key in value if key not in again]
        return absent + [
            gap for key in value if key in again for gap in missing(value[key], again[key], f"{path}.{key}")
        ]
    if isinstance(value, list) and isinstance(again, list) and len(value) == len(again):
        return [gap for pair in zip(value, again, strict=True) for gap in missing(*pair, f"{path}[]")]
    return [] if value == again and type(value) is type(again) else [path]


def with_read_keys(value: object) -> object:
    """Bring keys that were objects into one form."""
    if isinstance(value, list):
        return list(map(with_read_keys, value))
    if isinstance(value, dict):
        return {one_form(key): with_read_keys(inner) for key, inner in value.items()}
    return value


def one_form(key: str) -> str:
    return json.dumps(read(key), sort_keys=True) if key.startswith("{") else key


# ---- single rules ----


def test_a_request_is_written_as_the_specification_has_it() -> None:
    command = encode(GetConsumerListByGroup(consumer_group="G"), opaque=7)

    assert command == Command(code=38, opaque=7, ext_fields={"consumerGroup": "G"})


def test_a_request_without_header_fields_has_an_empty_map_of_them() -> None:
    command = encode(HeartBeat(body=HeartbeatData(client_id="A")), opaque=7)

    assert command.ext_fields == {}
    assert json.loads(command.body)["clientID"] == "A"


def test_who_speaks_can_be_said() -> None:
    command = encode(GetConsumerListByGroup(consumer_group="G"), opaque=7, language=Language.JAVA, version=407)

    assert (command.language, command.version) == (Language.JAVA, 407)


def test_a_one_way_request_says_so() -> None:
    request = UnregisterClient(client_id="A", consumer_group="G")

    assert encode(request, opaque=7, oneway=True).is_oneway
    assert not encode(request, opaque=7).is_oneway


def test_queues_in_a_list_are_queues() -> None:
    body = b'{"clientId":"A","consumerGroup":"G","mqSet":[{"brokerName":"east","queueId":1,"topic":"pay"}]}'

    request = decode(Command(code=41, opaque=7, body=body))

    assert request == LockBatchMq(
        body=LockBatchRequestBody(consumer_group="G", client_id="A", mq_set=(MessageQueue("pay", "east", 1),))
    )


def test_an_unknown_code_is_a_value() -> None:
    command = Command(code=9999, opaque=7, ext_fields={"a": "b"}, body=b"c")

    request = decode(command)

    assert request == UnknownRequest(code=9999, ext_fields={"a": "b"}, body=b"c")
    assert encode(request, opaque=7) == command


def test_a_refusal_keeps_what_came_with_it() -> None:
    refused = Refused(code=ResponseCode.NO_PERMISSION, remark="no", ext_fields={"forbiddenType": "2"})

    assert decode_response(PullMessage, encode_response(refused, opaque=7)) == refused


def test_an_empty_queue_is_an_answer() -> None:
    nothing = PullMessageResponse(
        code=ResponseCode.PULL_NOT_FOUND, suggest_which_broker_id=0, next_begin_offset=5, min_offset=0, max_offset=5
    )

    assert decode_response(PullMessage, encode_response(nothing, opaque=7)) == nothing


def test_an_answer_s_code_is_the_header_s_whatever_its_fields_say() -> None:
    command = Command(code=0, opaque=7, flag=1, ext_fields={"offset": "5", "code": "17", "remark": "x"})

    response = decode_response(QueryConsumerOffset, command)

    assert (response.code, response.remark) == (0, None)


def test_an_answer_without_its_body_is_broken() -> None:
    with pytest.raises(BrokenContent, match="GetConsumerListByGroupResponse has no body"):
        decode_response(GetConsumerListByGroup, Command(code=0, opaque=7, flag=1))


def test_an_answer_without_its_fields_is_broken() -> None:
    with pytest.raises(BrokenContent, match="OffsetResponse has no offset"):
        decode_response(QueryConsumerOffset, Command(code=0, opaque=7, flag=1, ext_fields=None))


def test_a_text_body_is_a_text() -> None:
    response = decode_response(GetBrokerConfig, Command(code=0, opaque=7, flag=1, body="a=\u00e9".encode()))

    assert response == GetBrokerConfig.RESPONSE(body="a=\u00e9")


def test_requests_and_responses_are_not_mixed_up() -> None:
    with pytest.raises(ValueError, match="is a response"):
        decode(Command(code=0, opaque=7, flag=1))
    with pytest.raises(ValueError, match="is a request"):
        decode_response(PullMessage, Command(code=11, opaque=7))


def test_types_follow_the_request() -> None:
    command = one_command(
        next(f.frame for f in recorded("5.5.0") if f.asked and f.asked.code == 14 and f.command.code == 0)
    )

    answer = decode_response(QueryConsumerOffset, command)

    assert not isinstance(answer, Refused)
    assert answer.offset >= 0
