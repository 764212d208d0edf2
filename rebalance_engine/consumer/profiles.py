"""What a consumer does, by client language and version, as data: the only place where versions are told apart.

``java("5.2.0")`` applies the changes of each release up to that one, in order. The row of a behaviour is where
``client/`` of that release first has it; before 4.9.0 nothing was looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.versions import HIGHER_VERSION, V4_0_0_SNAPSHOT, changed_until, release


class OrderlyRemoval(Enum):
    """How an orderly queue is let go."""

    DELAYS_UNLOCK = "waits 1 s for the listener; unlocks 20 s later if messages are cached"
    FORCES_UNLOCK = "waits 0.5 s for the listener; unlocks all the same 20 s after the last renewal"
    UNLOCKS = "unlocks at once, whoever still consumes"
    KEEPS_LOCK = "never unlocks; the broker's lock expires"


class FirstRound(Enum):
    """How a consumer's start makes the first rebalance happen."""

    WAKES = "wakes the rebalance thread"
    AT_ONCE = "rebalances before the start returns"
    FIRST_AT_ONCE = "rebalances before the start of a client's first consumer returns"


class NoMembers(Enum):
    """What a missing list of members means."""

    KEEPS = "nothing changes; the next topic"
    THROWS = "nothing changes; the consumer's further topics are skipped"
    DROPS = "all queues of the topic are dropped"


class Truncation(Enum):
    """What happens to the queues of a topic that is not subscribed any more."""

    FORGETS = "dropped, without storing how far they are"
    STORES = "how far they are is stored, then dropped"
    NEVER = "they stay"


class OffsetError(Enum):
    """What an offset query means that a broker refused, other than by QUERY_NOT_FOUND; without an answer all refuse."""

    REFUSES = "the queue is not taken in this round"
    COUNTS_AS_NONE = "no offset is stored"


class LockTime(Enum):
    """When an orderly consumer locks a queue."""

    BEFORE_ADD = "before it takes the queue; if it cannot, it does not"
    BEFORE_PULL = "before each pull"


