"""Facts about a cluster: what was seen or done, when, by whom it is known, and how exactly.

Whoever watches a real cluster, reads its logs, runs one in memory or reports on itself states these same
facts; storage, rounds, measures and the pipeline read them. A fact never changes: what turns out otherwise
is another fact. This room knows neither how facts are stored (:mod:`rebalance_engine.eventlog` writes
them as lines) nor what follows from them.

A new fact is a frozen dataclass in the file of its noun and an entry in ``FACTS``. Its annotations are its
rules: they are checked whenever a fact is made, and the event log, its tests and their generated examples
follow them.
"""

from __future__ import annotations

from rebalance_engine.events.fact import (
    EXACT,
    Bound,
    Exactness,
    Fact,
    GroupFact,
    MemberFact,
    MemberQueueFact,
    Origin,
    Source,
)
from rebalance_engine.events.findings import FindingCleared, FindingConfirmed, FindingFact, FindingSuspected
from rebalance_engine.events.held import (
    DropReason,
    HeldSeen,
    LockExpired,
    LockGranted,
    LockRefused,
    LockReleased,
    PullRefused,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.events.members import (
    AnswerMissed,
    ConsumeType,
    ConsumptionSeen,
    Departure,
    MemberJoined,
    MemberLeft,
    MemberListSeen,
    MemberSeen,
    MemberStrategySeen,
    Missing,
    PresenceGone,
    PresenceSeen,
    RequestModesSeen,
    Subscription,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    SubscriptionsSeen,
)
from rebalance_engine.events.producers import (
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    LatencyCount,
    ProducerConnected,
    ProducerFact,
    ProducersSeen,
    SendOutcome,
    SendTally,
)
from rebalance_engine.events.progress import DeadLettersSeen, ProgressSeen, QueueProgress
from rebalance_engine.events.rounds import (
    Cause,
    Duplicates,
    Handoff,
    Interval,
    Overlap,
    Pause,
    QueueMoved,
    RoundClosed,
    RoundFact,
    RoundNotConverged,
    RoundOpened,
    RoundSuperseded,
    Silence,
    Unowned,
)
from rebalance_engine.events.routes import BrokerGone, BrokerQueues, BrokerSeen, RouteMissing, RouteSeen
from rebalance_engine.events.shapes import Limits, Shape, shapes
from rebalance_engine.events.steering import (
    CommandFact,
    CommandFinished,
    CommandOrdered,
    CommandOutcome,
    CommandReceipt,
    PlanFollowed,
    PlanPublished,
    ReceiptAnswer,
    Share,
    TargetPublished,
)
from rebalance_engine.model import MessageModel

__all__ = [
    "EXACT",
    "FACTS",
    "AnswerMissed",
    "Bound",
    "BrokerBackedOff",
    "BrokerBackoffEnded",
    "BrokerGone",
    "BrokerLatency",
    "BrokerQueues",
    "BrokerReachable",
    "BrokerSeen",
    "BrokerUnreachable",
    "Cause",
    "CommandFact",
    "CommandFinished",
    "CommandOrdered",
    "CommandOutcome",
    "CommandReceipt",
    "ConsumeType",
    "ConsumptionSeen",
    "DeadLettersSeen",
    "Departure",
    "DropReason",
    "Duplicates",
    "Exactness",
    "Fact",
    "FindingCleared",
    "FindingConfirmed",
    "FindingFact",
    "FindingSuspected",
    "GroupFact",
    "Handoff",
    "HeldSeen",
    "Interval",
    "LatencyCount",
    "Limits",
    "LockExpired",
    "LockGranted",
    "LockRefused",
    "LockReleased",
    "MemberFact",
    "MemberJoined",
    "MemberLeft",
    "MemberListSeen",
    "MemberQueueFact",
    "MemberSeen",
    "MemberStrategySeen",
    "MessageModel",
    "Missing",
    "Origin",
    "Overlap",
    "Pause",
    "PlanFollowed",
    "PlanPublished",
    "PresenceGone",
    "PresenceSeen",
    "ProducerConnected",
    "ProducerFact",
    "ProducersSeen",
    "ProgressSeen",
    "PullRefused",
    "QueueDropped",
    "QueueMoved",
    "QueueProgress",
    "QueuePulled",
    "QueueTaken",
    "ReceiptAnswer",
    "RequestModesSeen",
    "RoundClosed",
    "RoundFact",
    "RoundNotConverged",
    "RoundOpened",
    "RoundSuperseded",
    "RouteMissing",
    "RouteSeen",
    "SendOutcome",
    "SendTally",
    "Shape",
    "Share",
    "Silence",
    "Source",
    "Subscription",
    "SubscriptionAdded",
    "SubscriptionRemoved",
    "SubscriptionReplaced",
    "SubscriptionsSeen",
    "TargetPublished",
    "Unowned",
    "shapes",
]


def _by_name(*facts: type[Fact]) -> dict[str, type[Fact]]:
    for fact in facts:
        shapes(fact)  # an annotation that nobody can check should fail here, not at the first such fact
    return {fact.__name__: fact for fact in facts}


FACTS = _by_name(
    *(MemberJoined, MemberLeft, MemberSeen, MemberStrategySeen),
    *(PresenceSeen, PresenceGone, MemberListSeen, AnswerMissed, ConsumptionSeen, RequestModesSeen),
    *(SubscriptionsSeen, SubscriptionAdded, SubscriptionReplaced, SubscriptionRemoved),
    *(RouteSeen, RouteMissing, BrokerSeen, BrokerGone),
    *(QueueTaken, QueueDropped, QueuePulled, PullRefused, HeldSeen, ProgressSeen, DeadLettersSeen),
    *(RoundOpened, RoundClosed, RoundSuperseded, RoundNotConverged, QueueMoved, Handoff),
    *(Unowned, Overlap, Pause, Silence, Duplicates),
    *(LockGranted, LockRefused, LockReleased, LockExpired),
    *(ProducersSeen, BrokerLatency, BrokerBackedOff, BrokerBackoffEnded, BrokerUnreachable, BrokerReachable),
    *(FindingSuspected, FindingConfirmed, FindingCleared),
    *(TargetPublished, PlanPublished, PlanFollowed),
    *(CommandOrdered, CommandFinished, CommandReceipt),
)
