"""Feed the codecs what nobody would send: ``python -m tests.rebalance_engine.remoting.fuzz [--cases N] [--first S]``.

Each case takes recorded frames, damages them, and insists that what comes out is a value or an error of
``remoting.errors``, whatever pieces the bytes come in, and that values are written and read again alike. A case is
its number: ``--first S --cases 1`` does the same again. Ends with 1 at the first case that fails, and shows it.
"""

import argparse
import sys
import traceback
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from random import Random

from rebalance_engine.remoting import codec, compression, fastjson, messages
from rebalance_engine.remoting.batches import Packed, decode_batch, encode_batch
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.connection import Connection, Ended
from rebalance_engine.remoting.errors import BrokenBody, BrokenContent, BrokenFrame, BrokenMessage
from rebalance_engine.remoting.headers import decode_header, encode_header
from rebalance_engine.remoting.messages import MAGIC_V1
from rebalance_engine.remoting.properties import decode_properties
from rebalance_engine.remoting.requests import REQUESTS
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.sysflags import Compression
from tests.rebalance_engine.remoting.recordings import RELEASES, recorded

# ---- what is fed ----

MARKS = [b'"', b"\\", b"{", b"}", b"[", b"]", b":", b",", b"{0:", b'"mqTable":},', b'{"$ref":"$"}', b"\x01", b"\x02"]
NUMBERS = [b"\x00\x00\x00\x00", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff", b"\x00\x00\x00\x01", b"\x80\x00\x00\x00"]


def damage(luck: Random, data: bytes) -> bytes:
    """Change a few places, so that much of it still makes sense."""
    changed = bytearray(data)
    for _ in range(luck.randrange(4)):
        luck.choice(DAMAGES)(luck, changed)
    return bytes(changed)


def _flip(luck: Random, data: bytearray) -> None:
    if data:
        data[luck.randrange(len(data))] ^= 1 << luck.randrange(8)


def _cut(luck: Random, data: bytearray) -> None:
    at = luck.randrange(len(data) + 1)
    del data[at : at + luck.choice([1, 2, 8, 100])]


def _repeat(luck: Random, data: bytearray) -> None:
    at = luck.randrange(len(data) + 1)
    data[at:at] = data[at : at + luck.choice([1, 4, 50])] * luck.choice([1, 2, 20])


def _insert(luck: Random, data: bytearray) -> None:
    at = luck.randrange(len(data) + 1)
    data[at:at] = luck.choice(MARKS)


def _overwrite(luck: Random, data: bytearray) -> None:
    at = luck.randrange(len(data) + 1)
    data[at : at + 4] = luck.choice(NUMBERS)


DAMAGES = [_flip, _cut, _repeat, _insert, _overwrite]


@cache
def corpus() -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(frame.frame for release in RELEASES for frame in recorded(release)))


@cache
def bodies() -> tuple[bytes, ...]:
    return tuple(dict.fromkeys(frame.command.body for release in RELEASES for frame in recorded(release)))


@cache
def packed() -> tuple[bytes, ...]:
    return tuple(compression.compress(kind, b"hello" * 20) for kind in Compression)


@cache
def pulled() -> tuple[bytes, ...]:
    return tuple(body for body in bodies() if body[4:5] == MAGIC_V1.to_bytes(4, "big")[:1])


BATCH = encode_batch([Packed(body=b"hi", flag=7), Packed(body=b"there", property_text="TAGS\x01A\x02")])

# ---- what must hold ----


def _frames(luck: Random) -> str:
    stream = b"".join(damage(luck, frame) for frame in luck.choices(corpus(), k=luck.randrange(1, 4)))
    cuts = sorted(luck.randrange(len(stream) + 1) for _ in range(luck.randrange(6)))
    pieces = [stream[start:end] for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True)]

    whole, in_pieces = _received([stream]), _received(pieces)

    assert list(map(repr, whole)) == list(map(repr, in_pieces))
    assert isinstance(whole[-1], Ended)
    commands = [event for event in whole if isinstance(event, Command)]
    assert len(commands) == len(whole) - 1
    for command in commands:
        _check_command(command)
    return "broken frames" if whole[-1].error else "sound frames"


