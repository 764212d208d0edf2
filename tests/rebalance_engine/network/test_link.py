import asyncio
from dataclasses import dataclass, field
from typing import cast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.effects import Failure
from rebalance_engine.network.link import Link, NoAnswer
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.codec import encode, encode_response
from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.frames import encode_frame
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from tests.rebalance_engine.network.virtual import run

ASK = NotifyConsumerIdsChanged(consumer_group="G")


@dataclass
class Wire:
    """A transport that goes nowhere: keeps what is written, holds back as much as a test says."""

    written: list[bytes] = field(default_factory=list)
    queued: int = 0
    is_reading: bool = True
    is_over: bool = False
    link: Link | None = None

    def get_extra_info(self, name: str) -> object:
        return self if name == "socket" else ("10.0.0.9", 5000)

    def setsockopt(self, *_: int) -> None:
        """Take any option, as a socket does."""

    def set_write_buffer_limits(self, high: int) -> None:
        self.high = high

    def get_write_buffer_size(self) -> int:
        return self.queued

    def write(self, data: bytes) -> None:
        self.written.append(data)

    def is_closing(self) -> bool:
        return self.is_over

    def pause_reading(self) -> None:
        self.is_reading = False

    def resume_reading(self) -> None:
        self.is_reading = True

    def close(self) -> None:
        if not self.is_over and self.link is not None:
            self.is_over = True
            asyncio.get_running_loop().call_soon(self.link.connection_lost, None)

    abort = close


@dataclass
class Owner:
    heard: list[Command] = field(default_factory=list)
    closed: int = 0
    answer: Command | None = None

    def link_opened(self, _: Link) -> int:
        return 1

    def link_heard(self, link: Link, command: Command) -> None:
        self.heard.append(command)
        if self.answer is not None:
            link.send(self.answer)

    def link_closed(self, _: Link) -> None:
        self.closed += 1


def linked(address: str | None = "east:10911", **settings: float) -> tuple[Link, Wire, Owner]:
    owner, wire = Owner(), Wire()
    link = wire.link = Link(owner, NetworkSettings(**settings), address)  # type: ignore[arg-type]  # figures only
    link.connection_made(cast("asyncio.BaseTransport", wire))
    return link, wire, owner


def answer(opaque: int) -> bytes:
    return encode_frame(encode_response(Response(), opaque=opaque))


@given(cuts=st.sets(st.integers(0, 400)), opaques=st.lists(st.integers(0, 9), max_size=4))
def test_frames_may_come_in_any_pieces(cuts: set[int], opaques: list[int]) -> None:
    async def main() -> None:
        link, _, owner = linked()
        commands = [encode(ASK, opaque=opaque) for opaque in opaques]
        data = b"".join(map(encode_frame, commands))
        ends = sorted({cut for cut in cuts if cut < len(data)} | {len(data)})
        for start, end in zip([0, *ends], ends, strict=False):
            link.data_received(data[start:end])
        assert owner.heard == commands
        link.end()

    run(main())


@given(data=st.binary(max_size=200))
def test_no_bytes_do_more_than_end_the_connection(data: bytes) -> None:
    async def main() -> None:
        link, _, owner = linked()
        link.data_received(data)
        link.eof_received()
        link.end()
        await link.closed
        assert owner.closed == 1
        assert not link.is_open

    run(main())


def test_the_same_number_can_be_under_way_in_both_directions() -> None:
    async def main() -> None:
        link, _, owner = linked()
        asking = asyncio.create_task(link.ask(ASK, 10))
        await asyncio.sleep(0)
        link.data_received(encode_frame(encode(ASK, opaque=0)))
        assert not asking.done()
        link.data_received(answer(0))
        assert await asking == Response()
        assert [command.opaque for command in owner.heard] == [0]
        link.end()

    run(main())


def test_answers_that_nobody_waits_for_mean_nothing() -> None:
    async def main() -> None:
        link, _, owner = linked()
        link.data_received(answer(5) + answer(5))
        assert (link.is_open, owner.heard) == (True, [])
        link.end()

    run(main())


def test_a_connection_that_nothing_moves_on_is_idle_after_two_minutes() -> None:
    async def main() -> None:
        link, _, _ = linked()
        await asyncio.sleep(100)
        link.push(ASK)
        await asyncio.sleep(100)
        link.data_received(answer(1))
        await link.closed
        assert asyncio.get_running_loop().time() == 320

    run(main())


