"""Steps of streams: stored in the transaction of the change that they show, sent after it."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from threading import Lock

from asgiref.sync import async_to_sync
from channels.layers import get_channel_layer
from django.db import transaction
from django.db.models import Sum
from redis.exceptions import RedisError

from dashboard.push import tallies
from dashboard.push.group_diffs import step
from dashboard.push.messages import (
    VERSION,
    GroupSnapshot,
    GroupState,
    Message,
    OverviewDiff,
    Pulse,
    Row,
    Seen,
    decode,
    encode,
)
from dashboard.push.models import Step, Stream

logger = logging.getLogger(__name__)

MOST_KEPT = 8 * 2**20  # bytes as stored, some ten times as much as objects
MOST_STEPS = 200  # a browser that missed more gets a snapshot, which is shorter
GROUP_STREAMS = "group-"  # with the number of the group
SEND_WITHIN_S = 5.0
GROUP_SEND = "push.step"  # the type of the event that sockets get: {"type", "stream", "seq", "is_step", "body"}


@dataclass(frozen=True, slots=True)
class CatchUp:
    """What a browser needs to be up to date: steps in order; the last one has ``seq``."""

    seq: int
    bodies: tuple[bytes, ...]


def group_stream(group: int) -> str:
    """Name a group's stream, which is also its Channels group."""
    return f"{GROUP_STREAMS}{group}"


def overview_stream(cluster: int) -> str:
    """Name the stream of a cluster's groups."""
    return f"overview-{cluster}"


def standing_stream(cluster: int) -> str:
    """Name what says that a cluster stands otherwise: put aside, expected again, deleted. It has no steps."""
    return f"standing-{cluster}"


def group_state(*, group: int) -> GroupState | None:
    """Read a group's state at its newest step; None before the first."""
    return state_in(stored_state(group=group))


def stored_state(*, group: int) -> bytes:
    """Read a group's state at its newest step as it is stored, a snapshot; empty before the first."""
    stored = Stream.objects.filter(name=group_stream(group)).values_list("state", flat=True).first()
    return bytes(stored or b"")


def state_in(stored: bytes) -> GroupState | None:
    """Give the state in a stored snapshot; None where nothing is stored.

    What was read or written lately is kept in this process: a rebalance needs the same one three times.
    """
    if not stored:
        return None
    found = _states.get(stored)
    if found is None:
        message = decode(stored)
        assert isinstance(message, GroupSnapshot)
        found = message.state
        _states.put(stored, found)
    return found


def publish_group(*, group: int, state: GroupState, at: int) -> int | None:
    """Store and send the step to this state; None where nothing changed. Inside the transaction of the change."""
    name = group_stream(group)
    stream = _lock(name)
    seq = stream.seq + 1
    message = step(state_in(bytes(stream.state)), state, stream=name, seq=seq, at=at)
    if message is None:
        return None
    whole = encode(GroupSnapshot(VERSION, "group.snapshot", name, seq, at, state))
    _states.put(whole, state)
    _store(stream, message, at, whole)
    return seq


def publish_rows(*, cluster: int, put: tuple[Row, ...], gone: tuple[int, ...] = (), at: int) -> int:
    """Store and send rows of the overview. Last in a transaction: all groups of a cluster wait for this row."""
    name = overview_stream(cluster)
    stream = _lock(name)
    seq = stream.seq + 1
    _store(stream, OverviewDiff(VERSION, "overview.diff", name, seq, at, put, gone), at, b"")
    return seq


def pulse(*, stream: str, seen: tuple[Seen, ...], at: int, watched_at: int) -> None:
    """Send, without keeping it, when members were last looked at, and the cluster answered: ``at`` now."""
    seq = current_seq(stream=stream)
    _send(stream, seq, encode(Pulse(VERSION, "pulse", stream, seq, at, watched_at, seen)), is_step=False)


def tell_standing(*, cluster: int) -> None:
    """Let all who follow anything of a cluster hear, after this transaction, how it stands: each is told its own."""
    name = standing_stream(cluster)
    transaction.on_commit(lambda: _send(name, 0, b"", is_step=False), robust=True)


