"""Facts as lines: every kind there and back, every way in which a line can be wrong."""

import dataclasses
import io
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rebalance_engine.eventlog import (
    MAX_LINE_BYTES,
    BadValue,
    DuplicateKey,
    EventLogError,
    LineTooLong,
    MissingField,
    NotJson,
    Problem,
    TrailingText,
    UnknownEvent,
    UnknownField,
    UnknownVersion,
    WrongType,
    read,
    read_lines,
    split,
    write,
)
from rebalance_engine.events import FACTS, Fact, HeldSeen, MemberJoined, shapes
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.facts import EVERY_KIND, facts, plain

VERSION_1 = Path(__file__).with_name("eventlog_v1.jsonl").read_text().splitlines()
JOINED = '{"v":1,"event":"MemberJoined","at":5,"source":{"origin":"simulator"},"exactness":{"bound":"exact"}'
LINE = JOINED + ',"group":"shop","client":"A"}'
TAKEN = LINE.replace("MemberJoined", "QueueTaken").replace('"client":"A"', '"client":"A","queue":["orders","east",3]')
HELD = LINE.replace("MemberJoined", "HeldSeen").replace('"client":"A"', '"client":"A","queues":[],"dropped":[]')


def changed(**fields: Any) -> str:
    """Write LINE with other fields."""
    return json.dumps(json.loads(LINE) | fields)


@pytest.mark.parametrize("kind", EVERY_KIND, ids=lambda kind: kind.__name__)
@settings(max_examples=40, suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow])
@given(data=st.data())
def test_every_fact_comes_back_as_it_was(kind: type[Fact], data: st.DataObject) -> None:
    fact = data.draw(facts(kind))

    line = write(fact)

    assert read(line) == fact
    assert write(read(line)) == line
    assert line.isascii() and line.isprintable()


def test_a_line_is_what_the_page_says() -> None:
    fact = plain(MemberJoined, at=5, group="shop")

    assert write(fact) == LINE


@pytest.mark.parametrize("line", VERSION_1, ids=lambda line: json.loads(line)["event"])
def test_a_line_of_version_1_reads_and_writes_as_ever(line: str) -> None:
    assert write(read(line)) == line


def test_version_1_has_a_line_of_every_fact_with_every_field() -> None:
    fields: dict[str, set[str]] = {name: set() for name in FACTS}
    for line in VERSION_1:
        record = json.loads(line)
        fields[record["event"]] |= record.keys() - {"v", "event"}

    assert fields == {name: set(shapes(kind)) for name, kind in FACTS.items()}


def test_version_1_has_a_line_with_every_field_of_every_part() -> None:
    seen: dict[str, set[str]] = {}
    for line in VERSION_1:
        _collect_parts(read(line), seen)

    expected = {kind.__name__: set(shapes(kind)) for kind in _parts()}
    assert {name: seen[name] for name in expected} == expected


def _parts() -> set[type]:
    kinds = {shape.kind for fact in FACTS.values() for shape in shapes(fact).values()}
    return {kind for kind in kinds if dataclasses.is_dataclass(kind)}


def _collect_parts(record: object, seen: dict[str, set[str]]) -> None:
    for name in shapes(type(record)):
        value = getattr(record, name)
        if value is not None:
            seen.setdefault(type(record).__name__, set()).add(name)
        for part in value if type(value) is tuple else (value,):
            if dataclasses.is_dataclass(part):
                _collect_parts(part, seen)


@pytest.mark.parametrize(
    "name", ["\ud800", "\udc00\ud800", "\U0001f600", "店", '"\\', "\x00\n\r\u2028", "<b>\u202e", "x" * 1000]
)
def test_a_hostile_name_survives_on_one_line_of_ascii(name: str) -> None:
    line = write(plain(MemberJoined, client=name))

    assert line.isascii() and len(line.splitlines()) == 1
    read_back = read(line)
    assert isinstance(read_back, MemberJoined) and read_back.client == name


def test_two_surrogates_side_by_side_are_one_character_as_in_java() -> None:
    assert read(write(plain(MemberJoined, client="\ud83d\ude00"))) == plain(MemberJoined, client="\U0001f600")


