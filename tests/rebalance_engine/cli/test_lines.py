import asyncio
import json
import os
import threading
import time
from collections.abc import Callable

import pytest

from rebalance_engine.cli.lines import ROOM, Lines, ReaderStalls, put, queue_name, saying, to_stdout
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.network.loop import on_a_loop


class Reader:
    """Takes what is written, once it is let."""

    def __init__(self, *, reads: bool = True) -> None:
        self.got: list[bytes] = []
        self.may = threading.Event()
        if reads:
            self.may.set()

    def write(self, data: bytes) -> None:
        self.may.wait()
        self.got.append(data)

    @property
    def lines(self) -> list[dict[str, object]]:
        return [json.loads(line) for line in b"".join(self.got).splitlines()]


@on_a_loop
async def test_a_line_is_one_object_with_its_time_and_all_come_in_their_order() -> None:
    reader = Reader()
    lines = Lines(reader.write)
    before = time.time_ns() // 1_000_000
    lines.say("got", queue="orders/east/0", offset=7, body="é\n")
    lines.say("held", 5, queues=[])
    await lines.close()

    first, second = reader.lines
    at = first.pop("ms")
    assert isinstance(at, int) and at >= before
    assert first == {"saw": "got", "queue": "orders/east/0", "offset": 7, "body": "é\n"}
    assert second == {"ms": 5, "saw": "held", "queues": []}


@on_a_loop
async def test_who_says_much_waits_for_the_reader_and_loses_nothing() -> None:
    reader = Reader(reads=False)
    lines = Lines(reader.write)
    said = 0

    async def talk() -> None:
        nonlocal said
        for number in range(200):
            await lines.room()
            lines.say("got", number=number, body="x" * 1_000)
            said += 1

    talking = asyncio.create_task(talk())
    for _ in range(500):
        await asyncio.sleep(0)  # the loop goes on while the reader stands still
    assert ROOM // 1_100 <= said <= ROOM // 1_000 + 1
    reader.may.set()
    await talking
    await lines.close()

    assert [line["number"] for line in reader.lines] == list(range(200))


@on_a_loop
async def test_who_waits_for_a_reader_that_stalls_is_sent_on_in_the_end() -> None:
    reader = Reader(reads=False)
    lines = Lines(reader.write)
    lines.say("got", body="x" * 2 * ROOM)
    waiting = asyncio.create_task(lines.room())
    await asyncio.sleep(0)
    lines.hurry(0.0)

    with pytest.raises(ReaderStalls, match="is not read"):
        await waiting
    with pytest.raises(ReaderStalls, match="last lines could not be written"):
        await lines.close(0.01)
    reader.may.set()


@on_a_loop
async def test_a_reader_who_has_gone_is_an_error_for_whoever_speaks() -> None:
    def write(_: bytes) -> None:
        raise BrokenPipeError("gone")

    lines = Lines(write)
    lines.say("got", body="x" * 2 * ROOM)

    with pytest.raises(BrokenPipeError):
        await lines.room()
    with pytest.raises(BrokenPipeError):
        lines.say("got")
    with pytest.raises(BrokenPipeError):
        await lines.close()


@on_a_loop
async def test_who_says_nothing_more_hears_that_the_reader_has_gone() -> None:
    def write(_: bytes) -> None:
        raise BrokenPipeError("gone")

    lines, lost, lost_too = Lines(write), asyncio.Event(), asyncio.Event()
    lines.when_lost(lost.set)
    lines.say("got")
    await lost.wait()
    lines.when_lost(lost_too.set)

    assert lost_too.is_set()
    with pytest.raises(BrokenPipeError):
        await lines.close()


def _stalls(_: Lines) -> None:
    raise ReaderStalls("is not read")


def _goes(lines: Lines) -> None:
    lines.error = BrokenPipeError("gone")
    raise lines.error


@pytest.mark.parametrize(("end", "said"), [(_stalls, "is not read"), (_goes, "cannot be written: gone")])
def test_a_command_whose_lines_nobody_takes_ends_with_1_and_a_word(
    end: Callable[[Lines], None], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    async def main(lines: Lines) -> int:
        end(lines)
        return 0

    assert asyncio.run(saying(main)) == 1
    assert said in capsys.readouterr().err


def test_other_errors_are_not_taken_for_the_readers() -> None:
    async def main(_: Lines) -> int:
        raise FileNotFoundError("ca.pem")

    with pytest.raises(FileNotFoundError):
        asyncio.run(saying(main))


def test_all_bytes_are_written_past_the_buffer_of_python(monkeypatch: pytest.MonkeyPatch) -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as reader, os.fdopen(writing, "w") as stdout:
        os.set_blocking(writing, False)
        monkeypatch.setattr("sys.stdout", stdout)
        data = b"x" * 300_000  # more than a pipe holds
        thread = threading.Thread(target=to_stdout, args=(data,))
        thread.start()
        assert reader.read(len(data)) == data
        thread.join()


def test_one_object_is_printed_at_once(capsys: pytest.CaptureFixture[str]) -> None:
    put({"saw": "ready"})

    assert capsys.readouterr().out == '{"saw":"ready"}\n'


def test_a_queue_is_named_in_three_parts() -> None:
    assert queue_name(MessageQueue("orders", "east", 3)) == "orders/east/3"