def end_streams(*, names: Collection[str]) -> int:
    """Delete streams with their steps, of which is kept how many they were. Give how many rows."""
    with transaction.atomic():
        streams = Stream.objects.filter(name__in=names)
        steps = sum(streams.select_for_update().values_list("seq", flat=True))
        if steps:
            tallies.add({tallies.Kind.ENDED_STEPS: steps})
        return streams.delete()[0]


def steps_so_far() -> int:
    """Count all steps that were ever stored."""
    there: int = Stream.objects.aggregate(all=Sum("seq", default=0))["all"]
    return there + tallies.counts()[tallies.Kind.ENDED_STEPS]


def current_seq(*, stream: str) -> int:
    """Give the number of the newest step; 0 before the first."""
    return Stream.objects.filter(name=stream).values_list("seq", flat=True).first() or 0


def catch_up(*, stream: str, last_seq: int | None, snapshot: Callable[[], Message | None]) -> CatchUp:
    """Give the steps after ``last_seq``, or a snapshot where that is shorter or steps are not kept any more."""
    seq = current_seq(stream=stream)
    if last_seq is not None and 0 <= seq - last_seq <= MOST_STEPS:
        rows = Step.objects.filter(stream__name=stream, seq__gt=last_seq).order_by("seq").values_list("seq", "body")
        steps = list(rows)
        if [number for number, _ in steps] == list(range(last_seq + 1, last_seq + 1 + len(steps))) and (
            len(steps) >= seq - last_seq
        ):
            return CatchUp(last_seq + len(steps), tuple(bytes(body) for _, body in steps))
    message = snapshot()
    return CatchUp(0, ()) if message is None else CatchUp(message.seq, (encode(message),))


def group_snapshot(*, group: int) -> GroupSnapshot | None:
    """Give a group whole, at its newest step; None before the first."""
    stored = Stream.objects.filter(name=group_stream(group)).values_list("state", flat=True).first()
    message = decode(bytes(stored)) if stored else None
    assert message is None or isinstance(message, GroupSnapshot)
    return message


class _States:
    """States by their stored bytes, which are all that they depend on; what was not asked for longest goes first."""

    def __init__(self, most_bytes: int) -> None:
        self.most_bytes = most_bytes
        self._size = 0
        self._states: OrderedDict[bytes, GroupState] = OrderedDict()
        self._lock = Lock()

    def get(self, stored: bytes) -> GroupState | None:
        with self._lock:
            if stored in self._states:
                self._states.move_to_end(stored)
            return self._states.get(stored)

    def put(self, stored: bytes, state: GroupState) -> None:
        with self._lock:
            if stored not in self._states:
                self._size += len(stored)
            self._states[stored] = state
            while self._size > self.most_bytes and len(self._states) > 1:
                gone, _ = self._states.popitem(last=False)
                self._size -= len(gone)


_states = _States(MOST_KEPT)


def _lock(name: str) -> Stream:
    Stream.objects.bulk_create([Stream(name=name)], ignore_conflicts=True)
    return Stream.objects.select_for_update(no_key=True).get(name=name)


def _store(stream: Stream, message: Message, at: int, state: bytes) -> None:
    body = encode(message)
    stream.seq, stream.at, stream.state = message.seq, at, state
    stream.save(update_fields=["seq", "at", "state"])
    Step.objects.create(stream=stream, seq=message.seq, at=at, body=body)
    transaction.on_commit(lambda: _send(stream.name, message.seq, body), robust=True)


def _send(stream: str, seq: int, body: bytes, *, is_step: bool = True) -> None:
    """Hand a message to the sockets. One that gets lost here is missed by its number, and asked for."""
    layer = get_channel_layer()
    if layer is None:
        return
    event = {"type": GROUP_SEND, "stream": stream, "seq": seq, "is_step": is_step, "body": body}
    try:
        async_to_sync(_within)(layer.group_send(stream, event))
    except (RedisError, OSError):
        tallies.note(tallies.Kind.NOT_TO_REDIS)
        raise


async def _within(sending: Awaitable[object]) -> None:
    """Wait for Redis no longer than is good for who published.

    Raises:
        TimeoutError: it hangs.
    """
    await asyncio.wait_for(sending, SEND_WITHIN_S)
