"""Facts as lines in the outbox; and from there to the history files."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.clusters.models.outbox import DIGEST_BYTES
from dashboard.common import bulk
from rebalance_engine.eventlog import write
from rebalance_engine.events import Fact, Source


class WrongCluster(ValueError):
    """A fact says that it is about another cluster than the one that it was stated for."""


@dataclass(frozen=True, slots=True)
class Line:
    """A fact with its one line, and what tells that line from all others."""

    fact: Fact
    text: str
    digest: bytes


def lines_of(*, cluster: Cluster, facts: Iterable[Fact]) -> list[Line]:
    """Write each fact as its line, once; the source says the cluster.

    Raises:
        WrongCluster: a source says another one.
        EventLogError: a fact can have no line.
    """
    sources: dict[int, Source] = {}
    lines: dict[bytes, Line] = {}
    for fact in facts:
        if fact.source.cluster is None:
            source = sources.get(id(fact.source))
            if source is None:
                source = sources[id(fact.source)] = replace(fact.source, cluster=cluster.name)
            said = replace(fact, source=source)
        elif fact.source.cluster == cluster.name:
            said = fact
        else:
            raise WrongCluster(f"a fact about cluster {fact.source.cluster!r} was stated for {cluster.name!r}")
        text = write(said)
        digest = hashlib.blake2b(text.encode(), digest_size=DIGEST_BYTES).digest()
        lines.setdefault(digest, Line(said, text, digest))
    return list(lines.values())


def not_yet_stored(*, cluster: Cluster, lines: Sequence[Line]) -> list[Line]:
    """Leave out the lines that were stored before."""
    digests = [line.digest for line in lines]
    known = OutboxLine.objects.filter(cluster=cluster, digest__in=digests).values_list("digest", flat=True)
    stored = {bytes(digest) for digest in known}
    return [line for line in lines if line.digest not in stored]


def append(*, cluster: Cluster, lines: Iterable[Line], now: int) -> None:
    """Put lines into the outbox, in this order; one that is there stays. Inside the transaction of what they say."""
    bulk.insert(
        OutboxLine,
        ("cluster", "digest", "at", "stored_at", "line"),
        [(cluster.pk, line.digest, line.fact.at, now, line.text) for line in lines],
        on_conflict="DO NOTHING",
    )
