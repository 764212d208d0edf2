import json
from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.command import Command, HeaderForm
from rebalance_engine.remoting.errors import BrokenFrame, LocalProtocolError
from rebalance_engine.remoting.headers import (
    MAX_EXT_FIELDS,
    MAX_NAME_LENGTH,
    MAX_VALUE_LENGTH,
    decode_header,
    encode_header,
)

INT32 = st.integers(-(2**31), 2**31 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)
JSON_COMMANDS = st.builds(
    Command,
    code=INT32,
    opaque=INT32,
    flag=INT32,
    language=st.sampled_from(Language),
    version=INT32,
    remark=st.none() | TEXTS,
    ext_fields=st.none() | st.dictionaries(TEXTS, TEXTS, max_size=5),
    body=st.binary(max_size=50),
)
BINARY_COMMANDS = st.builds(
    Command,
    code=st.integers(-(2**15), 2**15 - 1),
    opaque=INT32,
    flag=INT32,
    language=st.sampled_from(Language),
    version=st.integers(-(2**15), 2**15 - 1),
    remark=st.none() | TEXTS.filter(bool),
    ext_fields=st.none() | st.dictionaries(TEXTS, TEXTS, min_size=1, max_size=5),
    body=st.binary(max_size=50),
    header_form=st.just(HeaderForm.ROCKETMQ),
)


@given(JSON_COMMANDS | BINARY_COMMANDS)
def test_what_is_written_is_read(command: Command) -> None:
    assert decode_header(command.header_form, encode_header(command), command.body) == command


@given(st.sampled_from(HeaderForm), st.binary(max_size=200))
def test_bytes_are_a_header_or_broken(form: HeaderForm, header: bytes) -> None:
    try:
        command = decode_header(form, header)
    except BrokenFrame:
        return
    assert isinstance(command, Command)


JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
HEADER_KEYS = ("code", "language", "version", "opaque", "flag", "remark", "extFields", "strange")


@given(JSON_VALUES | st.fixed_dictionaries({}, optional=dict.fromkeys(HEADER_KEYS, JSON_VALUES)))
def test_json_is_a_header_or_broken(value: object) -> None:
    try:
        command = decode_header(HeaderForm.JSON, json.dumps(value).encode())
    except BrokenFrame:
        return
    assert all(isinstance(part, str) for field in (command.ext_fields or {}).items() for part in field)


def decode(header: str) -> Command:
    return decode_header(HeaderForm.JSON, header.encode())


def test_numbers_and_booleans_become_texts_as_in_fastjson() -> None:
    header = '{"code":38,"opaque":7,"extFields":{"a":1,"b":true,"c":1.5,"d":null,"e":"x"}}'

    assert decode(header).ext_fields == {"a": "1", "b": "true", "c": "1.5", "e": "x"}


def test_what_may_be_missing_has_its_default() -> None:
    command = decode('{"code":38,"opaque":7,"unknown":[]}')

    assert command == Command(code=38, opaque=7, language=Language.OTHER, version=0, ext_fields=None)


def test_what_goes_out_in_java_s_name_looks_like_java_s() -> None:
    command = Command(code=0, opaque=7, flag=1, language=Language.JAVA, version=479, ext_fields=None)

    assert encode_header(command) == (
        b'{"code":0,"flag":1,"language":"JAVA","opaque":7,"serializeTypeCurrentRPC":"JSON","version":479}'
    )


def test_a_lone_surrogate_goes_out_as_a_question_mark() -> None:
    assert b'"remark":"?"' in encode_header(Command(code=1, opaque=7, remark="\ud800"))


def test_what_is_no_utf_8_is_replaced() -> None:
    header = b'{"code":1,"opaque":7,"remark":"\xff"}'

    assert decode_header(HeaderForm.JSON, header).remark == "\ufffd"


@pytest.mark.parametrize(
    ("header", "message"),
    [
        ("", "no JSON"),
        ("[" * 100_000, "header's JSON is nested too deep"),
        ('{"code":' + "9" * 5_000 + ',"opaque":7}', "header's JSON has a whole number of more than 4300 digits"),
        ("[]", "list"),
        ('{"opaque":7}', "code is None"),
        ('{"code":38}', "opaque is None"),
        ('{"code":"38","opaque":7}', "code is '38'"),
        ('{"code":true,"opaque":7}', "code is True"),
        ('{"code":2147483648,"opaque":7}', "int32"),
        ('{"code":38,"opaque":7,"version":1.5}', "version is 1.5"),
        ('{"code":38,"opaque":7,"remark":{}}', "remark is a JSON dict"),
        ('{"code":38,"opaque":7,"extFields":[]}', "extFields is a JSON list"),
        ('{"code":38,"opaque":7,"extFields":{"a":{}}}', "ext field a"),
        ('{"code":38,"opaque":7,"remark":' + "[" * 980 + "]" * 980 + "}", "JSON"),
        (f'{{"code":38,"opaque":7,"extFields":{{"a":"{"x" * (MAX_VALUE_LENGTH + 1)}"}}}}', "characters; at most"),
        (f'{{"code":38,"opaque":7,"extFields":{{"{"x" * (MAX_NAME_LENGTH + 1)}":""}}}}', "name has 256 characters"),
    ],
)
def test_a_json_header_that_makes_no_sense_is_broken(header: str, message: str) -> None:
    with pytest.raises(BrokenFrame) as broken:
        decode(header)

    assert message in str(broken.value)
    assert "sys." not in str(broken.value)
    assert len(str(broken.value)) < 200


