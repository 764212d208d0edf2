"""Reports for tests: what a client of group ``g`` says of itself, ms after ``T0``."""

from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.reports.models import ReportToken
from dashboard.reports.tokens import make
from rebalance_engine.events import (
    EXACT,
    CommandFinished,
    CommandOrdered,
    CommandOutcome,
    CommandReceipt,
    DropReason,
    Fact,
    Origin,
    QueueDropped,
    QueuePulled,
    QueueTaken,
    ReceiptAnswer,
    Source,
)
from rebalance_engine.network.reports import body_of
from tests.dashboard.story import T0, queue

BY_HAND = Source(origin=Origin.OPERATOR, cluster="DefaultCluster")


def own(client: str) -> Source:
    return Source(origin=Origin.AGENT_REPORT, client=client)


def taken(client: str, at: int, number: int = 0, group: str = "g", source: Source | None = None) -> QueueTaken:
    by = source or own(client)
    return QueueTaken(at=T0 + at, source=by, exactness=EXACT, group=group, client=client, queue=queue(number))


def dropped(client: str, at: int, number: int = 0) -> QueueDropped:
    return QueueDropped(
        at=T0 + at,
        source=own(client),
        exactness=EXACT,
        group="g",
        client=client,
        queue=queue(number),
        reason=DropReason.NOT_IN_TARGET,
    )


def pulled(client: str, at: int, number: int = 0) -> QueuePulled:
    return QueuePulled(
        at=T0 + at, source=own(client), exactness=EXACT, group="g", client=client, queue=queue(number), offset=0
    )


def command(group: str = "g", name: str = "c1") -> list[Fact]:
    """What ``evenkeel recompute --report`` sends."""
    return [
        CommandOrdered(
            at=T0,
            source=BY_HAND,
            exactness=EXACT,
            command=name,
            verb="group.recompute",
            author="ada",
            deadline=T0 + 5,
            group=group,
            reason="lag",
        ),
        CommandReceipt(
            at=T0 + 5,
            source=BY_HAND,
            exactness=EXACT,
            command=name,
            group=group,
            client="A",
            answer=ReceiptAnswer.UNCHANGED,
        ),
        CommandFinished(at=T0 + 5, source=BY_HAND, exactness=EXACT, command=name, outcome=CommandOutcome.DONE),
    ]


def body(*facts: Fact, report: str = "r1", group: str = "g") -> bytes:
    return body_of(group=group, report=report, facts=facts)


def token_of(cluster: Cluster, group: str = "g") -> tuple[str, ReportToken]:
    return make(cluster=cluster, group=group, author="ada", now=T0)
