"""What a producer does, by client language and version, as data.

``java("5.3.0")`` applies the changes of each release up to that one, in order; the first row is 4.2.0, before which
nothing was looked at. Where the released sources differ from what is commonly written, the sources were followed:

- There is one time budget for a call only from 4.3.0 on; in 4.2 each attempt has the whole timeout.
- From 4.6.0 on a silent name server ends the send with an IllegalStateException.
- The single step per scan of fault avoidance off ends with 4.7: 4.8.0 moves the index for each look.
- 4.8.0 does not clamp the index to 0 at the wrap any more.
- A first asynchronous attempt without a connection is retried only from 4.9.3 on.
- 5.1.1 to 5.1.3 avoid the last broker with fault avoidance on.
- In 5.1.4 alone an unreachable broker is not available either.
- Asynchronous retries need remaining time only from 5.3.2 on.

Sources, each at every tag from 4.2.0 on: ``client/.../latency/MQFaultStrategy.java``,
``LatencyFaultToleranceImpl.java``, ``client/.../common/ThreadLocalIndex.java``,
``client/.../impl/producer/TopicPublishInfo.java``, ``DefaultMQProducerImpl.java``,
``client/.../impl/MQClientAPIImpl.java``, ``client/.../producer/DefaultMQProducer.java``; for the others
``src/producer/DefaultMQProducerImpl.cpp`` and ``producer/producer.go``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

from rebalance_engine.remoting.codes import Language, ResponseCode
from rebalance_engine.remoting.versions import changed_until


class IndexRule(Enum):
    """How the number that picks the next queue starts and moves on."""

    CLAMPED = "starts at |random|; |n + 1|, or 0 where that is still negative"
    ABSOLUTE = "starts at |random|; |n + 1|"
    ABSOLUTE_READ = "starts at |random|; n + 1, read as |n|"
    MASKED = "starts at |random|; n + 1, read without its sign bit"
    MASKED_SIGNED = "starts at random; n + 1, read without its sign bit"
    SHARED = "starts at 0, one for all threads; read before it moves on"
    PER_SELECTOR = "starts at 0, one for all threads, kept when the route changes; moves on before it is read"


class FaultForm(Enum):
    """How a queue is chosen with fault avoidance on."""

    STICKS = "available, and on the broker that failed"
    IGNORES = "available"
    AVOIDS = "available, and not on the broker that failed"
    FILTERS = "available, else reachable, and not on the broker that failed"


class AsyncIssue(Enum):
    """What happens where an asynchronous request cannot be handed to a connection."""

    RAISES = "the first attempt fails for good, a retry counts as 3 s against the broker that failed before it"
    RETRIES = "retried inside the call, which then still counts as returned"
    CALLS_BACK = "told like any failed request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One client's behaviour.

    Attributes:
        language: what the client is written in.
        version: its release, for people.
        index: how the round-robin number moves.
        steps_once_a_scan: avoiding the last broker moves the index once and looks at consecutive positions.
        fault_form: how fault avoidance chooses; None where the client has none.
        throws_when_negative: a scan that runs past the largest int ends in an exception, which is caught.
        latency_max_ms: lower bounds of the latency classes (``latencyMax``).
        not_available_ms: time to back off, by class (``notAvailableDuration``).
        isolation_ms: latency that a failure counts as.
        only_extends: a back-off is never shortened.
        available_needs_reachable: an unreachable broker is not available.
        shuffles_fault_items: equal fault items come in random order.
        isolates_client_errors: an error before anything was sent isolates the broker.
        attempts: attempts of a synchronous send, the first included.
        async_retries: further attempts of an asynchronous send.
        retry_codes: refusals after which another broker is tried.
        has_one_budget: the timeout is for the whole call, not for each attempt.
        caps_each_request: ``sendMsgMaxTimeoutPerRequest`` is known.
        async_issue: what an asynchronous request without a connection does.
        async_retry_keeps_time: an asynchronous retry gets what is left of the timeout; without, none.
        async_retry_needs_time: there is none once the timeout is used up.
        lookup_failure_raises: a name server that does not answer fails the send.
        lock_timeout_ms: how long a thread waits for the route lock, where not for ever.
        route_timeout_ms: how long a name server may take.
        knows_static_topics: mappings in a route are read.
        names_broker: requests carry the broker's name.
    """

    language: Language
    version: str
    index: IndexRule
    steps_once_a_scan: bool = False
    fault_form: FaultForm | None = None
    throws_when_negative: bool = False
    latency_max_ms: tuple[int, ...] = ()
    not_available_ms: tuple[int, ...] = ()
    isolation_ms: int = 0
    only_extends: bool = False
    available_needs_reachable: bool = False
    shuffles_fault_items: bool = False
    isolates_client_errors: bool = False
    attempts: int
    async_retries: int = 0
    retry_codes: frozenset[int] = frozenset()
    has_one_budget: bool = False
    caps_each_request: bool = False
    async_issue: AsyncIssue = AsyncIssue.CALLS_BACK
    async_retry_keeps_time: bool = True
    async_retry_needs_time: bool = False
    lookup_failure_raises: bool = False
    lock_timeout_ms: int | None = None
    route_timeout_ms: int = 3_000
    knows_static_topics: bool = False
    names_broker: bool = False

    @property
    def knows_reachability(self) -> bool:
        """Whether brokers can be unreachable, and be probed (5.1.4 and later)."""
        return self.fault_form is FaultForm.FILTERS

    @property
    def mutates_queues(self) -> bool:
        """Whether a queue of the shared list is rewritten where no broker is available (to 5.1.3)."""
        return self.fault_form not in (None, FaultForm.FILTERS)

    def __str__(self) -> str:
        """Name it as a person would."""
        return f"{self.language.name.lower()} {self.version}"