class OrderlyRun(Enum):
    """How long a listener has an orderly queue at a stretch, and when its lock is looked at."""

    MINUTE = "a minute; the lock is looked at before each batch"
    UNBROKEN = "while messages come, in a thread that begins with the hold; the lock is looked at before each batch"
    ONE_LOOK = "a minute; the lock is looked at when the run begins, as is whether the queue was dropped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One client's behaviour. Times are in ms.

    Attributes:
        language, version: what it is; ``version_number`` is what it says on the wire.
        strategy: the strategy of a consumer that names none.
        round_every: a rebalance at least this often.
        round_floor: from the end of one to the begin of the next at least; 0: none.
        round_retry: the next one after an unbalanced one; None: no difference.
        first_round: how a start makes one happen.
        divides_for_polls: a consumer that polls gets queues from the rebalance; C++'s does nothing there, and its
            application names the queues.
        notices_group_only: a notification is for the named group only.
        knows_static_topics: logical queues in a route are read.
        dispatch_delay: from taking a queue to its first pull.
        lock_retry: the next round after a lock was refused; None: no difference.
        lock_time: when orderly queues are locked.
        new_queue_is_locked: a queue that was just locked counts as locked.
        locks_broadcasting: an orderly consumer asks for locks though it is broadcasting.
        pull_max_idle: a queue that was not pulled for longer is dropped.
        removal: how an orderly queue is let go.
        removal_wait: how long it waits for the listener.
        removes_while_marking: each queue is removed before the next is marked as dropped.
        removes_at_random: which topic and which queue of it goes first is luck.
        clears_dropped: what is cached of a queue is thrown away once it is let go, also what a listener has.
        renewal_first, renewal_every: orderly lock renewal.
        renews_by_topic: in one request per broker and topic; else per broker.
        sorts_queues: locks are renewed and given back in the order of topics, brokers and ids, not of taking.
        renews_dropped: also of dropped queues.
        stores_dropped: the timer stores dropped queues that are still in the table.
        refused_renewal_unlocks: a queue whose renewal is refused is unlocked at once; else once its lock has run out.
        orderly_run: how long a listener has an orderly queue at a stretch.
        gives_whole_pulls: a concurrent listener gets all that a pull found at once, whatever its batch is.
        sends_back_dropped: failed messages go back to their broker also of a queue that was dropped meanwhile.
        local_retry: until a failed message that its broker does not take back is consumed again.
        cleans_expired: what a listener has had for too long is sent back.
        spare_tries: how many more times than it may an orderly message is tried before it is a dead letter.
        no_members: what an empty list of members means.
        truncation: what happens to queues of foreign topics.
        offset_error: what a refused offset query means.
        finds_by_time: a start by timestamp works on normal topics.
        reads_time_as_utc: such a timestamp, written in the machine's own zone, is read as if it were UTC.
        bumps_version: a changed assignment makes a newer subscription version, and a heartbeat.
        missing_route_counts: a topic without a route is, in each round, as if its assignment had changed to nothing.
        version_unit: versions in one ms: 1 in ms, 1,000,000 in ns.
        pulls_with_subscription: pulls carry the expression, by which the broker then filters whatever it was told.
        pulls_with_version: pulls say which version of the subscription they mean; without one, none is refused for it.
        inner_producer: the producer group that its heartbeats name beside its consumers.
        knows_heartbeat_v2: can leave out the subscriptions that a broker already has.
        channel_heartbeat: a channel that opens makes a heartbeat and wakes the rebalance.
        pulls_to_the_end: shutting down ends pulls last, with the client; else first.
        awaits_listeners: shutting down first waits for what listeners have in hand.
        unregisters: shutting down says good-bye.
        unlocks_all: shutting down gives back every lock; C++ forgets the least queue of each broker.
        notes_unlocks: who gives locks back, shutting down, knows that they are gone.
        ignores_late_answers: what was pulled for a queue that has been dropped since says nothing of how far it is.
        offset_can_fall: what is finished is noted though more was noted before, as after an offset that was illegal.
        notes_nothing_stored: where no offset is stored -1 is noted, and stored until there is more to say; what is
            stored is noted only if it is more than what is.
        reads_whole_file: broadcasting, reading the offset of one queue reads all that are in the file into memory.
        storing_forgets_others: what is in memory of other queues is lost, unstored, when one queue is stored by itself.
        repair_delay: from an illegal offset to its repair; None: the next pull begins where the broker says.
        repair_wakes: the repair is followed by a rebalance.
        repair_keeps_offset: after the repair the offset stays in memory, and the queue is not let go of by the rules.
        knows_assignment: can let the broker divide queues.
        probes_assignment: tries first whether the broker can.
        queue_messages, queue_mib, span: limits of what is cached of one queue; None: none.
        topic_messages, topic_mib: limits of one topic; -1: none.
        flow_delay, error_delay, paused_delay, busy_delay: until the next pull, when the cache is full, after an error,
            when paused, when the broker is busy.
        sync_flow_delay: C++: as ``flow_delay``, where a thread waits for each pull.
        pull_batch, pull_bytes, suspend, pull_timeout: of a pull.
        list_timeout, offset_timeout, end_timeout, back_timeout: how long is waited for a list of members, a stored
            offset, where a queue ends or was at a time, and for a message to be taken back.
    """

    language: Language
    version: str
    strategy: str = "AVG"
    round_every: int = 20_000
    round_floor: int = 0
    round_retry: int | None = None
    first_round: FirstRound = FirstRound.WAKES
    divides_for_polls: bool = True
    notices_group_only: bool = False
    knows_static_topics: bool = False
    dispatch_delay: int = 0
    lock_retry: int | None = None
    lock_time: LockTime = LockTime.BEFORE_ADD
    new_queue_is_locked: bool = True
    locks_broadcasting: bool = False
    pull_max_idle: int = 120_000
    removal: OrderlyRemoval = OrderlyRemoval.DELAYS_UNLOCK
    removal_wait: int = 1_000
    removes_while_marking: bool = False
    removes_at_random: bool = False
    clears_dropped: bool = False
    renewal_first: int = 1_000
    renewal_every: int = 20_000
    renews_by_topic: bool = False
    sorts_queues: bool = False
    renews_dropped: bool = True
    stores_dropped: bool = True
    refused_renewal_unlocks: bool = True
    orderly_run: OrderlyRun = OrderlyRun.MINUTE
    gives_whole_pulls: bool = False
    sends_back_dropped: bool = False
    local_retry: int = 5_000
    cleans_expired: bool = True
    spare_tries: int = 0
    no_members: NoMembers = NoMembers.KEEPS
    truncation: Truncation = Truncation.FORGETS
    offset_error: OffsetError = OffsetError.REFUSES
    finds_by_time: bool = True
    reads_time_as_utc: bool = False
    bumps_version: bool = True
    missing_route_counts: bool = False
    version_unit: int = 1
    pulls_with_subscription: bool = False
    pulls_with_version: bool = True
    inner_producer: str | None = None
    knows_heartbeat_v2: bool = False
    channel_heartbeat: bool = False
    pulls_to_the_end: bool = True
    awaits_listeners: bool = False
    unregisters: bool = True
    unlocks_all: bool = True
    notes_unlocks: bool = True
    ignores_late_answers: bool = False
    offset_can_fall: bool = False
    notes_nothing_stored: bool = False
    reads_whole_file: bool = False
    storing_forgets_others: bool = False
    repair_delay: int | None = 10_000
    repair_wakes: bool = False
    repair_keeps_offset: bool = False
    knows_assignment: bool = False
    probes_assignment: bool = False
    queue_messages: int = 1_000
    queue_mib: int | None = 100
    span: int | None = 2_000
    topic_messages: int = -1
    topic_mib: int = -1
    flow_delay: int = 50
    sync_flow_delay: int | None = None
    error_delay: int = 1_000
    paused_delay: int = 1_000
    busy_delay: int | None = 20
    pull_batch: int = 32
    pull_bytes: int | None = None
    suspend: int = 15_000
    pull_timeout: int = 30_000
    list_timeout: int = 3_000
    offset_timeout: int = 5_000
    end_timeout: int = 6_000  # ``MQAdminImpl.timeoutMillis``
    back_timeout: int = 5_000

    def __str__(self) -> str:
        """Name it as a person would."""
        return f"{self.language.name.lower()} {self.version}"

    @property
    def idles_until_renewal(self) -> bool:
        """Whether an orderly queue that was just taken is not pulled before the next renewal of locks."""
        asks_again = self.orderly_run is OrderlyRun.UNBROKEN
        return self.lock_time is LockTime.BEFORE_ADD and not self.new_queue_is_locked and not asks_again

    @property
    def version_number(self) -> int:
        """What travels in headers and heartbeats' commands; a snapshot counts as its release."""
        major, minor, patch = release(self.version, "the client")
        return min(V4_0_0_SNAPSHOT + 20 * (10 * (major - 4) + minor) + 2 * patch + 1, HIGHER_VERSION)