@pytest.mark.parametrize("ending", ["", "\n", "\r\n"])
def test_the_end_of_the_line_does_not_matter(ending: str) -> None:
    assert read(LINE + ending) == read((LINE + ending).encode()) == read(LINE)


def test_the_order_of_the_keys_does_not_matter() -> None:
    backwards = json.dumps(dict(reversed(json.loads(LINE).items())))

    assert backwards != LINE
    assert read(backwards) == read(LINE)


def test_a_fact_that_is_not_in_the_table_has_no_line() -> None:
    stranger = dataclasses.make_dataclass("Stranger", [], bases=(MemberJoined,), frozen=True, slots=True)
    namesake = dataclasses.make_dataclass("MemberJoined", [], bases=(MemberJoined,), frozen=True, slots=True)

    with pytest.raises(UnknownEvent, match="Stranger is not a fact of the event log; it must be in FACTS"):
        write(plain(stranger))
    with pytest.raises(UnknownEvent, match="MemberJoined is not a fact"):
        write(plain(namesake))


WRONG_LINES = {
    "nothing": ("", NotJson, "Expecting value at character 0"),
    "a list": ("[1]", NotJson, r"'\[1\]' is no object"),
    "cut": (LINE[:-9], NotJson, r"at character \d+ of .*; a line is one JSON object"),
    "a comma too many": (LINE[:-1] + ",}", NotJson, "at character"),
    "a raw line feed": (LINE.replace("shop", "sh\nop"), NotJson, "Invalid control character"),
    "NaN": (LINE.replace("5", "NaN", 1), NotJson, "NaN is no JSON"),
    "infinity": (LINE.replace("5", "-Infinity", 1), NotJson, "-Infinity is no JSON"),
    "nested too deep": ("[" * 200_000, NotJson, "nested too deep"),
    "a number of 5,000 digits": (LINE.replace("5", "5" * 5000, 1), NotJson, "digits"),
    "another object": (LINE + LINE, TrailingText, f"Extra data at character {len(LINE)}"),
    "a word behind": (LINE + " x", TrailingText, "Extra data"),
    "a key twice": (LINE[:-1] + ',"group":"shop"}', DuplicateKey, r"\['group'\] more than once"),
    "an inner key twice": (
        LINE.replace('"bound":"exact"', '"bound":"exact","bound":"exact"'),
        DuplicateKey,
        r"\['bound'\] more than once in one object",
    ),
    "no version": (LINE.replace('"v":1,', ""), MissingField, "no 'v'; a line begins with its version"),
    "version 2": (LINE.replace('"v":1', '"v":2'), UnknownVersion, "version 2; this reads version 1"),
    "version true": (LINE.replace('"v":1', '"v":true'), UnknownVersion, "version True; this reads version 1"),
    "version 1.0": (LINE.replace('"v":1', '"v":1.0'), UnknownVersion, r"version 1\.0; this reads"),
    "version as text": (LINE.replace('"v":1', '"v":"1"'), UnknownVersion, "version '1'"),
    "no event": (LINE.replace('"event":"MemberJoined",', ""), MissingField, "no 'event'"),
    "an unknown event": (changed(event="MemberSang"), UnknownEvent, "event 'MemberSang'; known are MemberJoined, "),
    "a base of events": (changed(event="GroupFact"), UnknownEvent, "event 'GroupFact'"),
    "an event that is no text": (changed(event=["MemberJoined"]), UnknownEvent, r"event \['MemberJoined'\]"),
    "an unknown field": (changed(colour="red"), UnknownField, r"MemberJoined has no field \['colour'\]; it has at, "),
    "an unknown field of a part": (
        changed(source={"origin": "simulator", "mood": 1}),
        UnknownField,
        r"Source has no field \['mood'\]; it has origin, ",
    ),
    "a missing field": (LINE.replace(',"client":"A"', ""), MissingField, "MemberJoined without client"),
    "two missing fields": (LINE.replace(',"group":"shop","client":"A"', ""), MissingField, "without group, client"),
    "a missing field of a part": (changed(source={}), MissingField, "Source without origin"),
    "a number for a text": (changed(group=7), WrongType, r"MemberJoined\.group is int 7; it needs str"),
    "true for a number": (changed(at=True), WrongType, r"MemberJoined\.at is bool True; it needs int"),
    "a fraction for a number": (changed(at=5.0), WrongType, r"MemberJoined\.at is float 5\.0; it needs int"),
    "a text for a number": (changed(at="5"), WrongType, r"MemberJoined\.at is str '5'; it needs int"),
    "null": (changed(client=None), WrongType, r"MemberJoined\.client is null; .* a field without a value is left out"),
    "null where nothing is allowed": (
        changed(source={"origin": "simulator", "broker": None}),
        WrongType,
        r"MemberJoined\.source\.broker is null; .* left out",
    ),
    "a text for an object": (changed(source="simulator"), WrongType, r"MemberJoined\.source is str .* needs object"),
    "a number for a word": (changed(exactness={"bound": 1}), WrongType, r"MemberJoined\.exactness\.bound is int 1"),
    "an object for a queue": (
        TAKEN.replace('["orders","east",3]', "{}"),
        WrongType,
        r"needs \[topic, broker, queue_id\]",
    ),
    "a short queue": (
        TAKEN.replace(",3]", "]"),
        WrongType,
        r"QueueTaken\.queue is list .* needs \[topic, broker, queue_id\]",
    ),
    "a long queue": (TAKEN.replace(",3]", ",3,4]"), WrongType, r"needs \[topic, broker, queue_id\]"),
    "a queue with its id as text": (TAKEN.replace(",3]", ',"3"]'), WrongType, r"needs \[topic, broker, queue_id\]"),
    "a queue with true for its id": (TAKEN.replace(",3]", ",true]"), WrongType, r"needs \[topic, broker, queue_id\]"),
    "an object for a list": (
        HELD.replace('"queues":[]', '"queues":{}'),
        WrongType,
        r"HeldSeen\.queues is dict .* needs list",
    ),
    "a text in a list of queues": (
        HELD.replace('"queues":[]', '"queues":["q"]'),
        WrongType,
        r"HeldSeen\.queues is str 'q'",
    ),
    "an unknown word": (
        changed(source={"origin": "hearsay"}),
        BadValue,
        r"MemberJoined\.source\.origin is 'hearsay'; it needs one of admin answer, client log",
    ),
    "a time before 1970": (changed(at=-1), BadValue, r"MemberJoined\.at is -1; it needs int from 0"),
    "an empty group": (changed(group=""), BadValue, r"MemberJoined\.group is ''; it needs str of at least 1"),
    "a queue id that Java cannot have": (
        TAKEN.replace(",3]", ",2147483648]"),
        BadValue,
        "a queue id from -1 to 2147483647",
    ),
    "a bound without its limit": (
        changed(exactness={"bound": "at most"}),
        BadValue,
        "'at most' with neither low nor high",
    ),
    "a figure outside of its bounds": (
        changed(exactness={"bound": "at most", "high": 4}),
        BadValue,
        "at is 5, outside of its own bounds",
    ),
}