def _received(pieces: Sequence[bytes]) -> list[Command | Ended]:
    connection = Connection()
    for piece in pieces:
        connection.receive_data(piece)
    connection.receive_eof()
    return connection.events_received()


def _check_command(command: Command) -> None:
    header = encode_header(command)
    again = decode_header(command.header_form, header, command.body)
    assert encode_header(again) == header
    _check_content(command)


def _content(luck: Random) -> str:
    fields = {name: damage(luck, b"12").decode("utf-8", "replace") for name in luck.choices(["topic", "queueId"], k=2)}
    is_response = luck.random() < 0.5
    return _check_content(
        Command(
            code=0 if is_response else luck.choice(list(REQUESTS)),
            opaque=7,
            flag=int(is_response),
            ext_fields=fields,
            body=damage(luck, luck.choice(bodies())),
        ),
        luck.choice(list(REQUESTS)),
    )


def _check_content(command: Command, asked: int = RequestCode.GET_CONSUMER_LIST_BY_GROUP) -> str:
    kind = REQUESTS[asked]
    try:
        read = codec.decode_response(kind, command) if command.is_response else codec.decode(command)
    except BrokenContent:
        return "broken contents"
    if isinstance(read, Response):
        assert codec.decode_response(kind, codec.encode_response(read, opaque=7)) == read
    else:
        assert codec.decode(codec.encode(read, opaque=7)) == read
    return "sound contents"


def _body(luck: Random) -> str:
    try:
        fastjson.read(damage(luck, luck.choice(bodies())))
    except BrokenBody:
        return "broken bodies"
    return "sound bodies"


def _message(luck: Random) -> str:
    data = damage(luck, luck.choice(pulled()))
    try:
        stored = messages.decode_messages(data)
    except BrokenMessage:
        return "broken messages"
    again = messages.decode_messages(b"".join(map(messages.encode_message, stored)))
    assert [message.body for message in again] == [message.body for message in stored]
    assert all(isinstance(decode_properties(message.property_text), dict) for message in stored)
    with suppress(BrokenMessage):
        assert [len(messages.unpack(message)) for message in stored]
    return "sound messages"


def _packed(luck: Random) -> str:
    kind = luck.choice(list(Compression))
    try:
        compression.inflate(kind, damage(luck, packed()[kind - 1]), max_size=1_000)
        batch = decode_batch(damage(luck, BATCH))
    except BrokenMessage:
        return "broken packs"
    assert decode_batch(encode_batch(batch)) == batch
    return "sound packs"


def _header(luck: Random) -> str:
    frame = luck.choice(corpus())
    end = 8 + int.from_bytes(frame[5:8], "big")
    try:
        command = decode_header(luck.randrange(2), damage(luck, frame[8:end]))
    except BrokenFrame:
        return "broken headers"
    encode_header(command)
    return "sound headers"


CHECKS: Sequence[Callable[[Random], str]] = [_frames, _content, _body, _message, _packed, _header]


# ---- the program ----


def run(first: int, cases: int) -> Counter[str]:
    """Do the cases, and count what came of them; the first that fails raises, with its number."""
    outcomes: Counter[str] = Counter()
    for case in range(first, first + cases):
        luck = Random(case)
        try:
            outcomes[CHECKS[case % len(CHECKS)](luck)] += 1
        except Exception as error:
            error.add_note(f"case {case}: --first {case} --cases 1 does it again")
            raise
    return outcomes


def _count(word: str) -> int:
    count = int(word)
    if count < 1:
        raise argparse.ArgumentTypeError(f"{word!r} is given; needed is 1 at least, as nothing would be checked")
    return count


def main(arguments: Sequence[str] | None = None) -> int:
    """Run as a program."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=_count, default=100_000, help="how many (%(default)s)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (%(default)s)")
    asked = parser.parse_args(arguments)
    try:
        outcomes = run(asked.first, asked.cases)
    except Exception:  # noqa: BLE001  # whatever it is, it is what was looked for
        sys.stdout.write(traceback.format_exc())
        return 1
    sys.stdout.write(
        f"{asked.cases} cases: {', '.join(f'{count} {name}' for name, count in sorted(outcomes.items()))}\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