def test_what_is_written_for_a_peer_that_does_not_read_is_no_movement() -> None:
    async def main() -> None:
        link, _, _ = linked(address=None)
        link.pause_writing()
        await asyncio.sleep(100)
        link.push(ASK)
        await link.closed
        assert asyncio.get_running_loop().time() == 120

    run(main())


def test_a_timeout_ends_the_connection_only_if_nothing_at_all_came_for_long() -> None:
    async def main() -> None:
        link, _, _ = linked()
        with pytest.raises(NoAnswer):
            await link.ask(ASK, 29)
        assert link.is_open
        asking = asyncio.create_task(link.ask(ASK, 40))
        await asyncio.sleep(20)
        link.data_received(answer(99))
        with pytest.raises(NoAnswer):
            await asking
        assert link.is_open

        with pytest.raises(NoAnswer) as caught:
            await link.ask(ASK, 31)
        assert caught.value.failure is Failure.TIMEOUT
        assert link.reason is not None
        assert "nothing came for 51 s, though an answer was due" in link.reason
        await link.closed

    run(main())


def test_a_client_that_does_not_read_its_answers_is_not_read() -> None:
    async def main() -> None:
        served, wire, _ = linked(address=None)
        served.pause_writing()
        assert not wire.is_reading
        served.resume_writing()
        assert wire.is_reading
        served.end()

        calling, wire, _ = linked()
        calling.pause_writing()  # if both ends stopped reading, nothing would ever move again
        assert wire.is_reading
        calling.end()

    run(main())


def test_too_much_that_waits_cuts_the_peer_off() -> None:
    async def main() -> None:
        link, wire, _ = linked(max_queued=1000)
        wire.queued = 1000
        assert link.push(ASK)
        await asyncio.sleep(0)
        wire.queued = 1001
        assert not link.push(ASK)
        assert link.reason == "1001 bytes wait for a peer that does not read; 1000 may"
        await link.closed

    run(main())


def test_what_one_turn_of_the_loop_has_to_say_leaves_by_one_write() -> None:
    async def main() -> None:
        link, wire, _ = linked()
        for _ in range(3):
            assert link.push(ASK)
        waiting = link.queued
        await asyncio.sleep(0)
        assert (len(wire.written), len(wire.written[0]), link.queued) == (1, waiting, 0)

        for _ in range(1_000):
            link.push(ASK)
        assert len(wire.written) > 1  # much does not wait
        link.push(ASK)
        link.end()
        assert b"".join(wire.written).count(b"extFields") == 1_004  # nor is what was said last lost

    run(main())


def test_answers_to_what_came_together_leave_together() -> None:
    async def main() -> None:
        link, wire, owner = linked(None)
        owner.answer = encode_response(Response(), opaque=7)
        asked = encode_frame(encode(ASK, opaque=7, oneway=False))
        link.data_received(asked * 5)
        assert len(wire.written) == 1

    run(main())


def test_a_client_may_send_no_frame_that_java_would_not_take() -> None:
    async def main() -> None:
        served, _, _ = linked(address=None)
        served.data_received((16 * 2**20 - 3).to_bytes(4, "big"))
        assert served.reason is not None
        assert "it needs 4 to 16777212" in served.reason
        calling, _, _ = linked()
        calling.data_received((16 * 2**20 - 3).to_bytes(4, "big"))
        assert calling.is_open
        calling.end()
        await served.closed

    run(main())


def test_who_waits_to_write_is_told_when_the_connection_ends() -> None:
    async def main() -> None:
        link, _, _ = linked()
        link.pause_writing()
        asking = asyncio.create_task(link.ask(ASK, 100))
        telling = asyncio.create_task(link.tell(ASK, 100))
        await asyncio.sleep(1)
        link.abort("pulled out")
        results = await asyncio.gather(asking, telling, return_exceptions=True)
        assert [str(result) for result in results] == [
            "east:10911: the connection closed before the answer (pulled out)"
        ] * 2

    run(main())


def test_a_oneway_request_waits_no_longer_than_told() -> None:
    async def main() -> None:
        link, wire, _ = linked()
        link.pause_writing()
        with pytest.raises(NoAnswer, match="no answer in time"):
            await link.tell(ASK, 5)
        assert wire.written == []
        link.end()

    run(main())
