"""More bugs to plant: in what clients store and lock, when they act, and in what brokers remember."""

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

import pytest

from rebalance_engine.consumer import (
    consuming,
    flow,
    heartbeats,
    locks,
    member,
    offsets,
    orderly,
    orderly_cpp,
    process_queue,
    removal,
    rounds,
    schedule,
    starting,
    table,
)
from rebalance_engine.consumer.profiles import LockTime, OrderlyRemoval, Profile
from rebalance_engine.consumer.routes import RouteBook
from rebalance_engine.consumer.threads import HandOut, Lock
from rebalance_engine.membership import checks, notification, registry
from rebalance_engine.membership import locks as broker_locks
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation import broker, clients, store
from tests.rebalance_engine.simulation.bugs import bug, nothing, wait_for_nothing

Patch = pytest.MonkeyPatch
Thing = Any  # what is replaced is looked at closely by the machines only
Code = Generator[Any, Any, Any]


def around(patch: Patch, where: Thing, name: str, made: Callable[[Any], Any]) -> None:
    """Put something around what is there."""
    patch.setattr(where, name, made(getattr(where, name)))


def with_profile(patch: Patch, **fields: object) -> None:
    """Let machines have another profile than the one that they are held to."""
    around(
        patch,
        clients,
        "Client",
        lambda original: lambda profile, *args, **named: original(replace(profile, **fields), *args, **named),
    )


# ---- what clients store ----


@bug
def an_orderly_consumer_commits_one_too_many(patch: Patch) -> None:
    around(patch, process_queue.ProcessQueue, "commit", lambda of: lambda pq: (end := of(pq)) + (end >= 0))


@bug
def an_orderly_consumer_commits_one_too_few(patch: Patch) -> None:
    around(patch, process_queue.ProcessQueue, "commit", lambda of: lambda pq: (end := of(pq)) - (end >= 1))


@bug
def one_less_is_stored_than_is_known(patch: Patch) -> None:
    around(patch, member.Member, "_send_offset", lambda of: lambda self, mq, end: of(self, mq, max(0, end - 1)))
    patch.setattr(flow, "WAITING_AND_COMMITTING", flow.WAITING)


@bug
def offsets_are_stored_by_pulls_only(patch: Patch) -> None:
    patch.setattr(schedule, "persist_all", wait_for_nothing)
    patch.setattr(removal, "_store", wait_for_nothing)


@bug
def the_timer_that_stores_offsets_is_dead(patch: Patch) -> None:
    patch.setattr(schedule, "persist_all", wait_for_nothing)


@bug
def pulls_commit_what_they_are_about_to_fetch(patch: Patch) -> None:
    def request(original: Thing) -> Thing:
        return lambda of, pq, subscription, offset, **named: original(
            of, pq, subscription, offset, **{**named, "commit": offset}
        )

    around(patch, flow, "pull_request", request)


@bug
def queues_that_were_dropped_are_stored_on(patch: Patch) -> None:
    def persist_all(self: offsets.RemoteOffsets, _: object) -> Code:
        for mq, offset in tuple(self._offsets.items()):
            yield from self._send(mq, offset)

    patch.setattr(offsets.OffsetStore, "forget", nothing)
    patch.setattr(offsets.RemoteOffsets, "persist_all", persist_all)


def starts(patch: Patch, change: Callable[[int], int]) -> None:
    original = starting.start_offset

    def start_offset(of: member.Member, mq: MessageQueue) -> Code:
        return change((yield from original(of, mq)))

    for room in (table, flow):
        patch.setattr(room, "start_offset", start_offset)


@bug
def queues_begin_one_late(patch: Patch) -> None:
    starts(patch, lambda offset: offset + (offset > 0))


@bug
def queues_begin_one_early(patch: Patch) -> None:
    starts(patch, lambda offset: offset - (offset > 0))


@bug
def queues_begin_at_their_first_message(patch: Patch) -> None:
    starts(patch, lambda _: 0)


# ---- locks and order ----


@bug
def locks_are_not_renewed(patch: Patch) -> None:
    patch.setattr(locks, "renew_once", wait_for_nothing)


@bug
def a_client_believes_in_its_lock_for_ever(patch: Patch) -> None:
    patch.setattr(process_queue.ProcessQueue, "has_lock_expired", lambda _self, _at: False)