_RETRY_CODES = frozenset(
    {
        ResponseCode.TOPIC_NOT_EXIST,
        ResponseCode.SERVICE_NOT_AVAILABLE,
        ResponseCode.SYSTEM_ERROR,
        ResponseCode.NO_PERMISSION,
        ResponseCode.NO_BUYER_ID,
        ResponseCode.NOT_IN_CURRENT_UNIT,
    }
)
_JAVA_FIRST = Profile(
    language=Language.JAVA,
    version="4.2.0",
    index=IndexRule.CLAMPED,
    steps_once_a_scan=True,
    fault_form=FaultForm.STICKS,
    latency_max_ms=(50, 100, 550, 1_000, 2_000, 3_000, 15_000),
    not_available_ms=(0, 0, 30_000, 60_000, 120_000, 180_000, 600_000),
    isolation_ms=30_000,
    shuffles_fault_items=True,
    isolates_client_errors=True,
    attempts=3,
    async_retries=2,
    retry_codes=_RETRY_CODES,
    async_issue=AsyncIssue.RAISES,
    async_retry_keeps_time=False,
    lock_timeout_ms=3_000,
)
_JAVA_CHANGES: dict[str, dict[str, Any]] = {
    "4.3.0": {"has_one_budget": True},
    "4.6.0": {"lookup_failure_raises": True},
    "4.7.0": {"async_retry_keeps_time": True},
    "4.8.0": {"index": IndexRule.ABSOLUTE, "steps_once_a_scan": False, "fault_form": FaultForm.IGNORES},
    "4.9.0": {"index": IndexRule.ABSOLUTE_READ},
    "4.9.3": {"async_issue": AsyncIssue.RETRIES},
    "4.9.4": {"index": IndexRule.MASKED, "shuffles_fault_items": False},
    "5.0.0": {"index": IndexRule.MASKED_SIGNED, "knows_static_topics": True, "names_broker": True},
    "5.1.0": {"throws_when_negative": True},
    "5.1.1": {"fault_form": FaultForm.AVOIDS},
    "5.1.4": {
        "fault_form": FaultForm.FILTERS,
        "throws_when_negative": False,
        "latency_max_ms": (50, 100, 550, 1_800, 3_000, 5_000, 15_000),
        "not_available_ms": (0, 0, 2_000, 5_000, 6_000, 10_000, 30_000),
        "isolation_ms": 10_000,
        "only_extends": True,
        "available_needs_reachable": True,
        "isolates_client_errors": False,
    },
    "5.2.0": {"available_needs_reachable": False},
    "5.3.0": {"retry_codes": _RETRY_CODES | {ResponseCode.SYSTEM_BUSY}, "async_issue": AsyncIssue.CALLS_BACK},
    "5.3.1": {"retry_codes": _RETRY_CODES | {ResponseCode.SYSTEM_BUSY, ResponseCode.GO_AWAY}},
    "5.3.2": {"async_retry_needs_time": True},
    "5.3.3": {"caps_each_request": True},
}

CPP = Profile(language=Language.CPP, version="2.x", index=IndexRule.SHARED, attempts=5, route_timeout_ms=5_000)
GO = Profile(
    language=Language.GO,
    version="2.x",
    index=IndexRule.PER_SELECTOR,
    attempts=4,
    retry_codes=_RETRY_CODES - {ResponseCode.NO_BUYER_ID, ResponseCode.NOT_IN_CURRENT_UNIT},
    lookup_failure_raises=True,
    route_timeout_ms=6_000,
)


def java(version: str) -> Profile:
    """Give the Java client of a release, such as ``4.9.7`` or ``5.3.4-SNAPSHOT``.

    Raises:
        ValueError: it is no release from 4.2.0 on.
    """
    changed = changed_until(version, _JAVA_FIRST.version, _JAVA_CHANGES, "the Java client")
    return replace(_JAVA_FIRST, version=version, **changed)