@pytest.mark.parametrize(("line", "kind", "words"), WRONG_LINES.values(), ids=WRONG_LINES)
def test_a_wrong_line_is_refused_by_its_name(line: str, kind: type[EventLogError], words: str) -> None:
    with pytest.raises(EventLogError, match=words) as caught:
        read(line)

    assert type(caught.value) is kind
    assert len(str(caught.value)) < 1500


def test_the_lines_that_the_wrong_ones_were_made_of_are_right() -> None:
    assert [type(read(line)).__name__ for line in (LINE, TAKEN, HELD)] == ["MemberJoined", "QueueTaken", "HeldSeen"]


def test_bytes_that_are_not_utf_8_are_refused() -> None:
    with pytest.raises(NotJson, match=r"can't decode byte 0xff .* one JSON object in UTF-8"):
        read(LINE.encode().replace(b"shop", b"sh\xffop"))


@pytest.mark.parametrize("line", VERSION_1[:3] + VERSION_1[-3:], ids=lambda line: json.loads(line)["event"])
def test_a_line_that_was_cut_anywhere_is_refused(line: str) -> None:
    for length in range(len(line)):
        with pytest.raises(NotJson):
            read(line[:length])


@given(line=st.sampled_from(VERSION_1), data=st.data())
@settings(max_examples=300)
def test_a_damaged_line_is_a_fact_or_an_event_log_error_and_nothing_else(line: str, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(line)))
    inserted = data.draw(st.text(st.sampled_from('{}[]",:0-9.eE \\unltrfas\x00é'), max_size=4))
    removed = data.draw(st.integers(0, 4))

    (outcome,) = read_lines([line[:place] + inserted + line[place + removed :]])

    assert isinstance(outcome, Problem) or read(write(outcome)) == outcome


