"""Bugs to plant, one at a time: each is a mistake that a client or a broker could have."""

from collections.abc import Callable, Collection, Generator, Iterable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from rebalance_engine.consumer import (
    Message,
    consuming,
    flow,
    locks,
    member,
    offsets,
    orderly,
    process_queue,
    removal,
    rounds,
    schedule,
    subscriptions,
)
from rebalance_engine.consumer.desk import Desk
from rebalance_engine.events import DropReason
from rebalance_engine.membership import locks as broker_locks
from rebalance_engine.membership import machine, notification, registry
from rebalance_engine.membership import offsets as broker_offsets
from rebalance_engine.model import MessageQueue, sort_queues
from rebalance_engine.remoting.codes import Language
from rebalance_engine.simulation import scenario, world

Plant = Callable[[pytest.MonkeyPatch], None]
BUGS: dict[str, Plant] = {}


def bug(plant: Plant) -> Plant:
    BUGS[plant.__name__] = plant
    return plant


def nothing(*_: object, **__: object) -> None:
    return None


def wait_for_nothing(*_: object, **__: object) -> Generator[Any, Any, None]:
    return
    yield


def is_go(desk: Desk) -> bool:
    return desk.profile.language is Language.GO


@bug
def queues_are_sorted_backwards(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(rounds, "sort_queues", lambda queues, order: sort_queues(queues, order)[::-1])


@bug
def members_are_not_sorted(patch: pytest.MonkeyPatch) -> None:
    def allocate(of: member.Member, queues: Collection[MessageQueue], clients: Sequence[str]) -> Sequence[MessageQueue]:
        assert of.strategy.member is not None
        return of.strategy.member(of.desk.client_id, sort_queues(queues), list(clients)) or ()

    patch.setattr(rounds, "_allocate", allocate)


@bug
def notifications_are_not_sent(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(notification, "_pushes", lambda _group, _channels: ())


@bug
def locks_are_not_released(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(removal, "unlock", nothing)


@bug
def delayed_unlocks_come_twice_as_soon(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(removal, "UNLOCK_DELAY", removal.UNLOCK_DELAY // 2)


@bug
def offsets_are_committed_too_early(patch: pytest.MonkeyPatch) -> None:
    original = process_queue.ProcessQueue.remove

    def remove(self: process_queue.ProcessQueue, messages: Iterable[Message], at: int) -> int:
        return self.max_offset + 1 if original(self, messages, at) >= 0 else -1

    patch.setattr(process_queue.ProcessQueue, "remove", remove)


@bug
def dropped_queues_are_still_consumed(patch: pytest.MonkeyPatch) -> None:
    original = member.Member.drop

    def drop(self: member.Member, pq: process_queue.ProcessQueue, reason: DropReason) -> None:
        original(self, pq, reason)
        pq.is_dropped = False

    patch.setattr(member.Member, "drop", drop)


@bug
def silent_members_are_never_expired(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(registry.Registry, "expire", lambda _self, _at: ())


@bug
def the_scan_for_silent_members_never_runs(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(machine.Broker, "_scan", lambda _self, _at: ())


@bug
def offsets_are_read_from_memory(patch: pytest.MonkeyPatch) -> None:
    original = offsets.RemoteOffsets.read_stored

    def read_stored(self: offsets.RemoteOffsets, mq: MessageQueue) -> Generator[Any, Any, int]:
        known = self._offsets.get(mq)
        return known if known is not None else (yield from original(self, mq))

    patch.setattr(offsets.OffsetStore, "forget", nothing)
    patch.setattr(offsets.RemoteOffsets, "read_stored", read_stored)


@bug
def locks_are_granted_twice(patch: pytest.MonkeyPatch) -> None:
    granted = broker_locks.Answer.GRANTED
    patch.setattr(
        broker_locks.LockTable,
        "_lock_one",
        lambda _self, _locks, _client, queue, _at: broker_locks.Verdict(queue, granted),
    )


@bug
def offsets_are_not_stored_when_a_queue_is_dropped(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(removal, "_store", wait_for_nothing)


@bug
def storing_one_queue_forgets_the_others(patch: pytest.MonkeyPatch) -> None:
    """Go has this mistake, and is known for it; nobody else may have it."""

    def open_offsets(fetch: offsets.Fetch, send: offsets.Update, **_: bool) -> offsets.RemoteOffsets:
        return offsets.RemoteOffsets(fetch, send, forgets_others=True)

    patch.setattr(member, "RemoteOffsets", open_offsets)


@bug
def gos_timer_that_stores_offsets_is_dead(patch: pytest.MonkeyPatch) -> None:
    """What Go forgets explains what it has not stored for a while, but not for longer."""
    persist_all = schedule.persist_all
    patch.setattr(schedule, "persist_all", lambda desk: wait_for_nothing() if is_go(desk) else persist_all(desk))


@bug
def go_stores_nothing_when_it_drops_a_queue(patch: pytest.MonkeyPatch) -> None:
    store = removal._store
    patch.setattr(removal, "_store", lambda of, pq: wait_for_nothing() if is_go(of.desk) else store(of, pq))


@bug
def the_timer_of_20_s_is_dead(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(world, "profile", lambda name: replace(scenario.profile(name), round_every=10**9, round_retry=None))


@bug
def subscription_versions_stay_as_they_are(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(subscriptions.Subscriptions, "bump", nothing)


@bug
def nobody_subscribes_to_the_retry_topic(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(member.Member, "_subscribe", _subscribe_without_retries)


def _subscribe_without_retries(self: member.Member) -> None:
    for topic, expression in self.settings.topics.items():
        self.subscriptions.add(topic, expression, self.desk.at)


@bug
def heartbeats_are_not_repeated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(schedule, "beat", wait_for_nothing)


@bug
def failed_messages_are_thrown_away(patch: pytest.MonkeyPatch) -> None:
    def give_back(*_: object) -> Generator[Any, Any, tuple[()]]:
        return ()
        yield

    patch.setattr(consuming, "_give_back", give_back)


@bug
def orderly_queues_are_taken_without_a_lock(patch: pytest.MonkeyPatch) -> None:
    def lock(*_: object) -> Generator[Any, Any, bool]:
        return True
        yield

    for room in (locks, orderly, flow):
        patch.setattr(room, "lock", lock)
    patch.setattr("rebalance_engine.consumer.table.lock", lock)


@bug
def brokers_do_not_keep_offsets(patch: pytest.MonkeyPatch) -> None:
    def commit(_: object, group: str, topic: str, queue_id: int, offset: int) -> broker_offsets.Commit:
        return broker_offsets.Commit(group=group, topic=topic, queue_id=queue_id, offset=offset, before=None)

    patch.setattr(broker_offsets.OffsetTable, "commit", commit)


@bug
def a_failed_pull_is_not_repeated(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(flow.PullLoop, "_refused", lambda _self, _answer: flow.OVER)


@bug
def a_good_bye_is_not_heard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(registry.Registry, "unregister", nothing)
