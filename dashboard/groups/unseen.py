"""How groups fared lately, where anybody looked: of what nobody did look at it is unknown, and no exact 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from django.db.models import Q

from dashboard.groups.lately import NONE, WINDOW_MS, Lately, lately_of
from dashboard.groups.models import Group

NOT_LOOKED_AT = Q(rebalanced_at=None) | Q(queue_count=None) | Q(member_count=None)


def fared_of(*, groups: Sequence[int], now: int) -> dict[int, Lately]:
    """Give how groups, by their numbers, fared lately; times are None where nobody could see any."""
    found = lately_of(groups=groups, now=now)
    unseen = set(Group.objects.filter(NOT_LOOKED_AT, pk__in=groups).values_list("pk", flat=True))
    return {
        pk: _without_times(each) if _is_unseen(each, now, is_known=pk not in unseen) else each
        for pk, each in found.items()
    }


def _is_unseen(each: Lately, now: int, *, is_known: bool) -> bool:
    """Whether its cluster answered last before the window, or its size is unknown, and nothing else was seen of it."""
    is_nothing = each.unowned == NONE and each.overlap == NONE
    return each.known_until <= now - WINDOW_MS or (is_nothing and not is_known)


def _without_times(each: Lately) -> Lately:
    return replace(each, unowned=None, overlap=None, nobody=(), perhaps_nobody=(), two=())
