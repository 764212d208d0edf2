from struct import pack

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection, Ended
from rebalance_engine.remoting.errors import LocalProtocolError
from rebalance_engine.remoting.frames import encode_frame
from tests.rebalance_engine.remoting.recordings import RELEASES, recorded

COMMANDS = [Command(code=34, opaque=1, body=b"{}"), Command(code=38, opaque=2), Command(code=0, opaque=9, flag=1)]
STREAM = b"".join(map(encode_frame, COMMANDS))


def receive(*pieces: bytes, **limits: int) -> list[Command | Ended]:
    connection = Connection(**limits)
    for piece in pieces:
        connection.receive_data(piece)
    return connection.events_received()


def test_frames_arrive_in_one_piece() -> None:
    assert receive(STREAM) == COMMANDS


def test_frames_arrive_byte_by_byte() -> None:
    assert receive(*(STREAM[at : at + 1] for at in range(len(STREAM)))) == COMMANDS


@pytest.mark.parametrize("at", range(len(STREAM)))
def test_frames_arrive_in_two_pieces(at: int) -> None:
    assert receive(STREAM[:at], STREAM[at:]) == COMMANDS


@pytest.mark.parametrize("release", RELEASES)
@given(data=st.data())
def test_a_recorded_conversation_arrives_in_any_pieces(release: str, data: st.DataObject) -> None:
    frames = [frame for frame in recorded(release) if frame.connection == recorded(release)[0].connection]
    stream = b"".join(frame.frame for frame in frames)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=20)))

    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    assert receive(*pieces) == [frame.command for frame in frames]


def test_bytes_left_over_wait_for_the_rest() -> None:
    connection = Connection()
    connection.receive_data(STREAM[:-1])

    assert connection.events_received() == COMMANDS[:-1]
    assert connection.events_received() == []

    connection.receive_data(STREAM[-1:])

    assert connection.events_received() == COMMANDS[-1:]


def test_an_end_between_frames_is_an_end() -> None:
    connection = Connection()
    connection.receive_data(STREAM)
    connection.receive_eof()
    connection.receive_eof()

    assert connection.events_received() == [*COMMANDS, Ended()]


def test_an_end_within_a_frame_is_broken() -> None:
    connection = Connection()
    connection.receive_data(STREAM[:-1])
    connection.receive_eof()

    *commands, ended = connection.events_received()

    assert commands == COMMANDS[:-1]
    assert isinstance(ended, Ended)
    assert "ended within a frame" in str(ended.error)


@pytest.mark.parametrize(
    ("start", "message"),
    [
        (pack(">i", -1), "frame has -1 bytes"),
        (pack(">i", 3), "frame has 3 bytes"),
        (pack(">i", 1_000), "frame has 1000 bytes"),
        (pack(">ii", 10, 7), "header has 7 bytes"),
        (pack(">iI", 10, 2 << 24 | 6) + b"{}{}{}", "serialize type is 2"),
        (b"\x16\x03\x01\x02\x00", "frame has"),  # a TLS handshake
        (b"GET / HTTP/1.1", "frame has"),
    ],
)
def test_what_is_no_frame_ends_the_connection_after_those_that_were(start: bytes, message: str) -> None:
    connection = Connection(max_received=1_000)
    connection.receive_data(STREAM + start)

    *commands, ended = connection.events_received()

    assert commands == COMMANDS
    assert isinstance(ended, Ended)
    assert message in str(ended.error)

    connection.receive_data(STREAM)
    connection.receive_eof()

    assert connection.events_received() == []


def test_a_frame_as_long_as_allowed_is_read() -> None:
    frame = encode_frame(COMMANDS[0])

    assert receive(frame, max_received=len(frame)) == [COMMANDS[0]]
    assert isinstance(receive(frame, max_received=len(frame) - 1)[0], Ended)


@given(st.binary(max_size=300))
def test_any_bytes_are_commands_and_then_an_end(data: bytes) -> None:
    connection = Connection()
    connection.receive_data(data)
    connection.receive_eof()

    events = connection.events_received()

    assert isinstance(events[-1], Ended)
    assert all(isinstance(event, Command) for event in events[:-1])


@given(st.lists(st.tuples(st.integers(0, 2_000), st.integers(0, 255)), min_size=1, max_size=3))
def test_a_recording_with_wrong_bytes_is_commands_and_then_an_end(changes: list[tuple[int, int]]) -> None:
    stream = bytearray(b"".join(frame.frame for frame in recorded("5.5.0")[:10]))
    for at, value in changes:
        stream[at % len(stream)] = value

    test_any_bytes_are_commands_and_then_an_end.hypothesis.inner_test(bytes(stream))  # type: ignore[attr-defined]  # hypothesis adds it


def test_commands_are_sent_in_order_and_once() -> None:
    connection = Connection()
    for command in COMMANDS:
        connection.send(command)

    assert b"".join(connection.data_to_send()) == STREAM
    assert connection.data_to_send() == []


def test_nothing_is_sent_to_a_peer_that_is_gone() -> None:
    connection = Connection()
    connection.receive_eof()

    with pytest.raises(LocalProtocolError, match="has ended"):
        connection.send(COMMANDS[0])
