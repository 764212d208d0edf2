"""Who joined, left or changed: the members that the causes of rounds name, in a few words.

A cause that names nobody (a route, a plan) has no words; many at once names all of them.
"""

from __future__ import annotations

from django.db.models import F, Q, QuerySet
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.common.shown import shown
from dashboard.groups.models import Round, RoundCause
from rebalance_engine.events import Cause

MOST_NAMED = 2
MOST_CAUSES = 20_000
LONGEST_NAME = 32


def whose(*, rounds: QuerySet[Round]) -> dict[int, str]:
    """Name who stands behind each of the rounds, by their rows; a round without anybody is left out. One query."""
    causes = RoundCause.objects.filter(
        Q(cause=F("round__cause")) | Q(round__cause=Cause.MANY_AT_ONCE.value),
        round__in=rounds.order_by().values("pk"),
        client_id__gt="",
    )
    named: dict[int, dict[str, None]] = {}
    for row, client in causes.order_by("at", "pk").values_list("round_id", "client_id")[:MOST_CAUSES]:
        if client:
            named.setdefault(row, {})[client] = None
    return {row: words_of(list(clients)) for row, clients in named.items()}


def words_of(clients: list[str]) -> str:
    """Name the first of some members, and say how many more there are.

    >>> words_of(["A", "B"])
    'A, B'
    """
    names = ", ".join(shown(client, LONGEST_NAME) for client in clients[:MOST_NAMED])
    more = len(clients) - MOST_NAMED
    if more <= 0:
        return names
    words = ngettext("%(names)s and %(n)s more", "%(names)s and %(n)s more", more)
    return words % {"names": names, "n": more}


def cause_with_names(cause: str, names: str) -> str:
    """Put a round's cause and who stands behind it together.

    >>> cause_with_names("member joined", "A"), cause_with_names("manual", "")
    ('member joined: A', 'manual')
    """
    return _("%(cause)s: %(names)s") % {"cause": cause, "names": names} if names else cause