def test_too_many_ext_fields_are_broken() -> None:
    fields = {str(number): "" for number in range(MAX_EXT_FIELDS + 1)}
    block = b"".join(pack(">h", len(name)) + name.encode() + pack(">i", 0) for name in fields)
    binary = pack(">hBhii", 38, 3, 401, 7, 0) + pack(">ii", 0, len(block)) + block

    with pytest.raises(BrokenFrame, match="257 ext fields"):
        decode(json.dumps({"code": 38, "opaque": 7, "extFields": fields}))
    with pytest.raises(BrokenFrame, match="more than 256 ext fields"):
        decode_header(HeaderForm.ROCKETMQ, binary)


BINARY = bytes.fromhex("002603019100000007000000000000000000000014000d636f6e73756d657247726f75700000000147")


def test_a_binary_header_is_read_and_written() -> None:
    command = Command(
        code=38, opaque=7, version=401, ext_fields={"consumerGroup": "G"}, header_form=HeaderForm.ROCKETMQ
    )

    assert decode_header(HeaderForm.ROCKETMQ, BINARY) == command
    assert encode_header(command) == BINARY


@pytest.mark.parametrize("length", range(len(BINARY)))
def test_a_truncated_binary_header_is_broken(length: int) -> None:
    with pytest.raises(BrokenFrame):
        decode_header(HeaderForm.ROCKETMQ, BINARY[:length])


@pytest.mark.parametrize(("at", "value"), [(13, -1), (13, 2**31 - 1), (17, -1), (17, 21), (36, -1), (36, 2), (21, -1)])
def test_a_length_that_lies_is_broken(at: int, value: int) -> None:
    form = ">h" if at == 21 else ">i"
    lying = bytearray(BINARY)
    lying[at : at + (2 if at == 21 else 4)] = pack(form, value)

    with pytest.raises(BrokenFrame):
        decode_header(HeaderForm.ROCKETMQ, bytes(lying))


def test_an_unknown_form_is_broken() -> None:
    with pytest.raises(BrokenFrame, match="serialize type is 2"):
        decode_header(2, b"{}")


@pytest.mark.parametrize(
    "command",
    [
        Command(code=200_050, opaque=7, header_form=HeaderForm.ROCKETMQ),
        Command(code=38, opaque=7, version=40_000, header_form=HeaderForm.ROCKETMQ),
        Command(code=38, opaque=7, ext_fields={"x" * 40_000: ""}, header_form=HeaderForm.ROCKETMQ),
    ],
)
def test_what_a_binary_header_cannot_carry_is_our_mistake(command: Command) -> None:
    with pytest.raises(LocalProtocolError, match="a binary header carries"):
        encode_header(command)


@pytest.mark.parametrize("stated", ["", ',"serializeTypeCurrentRPC":"JSON"', ',"serializeTypeCurrentRPC":null'])
@pytest.mark.parametrize("language", ["JAVA", "GO"])
def test_whether_a_header_names_its_own_form_makes_no_difference(language: str, stated: str) -> None:
    command = decode(f'{{"code":38,"opaque":7,"language":"{language}"{stated}}}')

    assert command == Command(code=38, opaque=7, language=Language[language], version=0, ext_fields=None)
    assert (b"serializeTypeCurrentRPC" in encode_header(command)) is (language == "JAVA")


@pytest.mark.parametrize("language", ['"ZIG"', '"java"', '""', "null", "12", "{}"])
def test_a_language_that_nobody_lists_goes_out_as_one_that_java_knows(language: str) -> None:
    command = decode(f'{{"code":38,"opaque":7,"language":{language}}}')

    assert json.loads(encode_header(command))["language"] == "OTHER"


@pytest.mark.parametrize("number", [14, 127, 128, 255])
def test_a_language_number_that_nobody_lists_is_other(number: int) -> None:
    command = decode_header(HeaderForm.ROCKETMQ, BINARY[:2] + bytes([number]) + BINARY[3:])

    assert command.language is Language.OTHER
    assert encode_header(command)[2] == Language.OTHER


def test_ext_fields_that_are_null_are_none_and_those_that_are_empty_stay() -> None:
    absent, empty = decode('{"code":38,"opaque":7,"extFields":null}'), decode('{"code":38,"opaque":7,"extFields":{}}')

    assert absent.ext_fields is None and "extFields" not in json.loads(encode_header(absent))
    assert empty.ext_fields == {} and json.loads(encode_header(empty))["extFields"] == {}


def test_a_remark_that_is_null_is_none_and_an_empty_one_stays() -> None:
    absent, empty = decode('{"code":38,"opaque":7,"remark":null}'), decode('{"code":38,"opaque":7,"remark":""}')

    assert absent.remark is None and "remark" not in json.loads(encode_header(absent))
    assert empty.remark == "" and json.loads(encode_header(empty))["remark"] == ""