@bug
def locks_are_kept_at_the_shutdown(patch: Patch) -> None:
    patch.setattr(locks, "unlock_all", wait_for_nothing)


@bug
def locks_are_not_looked_at(patch: Patch) -> None:
    def is_ready(_: object) -> Code:
        return True
        yield

    for room in (orderly, orderly_cpp):
        patch.setattr(room, "may_consume", lambda _member, _pq: True)
    patch.setattr(flow.PullLoop, "_is_ready_in_order", is_ready)


@bug
def a_dropped_orderly_queue_is_consumed_to_its_end(patch: Patch) -> None:
    def consume_on(of: member.Member, pq: process_queue.ProcessQueue) -> Code:
        while batch := pq.take(of.settings.batch, of.desk.at):
            heard = yield HandOut(of.group, pq.mq, batch)
            if not (yield from orderly._settle(of, pq, batch, heard)):
                return

    patch.setattr(orderly, "_consume_on", consume_on)


@bug
def failed_messages_of_orderly_queues_are_skipped(patch: Patch) -> None:
    patch.setattr(orderly, "_retried", wait_for_nothing)


@bug
def locks_are_given_back_while_the_listener_consumes(patch: Patch) -> None:
    waiting = (OrderlyRemoval.FORCES_UNLOCK, OrderlyRemoval.DELAYS_UNLOCK)
    patch.setattr(removal, "_RULES", {**removal._RULES, **dict.fromkeys(waiting, removal._unlock_at_once)})


@bug
def cpp_clients_believe_in_locks_that_they_have_not_asked_for(patch: Patch) -> None:
    def believing(profile: Profile) -> Profile:
        asks_late = profile.lock_time is LockTime.BEFORE_PULL
        return replace(profile, new_queue_is_locked=profile.new_queue_is_locked or asks_late)

    around(patch, clients, "Client", lambda of: lambda profile, *args, **named: of(believing(profile), *args, **named))


@bug
def queues_of_a_process_have_no_mutex(patch: Patch) -> None:
    patch.setattr(member.Member, "queue_lock", lambda _self, _mq: Lock())


@bug
def brokers_keep_locks_for_half_a_minute(patch: Patch) -> None:
    around(patch, broker_locks.LockTable, "__init__", lambda of: lambda self, *_: of(self, 30_000))


@bug
def brokers_keep_locks_for_two_minutes(patch: Patch) -> None:
    around(patch, broker_locks.LockTable, "__init__", lambda of: lambda self, *_: of(self, 120_000))


@bug
def anybody_gives_locks_back(patch: Patch) -> None:
    def unlock_one(held: Thing, client: str, queue: MessageQueue) -> broker_locks.Verdict:
        answer = broker_locks.Answer.RELEASED if held.pop(queue, None) else broker_locks.Answer.NOT_HELD
        return broker_locks.Verdict(queue, answer, client, 0)

    patch.setattr(broker_locks, "_unlock_one", unlock_one)


# ---- rounds and pulls ----


@bug
def rounds_follow_each_other_at_once(patch: Patch) -> None:
    with_profile(patch, round_floor=0)


@bug
def first_pulls_come_at_once(patch: Patch) -> None:
    with_profile(patch, dispatch_delay=0)


@bug
def rounds_come_every_minute(patch: Patch) -> None:
    with_profile(patch, round_every=60_000)


@bug
def client_ids_are_counted_once(patch: Patch) -> None:
    around(
        patch, rounds, "_allocate", lambda of: lambda member, queues, ids: of(member, queues, tuple(dict.fromkeys(ids)))
    )


@bug
def topics_that_were_given_up_are_kept(patch: Patch) -> None:
    patch.setattr(rounds, "truncate", wait_for_nothing)


@bug
def routes_are_never_refreshed(patch: Patch) -> None:
    patch.setattr(schedule, "refresh_routes", wait_for_nothing)


@bug
def dropped_queues_are_pulled_on(patch: Patch) -> None:
    def step(self: flow.PullLoop) -> Code:
        subscription = self.member.subscriptions.get(self.pq.mq.topic)
        if subscription is None or not self.member.is_running:
            return flow.OVER
        self.pq.last_pull = self.member.desk.at
        pause = self._pause()
        if pause:
            return pause
        if self.member.settings.locks_queues and not self.pq.is_dropped and not (yield from self._is_ready_in_order()):
            return 1_000
        return (yield from self._pull(subscription))

    patch.setattr(flow.PullLoop, "step", step)


