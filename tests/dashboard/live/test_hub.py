"""One subscription for all sockets of a process, and none of them can hold up another."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from functools import wraps
from typing import ParamSpec

import pytest
from channels.layers import InMemoryChannelLayer, get_channel_layer
from redis.exceptions import ConnectionError as RedisAway

from dashboard.live import hub as hubs
from dashboard.live.hub import Hub, StepEvent, hub

P = ParamSpec("P")


def run(test: Callable[P, Coroutine[None, None, None]]) -> Callable[P, None]:
    """Run a test in a loop of its own."""

    @wraps(test)
    def alone(*args: P.args, **kwargs: P.kwargs) -> None:
        asyncio.run(test(*args, **kwargs))

    return alone


class Ear:
    """A socket that notes what it hears."""

    def __init__(self, *, breaks: bool = False) -> None:
        self.heard: list[int] = []
        self.breaks = breaks
        self.news = asyncio.Event()

    def hear(self, event: StepEvent) -> None:
        if self.breaks:
            raise ValueError("not a socket")
        self.heard.append(event["seq"])
        self.news.set()

    async def wait_for(self, seq: int) -> None:
        async with asyncio.timeout(30):
            while seq not in self.heard:
                self.news.clear()
                await self.news.wait()


class Counting(InMemoryChannelLayer):  # type: ignore[misc] # Channels has no types
    """Counts what is asked of Redis."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.fails = 0
        self.is_open = asyncio.Event()
        self.is_open.set()
        self.is_asked = asyncio.Event()

    async def group_add(self, group: str, channel: str) -> None:
        self.asked.append(f"add {group}")
        self.is_asked.set()
        await self.is_open.wait()
        if self.fails:
            self.fails -= 1
            raise RedisAway("no Redis")
        await super().group_add(group, channel)

    async def group_discard(self, group: str, channel: str) -> None:
        self.asked.append(f"discard {group}")
        if self.fails:
            self.fails -= 1
            raise RedisAway("no Redis")
        await super().group_discard(group, channel)

    async def receive(self, channel: str) -> dict[str, object]:
        if self.fails:
            self.fails -= 1
            raise RedisAway("no Redis")
        event: dict[str, object] = await super().receive(channel)
        return event


@pytest.fixture
def layer(monkeypatch: pytest.MonkeyPatch) -> Iterator[Counting]:
    made = Counting()
    monkeypatch.setattr(hubs, "get_channel_layer", lambda: made)
    monkeypatch.setattr(hubs, "AGAIN_AFTER_S", 0.0)
    yield made
    assert not made.groups


async def say(layer: Counting, seq: int, stream: str = "s") -> None:
    await layer.group_send(
        stream, {"type": "push.step", "stream": stream, "seq": seq, "is_step": True, "body": b"body"}
    )


@run
async def test_many_sockets_of_a_stream_cost_one_subscription(layer: Counting) -> None:
    one, ears = Hub(), [Ear() for _ in range(100)]
    await asyncio.gather(*(one.follow("s", ear) for ear in ears))

    await say(layer, 1)
    await asyncio.gather(*(ear.wait_for(1) for ear in ears))

    assert layer.asked == ["add s"]
    assert one.followers("s") == 100
    await asyncio.gather(*(one.leave("s", ear) for ear in ears))
    assert layer.asked == ["add s", "discard s"]
    assert one.is_idle


@run
async def test_who_comes_second_waits_until_messages_are_sure_to_come(layer: Counting) -> None:
    one, first, second = Hub(), Ear(), Ear()
    layer.is_open.clear()
    both = asyncio.gather(one.follow("s", first), one.follow("s", second))
    await layer.is_asked.wait()

    assert not both.done()
    layer.is_open.set()
    await both
    await say(layer, 1)
    await second.wait_for(1)

    for ear in (first, second):
        await one.leave("s", ear)


@run
async def test_a_socket_that_breaks_holds_up_no_other(layer: Counting) -> None:
    one, broken, well = Hub(), Ear(breaks=True), Ear()
    await one.follow("s", broken)
    await one.follow("s", well)

    await say(layer, 1)
    await say(layer, 2)

    await well.wait_for(2)
    assert well.heard == [1, 2]
    for ear in (broken, well):
        await one.leave("s", ear)


@run
async def test_who_left_hears_nothing_more_while_others_do(layer: Counting) -> None:
    one, first, second, other = Hub(), Ear(), Ear(), Ear()
    for ear in (first, second):
        await one.follow("s", ear)
    await one.follow("t", other)
    await one.leave("s", first)
    await one.leave("t", other)

    await say(layer, 1)
    await second.wait_for(1)

    assert first.heard == []
    assert layer.asked == ["add s", "add t", "discard t"]
    await one.leave("s", second)
    assert one.is_idle


@run
async def test_after_the_last_has_left_the_next_begins_anew(layer: Counting) -> None:
    one, ear = Hub(), Ear()
    for seq in (1, 2):
        await one.follow("s", ear)
        await say(layer, seq)
        await ear.wait_for(seq)
        await one.leave("s", ear)
        assert one.is_idle

    assert ear.heard == [1, 2]


@run
async def test_without_redis_nobody_is_let_follow_and_the_next_tries_again(layer: Counting) -> None:
    one, ear = Hub(), Ear()
    layer.fails = 1
    with pytest.raises(RedisAway):
        await one.follow("s", ear)

    await one.follow("s", ear)
    await say(layer, 1)
    await ear.wait_for(1)

    await one.leave("s", ear)
    assert one.is_idle


@run
async def test_a_redis_that_says_nothing_keeps_nobody_waiting(layer: Counting, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hubs, "WITHIN_S", 0.05)
    one, ear = Hub(), Ear()
    layer.is_open.clear()

    with pytest.raises(TimeoutError):
        await one.follow("s", ear)

    await one.leave("s", ear)
    assert one.is_idle


@run
async def test_it_goes_on_after_redis_was_away(layer: Counting, caplog: pytest.LogCaptureFixture) -> None:
    one, ear = Hub(), Ear()
    await one.follow("s", ear)
    layer.fails = 2
    await say(layer, 1)
    await ear.wait_for(1)
    await say(layer, 2)  # what is waited for now fails, twice

    await ear.wait_for(2)

    assert {record.message for record in caplog.records} <= {"the live sockets heard nothing for a moment"}
    await one.leave("s", ear)


@run
async def test_a_subscription_that_cannot_be_ended_ends_no_socket(
    layer: Counting, caplog: pytest.LogCaptureFixture
) -> None:
    one, ear = Hub(), Ear()
    await one.follow("s", ear)
    await asyncio.sleep(0)
    layer.fails = 1

    await one.leave("s", ear)

    assert one.is_idle
    assert "could not end the subscription to s" in caplog.text
    layer.groups.clear()


@run
async def test_each_loop_has_one_hub() -> None:
    assert hub() is hub()
    assert get_channel_layer() is not None
