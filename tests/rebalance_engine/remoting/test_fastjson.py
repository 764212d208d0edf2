import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting import fastjson
from rebalance_engine.remoting.errors import BrokenBody
from rebalance_engine.remoting.fastjson import MAX_DEPTH, read, read_object, write
from tests.rebalance_engine.remoting.work import attempt, is_linear

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=10)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(TEXTS.filter(lambda key: key != "$ref"), inner, max_size=4)
    ),
    max_leaves=20,
)
MARKS = [
    '"',
    "\\",
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    " ",
    "-",
    "1",
    "a",
    "\n",
    "\x01",
    '"mqTable":',
    '"$ref"',
    "{0:",
    "null",
]
QUEUE_KEY = '{"brokerName":"broker-a","queueId":0,"topic":"T"}'

# ---- what RocketMQ writes (remoting.md 3.4) ----


def test_bare_integer_keys_become_texts() -> None:
    route = (
        b'{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"broker-a",'
        b'"cluster":"DefaultCluster","enableActingMaster":false}],"filterServerTable":{},"queueDatas":[{"brokerName":'
        b'"broker-a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}'
    )

    read_route = read_object(route)

    assert read_route["brokerDatas"] == [
        {
            "brokerAddrs": {"0": "10.0.0.1:10911", "1": "10.0.0.2:10911"},
            "brokerName": "broker-a",
            "cluster": "DefaultCluster",
            "enableActingMaster": False,
        }
    ]


def test_an_object_as_key_becomes_its_own_text() -> None:
    stats = f'{{"consumeTps":1.5,"offsetTable":{{{QUEUE_KEY}:{{"brokerOffset":100,"consumerOffset":90}}}}}}'

    assert read(stats) == {
        "consumeTps": 1.5,
        "offsetTable": {QUEUE_KEY: {"brokerOffset": 100, "consumerOffset": 90}},
    }
    assert read(f'{{"offsetTable":{{{QUEUE_KEY}:5}}}}') == {"offsetTable": {QUEUE_KEY: 5}}


def test_a_reference_is_no_data() -> None:
    body = (
        '{"consumeTps":0.0,"offsetTable":{{"brokerName":"broker-a","queueId":1,"topic":"T"}:{"brokerOffset":0},'
        '{"brokerName":"broker-a","queueId":0,"topic":"T"}:{"$ref":"$.offsetTable.MessageQueue\\\\ \\\\[topic\\\\=T"}}}'
    )

    with pytest.raises(BrokenBody, match="reference"):
        read(body)
    with pytest.raises(BrokenBody, match="reference"):
        read('{"\\u0024ref":"$"}')
    with pytest.raises(BrokenBody, match="reference"):
        read('{"offsetTable":{"a":{"$r\\u0065f":"$.x"}}}')
    assert read('{"a":"$ref","b":"\\"$ref\\":"}') == {"a": "$ref", "b": '"$ref":'}


def test_the_traps_are_read() -> None:
    assert read('{"mqTable":},"jstack":"","properties":{}}') == {"mqTable": {}, "jstack": "", "properties": {}}
    assert read(
        r'{"a":"x,1:2 {3:4} \" ,5:","b":{0:"v",-1:"w"},"m":{{"topic":"T,{1:","queueId":0}:{"x":[1,{2:3},{"k":{4:5}}]}}}'
    ) == {
        "a": 'x,1:2 {3:4} " ,5:',
        "b": {"0": "v", "-1": "w"},
        "m": {'{"topic":"T,{1:","queueId":0}': {"x": [1, {"2": 3}, {"k": {"4": 5}}]}},
    }


def test_white_space_may_stand_between_all_of_it() -> None:
    body = ' { "mqTable" : } , \n "a" : { 0 : "v" , 1 : "w" } , "m" : { {"queueId" : 0 } : 5 } } '

    assert read(body) == {"mqTable": {}, "a": {"0": "v", "1": "w"}, "m": {'{"queueId" : 0 }': 5}}


def test_raw_control_characters_are_read() -> None:
    assert read(b'{"jstack":"goroutine 1\n\tmain\x00"}') == {"jstack": "goroutine 1\n\tmain\x00"}
    assert read(b'{"jstack":"a\nb","t":{0:1}}') == {"jstack": "a\nb", "t": {"0": 1}}


def test_what_is_no_number_is_nothing() -> None:
    assert read('{"tps":NaN,"rt":-Infinity,"big":1.0E10}') == {"tps": None, "rt": None, "big": 1.0e10}


def test_what_is_no_utf_8_is_replaced() -> None:
    assert read(b'{"a":"\xff"}') == {"a": "\ufffd"}


@given(VALUES)
def test_standard_json_is_read_as_it_is(value: object) -> None:
    assert read(json.dumps(value)) == value


# ---- what is hostile ----


@pytest.mark.parametrize(
    "body", ["", "{", "{]", '{"a"}', '{"a":1,}', "{1}", "{{}}", "nothing", '{"a":"', "{}{}", "1:2"]
)
def test_what_is_no_json_is_broken(body: str) -> None:
    with pytest.raises(BrokenBody, match=r"no JSON|never ends"):
        read(body)


