"""The wire: frames, requests, bodies and messages of recorded conversations beside the bare parsers under them.

The bound is what Python's own ``json`` takes for the same headers or bodies alone. Hostile bodies are measured at 1 and
4 MB: linear is a ratio of about four.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator

from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting import fastjson
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo, ProcessQueueInfo
from rebalance_engine.remoting.codec import decode, decode_response, encode, encode_response
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection
from rebalance_engine.remoting.errors import BrokenBody
from rebalance_engine.remoting.frames import encode_frame
from rebalance_engine.remoting.messages import decode_messages, encode_message
from rebalance_engine.remoting.requests import REQUESTS
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, GetConsumerRunningInfoResponse
from rebalance_engine.remoting.requests.contract import Response
from tests.bench.report import Aim, AimKind, Row
from tests.bench.timing import repeat
from tests.rebalance_engine.remoting.recordings import Recorded, recorded
from tests.rebalance_engine.remoting.test_fastjson import HOSTILE

RELEASE = "5.5.0"
BOUND = "json, headers alone"
LINEAR = Aim(AimKind.AT_MOST, 6.0)  # four times the size; caches and the allocator take their share
MEGABYTE = 1_000_000


def run(*, quick: bool) -> Iterator[Row]:
    """Measure it all; quick measures smaller bodies."""
    frames = recorded(RELEASE)
    yield from _frames(frames)
    yield from _requests(frames)
    yield from _messages(frames)
    yield from _running_info(1_000 if quick else 50_000)
    yield from _hostile(MEGABYTE // 10 if quick else MEGABYTE)


def _frames(frames: tuple[Recorded, ...]) -> Iterator[Row]:
    stream = b"".join(frame.frame for frame in frames)
    headers = [frame.frame[8 : len(frame.frame) - len(frame.command.body)].decode() for frame in frames]
    commands = [frame.command for frame in frames]
    parsed = list(map(json.loads, headers))
    assert _received(stream) == commands
    yield _each("decode frames", frames, lambda: _received(stream), lambda: list(map(json.loads, headers)))
    yield _each(
        "encode frames", frames, lambda: list(map(encode_frame, commands)), lambda: list(map(json.dumps, parsed))
    )


def _received(stream: bytes) -> list[object]:
    connection = Connection()
    connection.receive_data(stream)
    return [*connection.events_received()]


def _requests(frames: tuple[Recorded, ...]) -> Iterator[Row]:
    known = [frame for frame in frames if (frame.asked or frame.command).code in REQUESTS]
    requests = [frame.command for frame in known if not frame.command.is_response]
    responses = [(frame.asked.code, frame.command) for frame in known if frame.asked]
    asked, answered = list(map(decode, requests)), [_response(*pair) for pair in responses]
    yield _each("decode requests", requests, lambda: list(map(decode, requests)))
    yield _each("encode requests", requests, lambda: [encode(request, opaque=7) for request in asked])
    yield _each("decode responses", responses, lambda: [_response(*pair) for pair in responses])
    yield _each("encode responses", responses, lambda: [encode_response(answer, opaque=7) for answer in answered])


def _response(code: int, command: Command) -> Response:
    return decode_response(REQUESTS[code], command)


def _messages(frames: tuple[Recorded, ...]) -> Iterator[Row]:
    bodies = [frame.command.body for frame in frames if frame.asked and frame.asked.code == 11 and frame.command.body]
    pulled = b"".join(bodies * 25)
    stored = decode_messages(pulled)
    yield _each("decode stored messages", stored, lambda: decode_messages(pulled))
    yield _each("encode stored messages", stored, lambda: list(map(encode_message, stored)))


def _each(what: str, things: object, ours: Callable[[], object], bound: Callable[[], object] | None = None) -> Row:
    assert isinstance(things, list | tuple)
    took = repeat(ours).median_s / len(things)
    theirs = repeat(bound).median_s / len(things) if bound else None
    return Row(what, f"{len(things):,}", took, "s", BOUND if bound else "", theirs, note=f"{1 / took:,.0f} a second")


def _running_info(queues: int) -> Iterator[Row]:
    info = ConsumerRunningInfo(
        mq_table={MessageQueue("T", "east", number): ProcessQueueInfo() for number in range(queues)}
    )
    response = GetConsumerRunningInfoResponse(body=info)
    command = encode_response(response, opaque=7)
    standard = json.dumps(fastjson.read(command.body))
    assert decode_response(GetConsumerRunningInfo, command) == response
    bound = repeat(lambda: json.loads(standard)).median_s
    note = f"{len(command.body) / 1e6:.1f} MB with object keys"
    for what, call in (
        ("read the JSON of a running info", lambda: fastjson.read(command.body)),
        ("decode a running info", lambda: decode_response(GetConsumerRunningInfo, command)),
        ("encode a running info", lambda: encode_response(response, opaque=7)),
    ):
        yield Row(what, f"{queues:,} queues", repeat(call).median_s, "s", "json.loads, made standard", bound, note=note)


def _hostile(size: int) -> Iterator[Row]:
    for what, body in HOSTILE.items():
        small, large = body(size), body(4 * size)
        once = repeat(lambda: _refused(small)).median_s  # noqa: B023  # called at once
        four = repeat(lambda: _refused(large)).median_s  # noqa: B023
        note = f"{4 * size / 1e6:g} MB in {four:.3f} s"
        yield Row(f"hostile: {what}", "4 x the size", four / once, "x", aim=LINEAR, note=note)


def _refused(body: str) -> object:
    try:
        return fastjson.read(body)
    except BrokenBody as error:
        return str(error)