@bug
def heartbeats_go_to_one_broker_only(patch: Patch) -> None:
    around(patch, RouteBook, "addresses", lambda of: lambda self, **named: iter(list(of(self, **named))[:1]))


@bug
def heartbeats_come_every_90_s(patch: Patch) -> None:
    around(patch, clients, "ClientSettings", lambda of: lambda **named: of(**named, heartbeat_every_ms=90_000))


# ---- failed messages ----


@bug
def failed_messages_are_sent_back_twice(patch: Patch) -> None:
    original = consuming._give_back

    def give_back(*args: Any) -> Code:
        yield from original(*args)
        return (yield from original(*args))

    patch.setattr(consuming, "_give_back", give_back)


@bug
def failed_messages_never_come_again(patch: Patch) -> None:
    patch.setattr(broker.BrokerProcess, "_release", nothing)


@bug
def failed_messages_come_again_at_once(patch: Patch) -> None:
    patch.setattr(store, "DELAYS_MS", tuple(0 for _ in store.DELAYS_MS))


@bug
def failed_messages_are_forgotten_by_a_restart(patch: Patch) -> None:
    def start(self: broker.BrokerProcess) -> None:
        self.carry_out(self.machine.start(self.clock.now))
        self._register()
        self._flush()

    patch.setattr(broker.BrokerProcess, "start", start)


# ---- brokers ----


@bug
def offsets_are_never_flushed(patch: Patch) -> None:
    patch.setattr(broker.BrokerProcess, "_flush", nothing)


@bug
def a_new_message_wakes_no_pull(patch: Patch) -> None:
    patch.setattr(broker.BrokerProcess, "_announce", lambda self, place, message: self._watcher.stored(place, message))


@bug
def members_expire_after_four_minutes(patch: Patch) -> None:
    around(patch, registry.Registry, "__init__", lambda of: lambda self, **_: of(self, expires_after_ms=240_000))


@bug
def members_expire_after_one_minute(patch: Patch) -> None:
    around(patch, registry.Registry, "__init__", lambda of: lambda self, **_: of(self, expires_after_ms=60_000))


@bug
def a_closed_channel_stays_a_member(patch: Patch) -> None:
    patch.setattr(registry.Registry, "close", lambda _self, _channel, **_: ())


@bug
def nobody_is_notified_of_a_closed_channel(patch: Patch) -> None:
    around(patch, registry.Registry, "_close_in", lambda of: lambda *args: replace(of(*args), is_change=False))


@bug
def one_member_only_is_notified(patch: Patch) -> None:
    around(patch, notification, "_pushes", lambda of: lambda group, channels: of(group, channels[:1]))


@bug
def brokers_list_client_ids_once(patch: Patch) -> None:
    patch.setattr(
        registry.ConsumerGroup,
        "clients",
        lambda group: tuple(dict.fromkeys(each.client for each in group.members.values())),
    )


@bug
def brokers_serve_subscriptions_that_they_were_not_told(patch: Patch) -> None:
    patch.setattr(
        checks.PullChecks,
        "_check_version",
        lambda self, pull, group: group.subscriptions.get(pull.topic) or self._refuse_unknown(""),
    )


# ---- several groups in one process ----


@bug
def only_the_first_group_of_a_process_rebalances(patch: Patch) -> None:
    def rebalance_all(desk: Thing) -> Code:
        members = tuple(desk.members.values())
        return (yield from schedule.rebalance_one(desk, members[0])) if members else True

    patch.setattr(schedule, "rebalance_all", rebalance_all)


@bug
def heartbeats_name_the_first_group_only(patch: Patch) -> None:
    around(
        patch,
        heartbeats,
        "_data",
        lambda of: lambda desk: replace(of(desk), consumer_data_set=of(desk).consumer_data_set[:1]),
    )


@bug
def only_the_first_group_of_a_process_is_stored(patch: Patch) -> None:
    def persist_all(desk: Thing) -> Code:
        for first in tuple(desk.members.values())[:1]:
            yield from first.offsets.persist_all(frozenset(first.table))

    patch.setattr(schedule, "persist_all", persist_all)


@bug
def failed_messages_come_back_to_another_group(patch: Patch) -> None:
    around(patch, store.Store, "take_back", lambda of: lambda self, _, *args: of(self, "g", *args))