_JAVA_FIRST = Profile(
    language=Language.JAVA,
    version="4.9.0",
    inner_producer="CLIENT_INNER_PRODUCER",
    new_queue_is_locked=False,
    locks_broadcasting=True,
    removes_while_marking=True,
)
_JAVA_CHANGES: dict[str, dict[str, Any]] = {
    "4.9.5": {"new_queue_is_locked": True},
    "5.0.0": {
        "knows_static_topics": True,
        "dispatch_delay": 500,
        "lock_retry": 500,
        "locks_broadcasting": False,
        "removes_while_marking": False,
        "missing_route_counts": True,
        "knows_assignment": True,
        "probes_assignment": True,
        "pull_bytes": 262_144,
    },
    "5.1.3": {"knows_heartbeat_v2": True},
    "5.2.0": {
        "round_floor": 1_000,
        "round_retry": 1_000,
        "removal": OrderlyRemoval.FORCES_UNLOCK,
        "removal_wait": 500,
        "renews_dropped": False,
        "channel_heartbeat": True,
        "repair_delay": 0,
        "repair_wakes": True,
    },
    "5.3.2": {"probes_assignment": False},
}

CPP = Profile(
    language=Language.CPP,
    version="4.6.0",
    strategy="CPP_AVG",
    round_every=10_000,
    first_round=FirstRound.FIRST_AT_ONCE,
    divides_for_polls=False,
    notices_group_only=True,
    lock_time=LockTime.BEFORE_PULL,
    new_queue_is_locked=False,
    pull_max_idle=119_999,  # 120 s are too long already; elsewhere they are not yet
    removal=OrderlyRemoval.UNLOCKS,
    removal_wait=0,
    removes_while_marking=True,  # ``Rebalance.cpp``, ``updateRequestTableInRebalance``: one loop drops and lets go
    clears_dropped=True,  # the same, ``clearAllMsgs``
    renewal_first=20_000,
    renews_by_topic=True,  # ``Rebalance.cpp``, ``lockAll`` has ``brokerKey``
    sorts_queues=True,  # ``Rebalance.cpp``, ``unlockAll``, ``lockAll`` go through a ``std::map``
    renews_dropped=False,
    stores_dropped=False,  # ``Rebalance.cpp``, ``persistConsumerOffset``
    refused_renewal_unlocks=False,  # ``Rebalance.cpp``, ``lockAll`` looks at what was granted only
    orderly_run=OrderlyRun.ONE_LOOK,  # ``ConsumeMessageOrderlyService.cpp``, ``ConsumeRequest``
    gives_whole_pulls=True,  # ``ConsumeMessageConcurrentlyService.cpp``, ``submitConsumeRequest``
    sends_back_dropped=True,  # the same, ``ConsumeRequest`` does not look again
    local_retry=1_000,  # ``ConsumeMessageConcurrentlyService.cpp``, ``ConsumeRequest``
    cleans_expired=False,
    pulls_with_subscription=True,  # ``DefaultMQPushConsumerImpl.cpp``, ``pullMessageAsync``: not even ``*`` is empty
    no_members=NoMembers.THROWS,
    truncation=Truncation.NEVER,
    offset_error=OffsetError.COUNTS_AS_NONE,
    finds_by_time=False,
    bumps_version=False,
    pulls_to_the_end=False,  # ``DefaultMQPushConsumerImpl.cpp``, ``shutdown`` closes ``m_pullmsgQueue`` before
    awaits_listeners=True,  # both services, ``stopThreadPool``
    unlocks_all=False,
    ignores_late_answers=True,  # ``DefaultMQPushConsumerImpl.cpp``, ``AsyncPullCallback::onSuccess``
    offset_can_fall=True,  # ``OffsetStore.cpp``, ``RemoteBrokerOffsetStore::updateOffset``
    repair_delay=None,  # the same, and ``pullMessage``
    queue_mib=None,
    span=None,
    flow_delay=3_000,
    sync_flow_delay=1_000,
    busy_delay=None,
    list_timeout=5_000,  # ``MQClientFactory.cpp``, ``findConsumerIds``
    end_timeout=3_000,
    back_timeout=3_000,
)
GO = Profile(
    language=Language.GO,
    version="5.1.4",
    strategy="GO_AVG",
    first_round=FirstRound.AT_ONCE,
    new_queue_is_locked=False,  # ``consumer/consumer.go``, ``lock`` marks what is in the table, and it comes later
    removal=OrderlyRemoval.KEEPS_LOCK,
    removal_wait=0,
    refused_renewal_unlocks=False,  # ``consumer/consumer.go``, ``lockAll`` looks the queue up by a pointer, in vain
    notes_unlocks=False,  # the same, ``unlockAll``
    pulls_to_the_end=False,  # ``consumer/push_consumer.go``, ``Shutdown`` closes ``done`` first
    orderly_run=OrderlyRun.UNBROKEN,  # ``consumer/push_consumer.go``, ``consumeMessageOrderly`` begins anew each time
    spare_tries=1,  # ``consumer/push_consumer.go``, ``checkReconsumeTimes`` asks for more than the limit
    no_members=NoMembers.DROPS,
    truncation=Truncation.STORES,
    version_unit=1_000_000,  # from the first one on: ``consumer/consumer.go``, ``buildSubscriptionData``
    pulls_with_version=False,  # ``consumer/push_consumer.go``, ``pullMessage`` leaves it out
    reads_time_as_utc=True,
    unregisters=False,
    removes_while_marking=True,  # ``consumer/consumer.go``, ``updateProcessQueueTable`` lets go inside its one loop
    removes_at_random=True,  # the same, and ``doBalance``: ``Range`` over a ``sync.Map``
    notes_nothing_stored=True,  # ``consumer/offset_store.go``, ``remoteBrokerOffsetStore.readWithException``
    reads_whole_file=True,  # the same, ``localFileOffsetStore.load``
    storing_forgets_others=True,  # ``consumer/offset_store.go``, ``persist`` deletes what it was not asked for
    repair_keeps_offset=True,  # ``consumer/push_consumer.go``, ``pullMessage`` only deletes it from the table
    queue_messages=1_024,
    queue_mib=512,
    span=1_000,
    topic_messages=102_400,
    topic_mib=51_200,
    error_delay=3_000,
    paused_delay=30_000,
    busy_delay=None,
    suspend=20_000,
    offset_timeout=3_000,
    end_timeout=3_000,
    back_timeout=3_000,
)


def java(version: str) -> Profile:
    """Give the Java client of a release, such as ``4.9.7`` or ``5.3.4-SNAPSHOT``.

    Raises:
        ValueError: it is no release from 4.9.0 on.
    """
    changed = changed_until(version, _JAVA_FIRST.version, _JAVA_CHANGES, "the Java client")
    return replace(_JAVA_FIRST, version=version, **changed)
