"""One consumer of a group: what it is configured to be, what it subscribes to, what it holds, and how far it is.

The rules that change it are in the rooms around: :mod:`~rebalance_engine.consumer.table` takes and drops queues,
:mod:`~rebalance_engine.consumer.flow` pulls them, :mod:`~rebalance_engine.consumer.consuming` and
:mod:`~rebalance_engine.consumer.orderly` have them consumed.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.allocation import strategy
from rebalance_engine.allocation.contract import Strategy
from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.offsets import NOT_STORED, UNKNOWN, LocalOffsets, OffsetStore, RemoteOffsets
from rebalance_engine.consumer.polling import Polling
from rebalance_engine.consumer.pool import Pool
from rebalance_engine.consumer.pop_queue import PopQueue
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.profiles import OffsetError, OrderlyRun, Profile
from rebalance_engine.consumer.settings import UNLIMITED, GroupSettings, Mode
from rebalance_engine.consumer.subscriptions import Subscriptions
from rebalance_engine.consumer.threads import Code, Lock, Thread
from rebalance_engine.effects import Save
from rebalance_engine.events import EXACT, DropReason, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL, ConsumerData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import OffsetResponse, QueryConsumerOffset, UpdateConsumerOffset
from rebalance_engine.remoting.requests.contract import Refused


class Member:
    """One consumer of a group.

    Attributes:
        table: the process-queue table; a dropped queue may stay in it for a while.
        pop_table: what the broker assigned by POP; others may have the same.
        is_running, is_paused, is_leaving: whether it pulls, and whether it shuts down.
        lifecycle_lock: held while it starts or ends.
        queue_messages, queue_mib: limits of what is cached of one queue, as they are now.
        flow_controlled, span_controlled: how often a pull was put off.
        polling: of a consumer that polls, what is assigned and pulled ahead.
        own_threads: what ends with it.
        timers: held by what C++ does in the one thread of its orderly timers.
        assignment_support: topic -> whether its broker can divide queues, where that was tried.
    """

    def __init__(self, desk: Desk, settings: GroupSettings, saved: Mapping[str, str]) -> None:
        profile = desk.profile
        self.desk = desk
        self.settings = settings
        self.strategy = _strategy(settings, profile)
        self.started_at = desk.at
        self.is_running = True
        self.lifecycle_lock = Lock()
        self.is_paused = False
        self.is_leaving = False
        self.table: dict[MessageQueue, ProcessQueue] = {}
        self.pop_table: dict[MessageQueue, PopQueue] = {}
        self.subscriptions = Subscriptions()
        self.offsets = self._open_offsets(saved)
        has_thread_each = settings.orderly and profile.orderly_run is OrderlyRun.UNBROKEN
        self.pool = Pool(desk.threads, UNLIMITED if has_thread_each else settings.threads)
        self.polling = Polling()
        self.own_threads: list[Thread] = []
        self.timers = Lock()
        self.queue_messages = settings.queue_messages or profile.queue_messages
        self.queue_mib = settings.queue_mib or profile.queue_mib
        self.topic_messages = profile.topic_messages if settings.topic_messages is None else settings.topic_messages
        self.topic_mib = profile.topic_mib if settings.topic_mib is None else settings.topic_mib
        self.span = settings.span or profile.span
        self.flow_controlled = 0
        self.span_controlled = 0
        self.assignment_support: dict[str, bool] = {}
        self._queue_locks: dict[MessageQueue, Lock] = {}
        self._subscribe()

    def _open_offsets(self, saved: Mapping[str, str]) -> OffsetStore:
        if self.settings.is_clustering:
            return RemoteOffsets(
                self._fetch_offset,
                self._send_offset,
                forgets_others=self.desk.profile.storing_forgets_others,
                notes_nothing_stored=self.desk.profile.notes_nothing_stored,
            )
        name = self.offsets_file
        return LocalOffsets(
            saved.get(name),
            lambda text: self.desk.threads.out.append(Save(name=name, text=text)),
            reads_whole_file=self.desk.profile.reads_whole_file,
        )

    def _subscribe(self) -> None:
        for topic, expression in self.settings.topics.items():
            self.subscriptions.add(topic, expression, self.desk.version)
        if self.settings.mode is Mode.PUSH and self.settings.is_clustering:
            self.subscriptions.add(self.settings.retry_topic, SUBSCRIBE_ALL, self.desk.version)

    # ---- what it is ----

    @property
    def group(self) -> str:
        """The group that it is of."""
        return self.settings.group

    @property
    def offsets_file(self) -> str:
        """Where a broadcasting consumer keeps its offsets."""
        return f"{self.desk.client_id}/{self.group}/offsets.json"

    def heartbeat_data(self) -> ConsumerData:
        """Give what heartbeats say of it."""
        return ConsumerData(
            group_name=self.group,
            consume_type=self.settings.consume_type,
            message_model=self.settings.model,
            consume_from_where=self.settings.from_where,
            subscription_data_set=self.subscriptions.all,
        )

    # ---- what it holds ----

    def held(self, topic: str | None = None) -> set[MessageQueue]:
        """Give the queues that it has, of one topic or of all; those that it pops count."""
        tables: tuple[Mapping[MessageQueue, ProcessQueue | PopQueue], ...] = (self.table, self.pop_table)
        return {
            mq
            for table in tables
            for mq, pq in table.items()
            if not pq.is_dropped and (topic is None or mq.topic == topic)
        }

    def take(self, pq: ProcessQueue, start_offset: int | None) -> bool:
        """Put a queue into the table; False if it is there already."""
        if pq.mq in self.table:
            return False
        self.table[pq.mq] = pq
        self._state_taken(pq.mq, start_offset)
        return True

    def take_to_pop(self, pq: PopQueue) -> None:
        """Put a queue into the table of those that are popped."""
        self.pop_table[pq.mq] = pq
        self._state_taken(pq.mq, None, is_shared=True)

    def _state_taken(self, mq: MessageQueue, start_offset: int | None, *, is_shared: bool | None = None) -> None:
        desk = self.desk
        fact = QueueTaken(
            at=desk.at,
            source=desk.source,
            exactness=EXACT,
            group=self.group,
            client=desk.client_id,
            queue=mq,
            start_offset=start_offset,
            is_shared=is_shared,
        )
        desk.state(fact)

    def drop(self, pq: ProcessQueue | PopQueue, reason: DropReason) -> None:
        """Give a queue up: from here on results of what was begun with it count no more. It stays in the table."""
        if pq.is_dropped:
            return
        pq.is_dropped = True
        desk = self.desk
        noted = self.offsets.in_memory(pq.mq)
        fact = QueueDropped(
            at=desk.at,
            source=desk.source,
            exactness=EXACT,
            group=self.group,
            client=desk.client_id,
            queue=pq.mq,
            reason=reason,
            committed_offset=None if noted is None or noted < 0 else noted,  # a reset may name any number
        )
        desk.state(fact)

    def note_nothing_left(self, pq: ProcessQueue, offset: int) -> None:
        """Note that a queue of which nothing is cached is as far as a pull that found nothing (``correctTagsOffset``).

        Java does not ask whether it was dropped. A long poll of an earlier hold can thus move the offset past what the
        present one, which was told to begin before that, has not finished: it was consumed before, in the earlier one.
        """
        can_fall = self.desk.profile.offset_can_fall
        self.offsets.update(pq.mq, offset, increase_only=not can_fall, is_late=pq.is_dropped)

    def by_broker(self, *, with_dropped: bool) -> dict[str, tuple[MessageQueue, ...]]:
        """Give the queues of the table by the name of their broker (``buildProcessQueueTableByBrokerName``)."""
        queues: dict[str, list[MessageQueue]] = {}
        for mq in self._known(with_dropped=with_dropped):
            queues.setdefault(mq.broker, []).append(mq)
        brokers = sorted(queues) if self.desk.profile.sorts_queues else queues
        return {broker: tuple(queues[broker]) for broker in brokers}

    def by_broker_and_topic(self, *, with_dropped: bool) -> list[tuple[MessageQueue, ...]]:
        """Give the queues of the table in lots of one broker and topic, sorted by both names in one (``lockAll``)."""
        queues: dict[str, list[MessageQueue]] = {}
        for mq in self._known(with_dropped=with_dropped):
            queues.setdefault(mq.broker + mq.topic, []).append(mq)
        return [tuple(queues[key]) for key in sorted(queues)]

    def _known(self, *, with_dropped: bool) -> list[MessageQueue]:
        known = [mq for mq, pq in self.table.items() if with_dropped or not pq.is_dropped]
        return sorted(known) if self.desk.profile.sorts_queues else known

    def in_turn(self) -> list[ProcessQueue]:
        """Give what is in the table, in the order in which it is gone through: where that is luck, in any."""
        queues = list(self.table.values())
        if self.desk.profile.removes_at_random:
            self.desk.luck.shuffle(queues)
        return queues

    def queue_lock(self, mq: MessageQueue) -> Lock:
        """Give the lock that keeps two threads off one queue (``MessageQueueLock``)."""
        return self._queue_locks.setdefault(mq, Lock())

    # ---- offsets ----

    def persist_all(self) -> Code[None]:
        """Store how far all queues of the table are."""
        with_dropped = self.desk.profile.stores_dropped
        yield from self.offsets.persist_all(
            frozenset(mq for mq, pq in self.table.items() if with_dropped or not pq.is_dropped)
        )

    def _fetch_offset(self, mq: MessageQueue) -> Code[int]:
        request = QueryConsumerOffset(consumer_group=self.group, topic=mq.topic, queue_id=mq.queue_id, bname=mq.broker)
        answer = yield from self.desk.ask_master(mq, request, self.desk.profile.offset_timeout)
        if isinstance(answer, OffsetResponse):
            return answer.offset
        if not isinstance(answer, Refused):
            return UNKNOWN
        is_missing = answer.code == ResponseCode.QUERY_NOT_FOUND
        counts_as_none = self.desk.profile.offset_error is OffsetError.COUNTS_AS_NONE
        return NOT_STORED if is_missing or counts_as_none else UNKNOWN

    def _send_offset(self, mq: MessageQueue, offset: int) -> Code[None]:
        address = yield from self.desk.master_of(mq)
        if address is not None:
            request = UpdateConsumerOffset(
                consumer_group=self.group,
                topic=mq.topic,
                queue_id=mq.queue_id,
                commit_offset=offset,
                bname=mq.broker,
            )
            self.desk.send_oneway(address, request)

    def check(self) -> None:
        """Assert what always holds."""
        self.pool.check()
        assert self.is_running or not self.held(), f"{self.group} has ended and holds {self.held()}"
        assert self.is_running or not self.table, f"{self.group} has ended and has still {list(self.table)}"
        for mq, popped in self.pop_table.items():
            assert popped.mq == mq and popped.waiting >= 0, f"{popped.waiting} of {mq} wait to be acknowledged"
        for mq, pq in self.table.items():
            assert pq.mq == mq, f"the table has {pq.mq} under {mq}"
            pq.check()
            self._check_offset(pq)
        for mq, position in self.polling.positions.items():
            assert not position.is_over and position.pq.mq == mq, f"{mq} is pulled ahead of polls, and over"

    def _check_offset(self, pq: ProcessQueue) -> None:
        """A queue that is held is never further, as far as is noted, than its first unfinished message.

        It may only be where the late answer to a pull of an earlier hold has put it, and in C++ where it was before the
        broker lost messages.
        """
        noted, unfinished = self.offsets.in_memory(pq.mq), pq.unfinished
        if not pq.is_dropped and noted is not None and unfinished is not None and not self.offsets.is_excused(pq.mq):
            assert noted <= unfinished, f"{pq.mq}: {noted} is noted, {unfinished} is not finished"


def _strategy(settings: GroupSettings, profile: Profile) -> Strategy:
    chosen = settings.strategy or profile.strategy
    return chosen if isinstance(chosen, Strategy) else strategy(chosen, **settings.strategy_params)