@pytest.mark.parametrize("body", ['{"a":%s}', "{1:%s}"])
def test_a_number_without_end_is_broken_in_our_words(body: str) -> None:
    with pytest.raises(BrokenBody, match=r"^body has a whole number of more than 4300 digits$"):
        read(body % ("9" * 5_000))


@given(st.binary(max_size=200) | st.lists(st.sampled_from(MARKS), max_size=60).map("".join))
def test_anything_is_read_or_broken(body: bytes | str) -> None:
    value = attempt(lambda: read(body))

    assert isinstance(value, BrokenBody) or json.dumps(value)


def test_nesting_has_a_limit() -> None:
    assert read("[" * MAX_DEPTH + "]" * MAX_DEPTH)
    with pytest.raises(BrokenBody, match="nested 65 deep"):
        read("[" * 65 + "]" * 65)
    with pytest.raises(BrokenBody, match="nested deeper"):
        read('{"a":' * 100_000 + "1" + "}" * 100_000)
    assert read('["' + "[" * 1_000 + '"]')
    with pytest.raises(BrokenBody, match="nested 401 deep"):
        read('{"mqTable":},"a":' * 400 + "1" + "}" * 400)


def test_the_number_of_values_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fastjson, "MAX_VALUES", 10)

    assert read("[1,2,3,4,5,6,7,8,9,10]")
    with pytest.raises(BrokenBody, match="about 11 values; at most 10"):
        read("[1,2,3,4,5,6,7,8,9,10,11]")


def test_a_body_that_has_to_be_an_object_is_one() -> None:
    with pytest.raises(BrokenBody, match="JSON list"):
        read_object("[]")


SIZE = 4_000_000
HOSTILE: dict[str, Callable[[int], str]] = {
    "opening braces": lambda size: "{" * size,
    "opening brackets": lambda size: "[" * size,
    "deep nesting": lambda size: "[" * (size // 2) + "]" * (size // 2),
    "quotes": lambda size: '"' * size,
    "escaped quotes in a text that never ends": lambda size: '{"a":"' + '\\"' * (size // 2),
    "backslashes": lambda size: "\\" * size,
    "blanks after a brace": lambda size: "{" + " " * size,
    "blanks after commas": lambda size: (" " * 1_000 + ",") * (size // 1_001),
    "digits as a key": lambda size: "{" + "1" * size,
    "numbers as keys": lambda size: "{1" * (size // 2),
    "a long number": lambda size: "[" + "1" * size + "]",
    "a long fraction": lambda size: "[0." + "1" * size + "]",
    "objects that are no keys": lambda size: "{a}" * (size // 3),
    "objects that are keys": lambda size: "{" + ",".join(["{}:1"] * (size // 50)) + "}",
    "tables without a brace": lambda size: '"mqTable":},' * (size // 120),
    "empty arrays": lambda size: "[" + "[]," * (size // 3) + "[]]",
}


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_body_of_4_megabytes_is_read_or_broken(body: Callable[[int], str]) -> None:
    text = body(SIZE)

    assert isinstance(attempt(lambda: read(text)), BrokenBody | dict | list)


@pytest.mark.parametrize("body", HOSTILE.values(), ids=HOSTILE)
def test_the_work_for_a_hostile_body_grows_with_its_size(body: Callable[[int], str]) -> None:
    assert is_linear(lambda size: lambda: read(body(size)), 10_000)


# ---- writing ----


def test_a_mapping_by_queues_gets_object_keys() -> None:
    value = {
        "offsetTable": {MessageQueue("T", "broker-a", 0): 5},
        "list": [{MessageQueue("T", "broker-a", 0): "\u00e9"}],
    }

    assert write(value) == f'{{"offsetTable":{{{QUEUE_KEY}:5}},"list":[{{{QUEUE_KEY}:"\u00e9"}}]}}'.encode()


def test_integer_keys_are_never_bare() -> None:
    assert write({0: "a"}) == b'{"0":"a"}'
    assert write({"x": {0: "a"}, "m": {MessageQueue("T", "b", 0): {1: 2}}}).endswith(b':{"1":2}}}')


@given(st.dictionaries(st.builds(MessageQueue, TEXTS, TEXTS, st.integers(0, 9)), VALUES, max_size=4))
def test_what_is_written_with_object_keys_is_read(value: dict[MessageQueue, object]) -> None:
    read_again = read_object(write({"table": value}))["table"]

    assert isinstance(read_again, dict)
    keys = [read_object(key) for key in read_again]
    assert [(key["topic"], key["brokerName"], key["queueId"]) for key in keys] == [tuple(queue) for queue in value]
    assert list(read_again.values()) == list(value.values())


def test_what_json_cannot_hold_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="bytes is nothing"):
        write({"a": b""})
    with pytest.raises(ValueError, match="not JSON compliant"):
        write([float("inf")])