@given(st.binary())
def test_any_bytes_are_a_fact_or_a_problem(noise: bytes) -> None:
    (outcome,) = read_lines([noise])

    assert isinstance(outcome, Problem)
    assert outcome.line == noise


def test_a_line_as_long_as_allowed_is_read_and_one_byte_more_is_not() -> None:
    longest = changed(client="")
    longest = longest.replace('""', f'"{"x" * (MAX_LINE_BYTES - len(longest))}"')

    assert len(longest) == MAX_LINE_BYTES
    assert isinstance(read(longest + "\r\n"), MemberJoined)
    with pytest.raises(
        LineTooLong, match=f"a line of {MAX_LINE_BYTES + 1} bytes or more; {MAX_LINE_BYTES} are allowed"
    ):
        read(longest + " ")


def test_a_fact_that_holds_too_much_for_a_line_is_refused() -> None:
    with pytest.raises(LineTooLong, match=f"{MAX_LINE_BYTES} are allowed"):
        write(plain(MemberJoined, client="x" * MAX_LINE_BYTES))


def test_a_hundred_thousand_queues_have_room_on_a_line() -> None:
    queues = tuple(MessageQueue("orders", "broker-a", queue_id) for queue_id in range(100_000))

    assert len(write(plain(HeldSeen, queues=queues))) < MAX_LINE_BYTES


def test_no_line_is_left_out() -> None:
    lines = [LINE, "", LINE[:20], TAKEN, "{}", LINE]

    outcomes = list(read_lines(line + "\n" for line in lines))

    assert len(outcomes) == len(lines)
    problems = [outcome for outcome in outcomes if isinstance(outcome, Problem)]
    assert [(problem.line_number, problem.line) for problem in problems] == [
        (2, "\n"),
        (3, LINE[:20] + "\n"),
        (5, "{}\n"),
    ]
    assert [type(problem.error) for problem in problems] == [NotJson, NotJson, MissingField]


def test_lines_are_read_one_by_one() -> None:
    asked: list[int] = []

    def source() -> Iterator[str]:
        for number in range(3):
            asked.append(number)
            yield LINE

    next(read_lines(source()))

    assert asked == [0]


def test_a_stream_is_split_into_its_lines() -> None:
    stream = io.BytesIO(f"{LINE}\n\n{TAKEN}\r\n{HELD}".encode())

    assert [type(outcome).__name__ for outcome in read_lines(split(stream))] == [
        "MemberJoined",
        "Problem",
        "QueueTaken",
        "HeldSeen",
    ]


@pytest.mark.parametrize("extra", [1, 2, 3, MAX_LINE_BYTES, 3 * MAX_LINE_BYTES + 7])
@pytest.mark.parametrize("ending", [b"\n", b"\r\n"])
def test_a_line_that_is_too_long_costs_no_more_than_itself(extra: int, ending: bytes) -> None:
    stream = io.BytesIO(b"x" * (MAX_LINE_BYTES + extra) + ending + LINE.encode() + ending)

    lines = list(split(stream))
    first, second = read_lines(lines)

    assert isinstance(first, Problem) and isinstance(first.error, LineTooLong)
    assert max(map(len, lines)) <= MAX_LINE_BYTES + 3
    assert second == read(LINE)


@pytest.mark.parametrize(
    "hostile",
    [
        "[" * 2_000_000,
        '{"a":' * 500_000,
        '"' + "\\ud800" * 500_000,
        "1" * 4_000_000,
        '{"v":1,"event":"' + "x" * 4_000_000,
    ],
    ids=["lists", "objects", "surrogates", "digits", "name"],
)
def test_a_hostile_line_takes_no_longer_than_its_length(hostile: str) -> None:
    began = time.process_time()

    with pytest.raises(EventLogError):
        read(hostile)

    assert time.process_time() - began < 5
