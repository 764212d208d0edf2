"""Members that only reports made known, and that no broker lists: somebody must state that they left.

A watcher states the going of whom it has seen. Who reported that he is there, and died before the watcher's next look,
or while there was no watcher, it never saw. He is gone once every broker has listed the members after his last word,
and none listed him.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Exists, F, Max, OuterRef
from django.db.models.functions import Coalesce, Greatest

from dashboard.groups.models import Member, Presence
from rebalance_engine.events import Departure, Exactness, Fact, MemberLeft, Origin, Source

SETTLED_MS = 5_000  # from a client's first word until the brokers list it, at most
PROOF = "it told of itself last before every broker listed the members once more, and none listed it"


@dataclass(frozen=True, slots=True)
class Quiet:
    """A member that said nothing of itself any more; ``at`` is when it did last, or when it was seen last."""

    group: str
    client: str
    at: int


def quiet_members(*, cluster: str, lists_at: int) -> list[Quiet]:
    """Give the members of which no broker has a connection, and whose last word was well before the lists were told.

    Args:
        cluster: its name.
        lists_at: every member list was told at this time or later; ms since 1970.
    """
    here = Member.objects.filter(group__cluster__name=cluster, left_at=None, at__lt=lists_at - SETTLED_MS)
    without = here.filter(~Exists(Presence.objects.filter(member=OuterRef("pk"), gone_at=None)))
    spoke = Greatest(
        F("at"), F("observed_at"), F("seen_at"), Coalesce("held_seen_at", 0), Coalesce(Max("holdings__observed_at"), 0)
    )
    rows = without.annotate(spoke=spoke).filter(spoke__lt=lists_at - SETTLED_MS).order_by("pk")
    return [Quiet(*row) for row in rows.values_list("group__name", "client_id", "spoke")]


def departures(quiet: Iterable[Quiet], *, cluster: str, now: int) -> list[Fact]:
    """State that these members left, at some time from their last word until now; how is unknown."""
    source = Source(origin=Origin.DERIVED, cluster=cluster, detail=PROOF)
    return [
        MemberLeft(
            at=now,
            source=source,
            exactness=Exactness.between(min(each.at, now), now),
            group=each.group,
            client=each.client,
            departure=Departure.UNKNOWN,
        )
        for each in quiet
    ]
