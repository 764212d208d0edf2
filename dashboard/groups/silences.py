"""When it was unknown what members hold, or who is one: nobody knows who had then what nobody else had."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Coalesce

from dashboard.clusters.models import Broker
from dashboard.groups.bands import Bounded, Intervals, joined_up
from dashboard.groups.kinds import is_proxied
from dashboard.groups.models import Member, MemberList

WHO = ("client_id", "strategy")
TOLD = Coalesce("held_seen_at", "at_low", "at")  # before a member may have come it had nothing


def doubts_of(*, group: int, since: int) -> list[tuple[int, int]]:
    """Say from when to when not everybody told what he has: who has left since, or told again, or came back."""
    return doubts_of_each(groups=[group], since=since).get(group, [])


def doubts_of_each(*, groups: Collection[int], since: int) -> dict[int, list[tuple[int, int]]]:
    """Say the same of groups, by their numbers, in order, apart from each other; those without doubts are left out.

    Nobody knows what a member had then, nor who was one where a broker did not tell. Who left, with a good-bye or
    without, may have taken queues since his last word; of several connections one alone told. Who seems to come
    through a proxy never answers, and owns no queues: of that there is no doubt.
    """
    found: dict[int, list[tuple[int, int]]] = {}
    members = Member.objects.filter(Q(silent_until__gt=since) | Q(left_at__gt=since), group__in=groups)
    columns = ("silences", "doubled", "doubled_at", "left_at", "missing", "held_seen_at", TOLD, *WHO)
    for group, times, parts, several, left, missing, seen, told, client, strategy in members.values_list(
        "group", *columns
    ):
        own = found.setdefault(group, [])
        own += ((begin, end) for begin, end in [*(times or ()), *(parts or ())] if end > since)
        own += [(several, left)] if several is not None and left is not None and several < left else []
        is_silent = missing is not None or seen is None
        if left is not None and left > since and told < left:
            own += [] if is_proxied(client, strategy=strategy, is_silent=is_silent) else [(told, left)]
    lists = MemberList.objects.filter(silent_until__gt=since, group__in=groups)
    for group, times in lists.values_list("group", "silences"):
        found.setdefault(group, []).extend((begin, end) for begin, end in times or () if end > since)
    return {group: joined_up(times) for group, times in found.items() if times}


def told_until_of(group: int) -> int | None:
    """Say until when everybody had told all that they hold; None: all do.

    Who does not answer may have taken any queue since, and so may another connection of who has several.
    """
    return told_until_of_each(groups=[group]).get(group)


def told_until_of_each(*, groups: Sequence[int]) -> dict[int, int]:
    """Say the same of several groups; those of which all tell are left out."""
    is_doubtful = Q(missing__isnull=False) | Q(held_seen_at=None) | Q(doubled_at__isnull=False)
    rows = Member.objects.filter(is_doubtful, group__in=groups, left_at=None)
    columns = ("missing", "held_seen_at", TOLD, "doubled_at", *WHO)
    told: list[tuple[int, int]] = []
    for group, missing, seen, at, several, client, strategy in rows.values_list("group", *columns):
        is_silent = missing is not None or seen is None
        if is_silent and not is_proxied(client, strategy=strategy, is_silent=True):
            told.append((group, at))
        if several is not None:
            told.append((group, several))
    lost = Broker.objects.filter(cluster=OuterRef("group__cluster"), name=OuterRef("broker"), broker_id=0)
    untold = MemberList.objects.filter(~Exists(lost.filter(gone_at__isnull=False)), group__in=groups)
    lists = untold.filter(missing__isnull=False).values_list("group", Coalesce("missing_low", "missing_at", 0))
    found: dict[int, int] = {}
    for group, at in [*told, *lists]:
        found[group] = min(at, found.get(group, at))
    return found


def told_last(*, group: int, at: int) -> dict[str, int]:
    """Say of those who were silent at an instant when they had told last what they hold."""
    is_silent = Q(missing__isnull=False) & (Q(left_at=None) | Q(left_at__gt=at))
    rows = Member.objects.filter(Q(silent_until__gt=at) | is_silent, group=group).annotate(told=TOLD)
    found: dict[str, int] = {}
    for client, silences, told, missing, left in rows.values_list(
        "client_id", "silences", "told", "missing", "left_at"
    ):
        times = [begin for begin, end in silences or () if begin < at < end]
        if missing is not None and told < at and (left is None or left > at):
            times.append(told)
        if times:
            found[client] = max(times)
    return found


def silent_lately(*, groups: Collection[int], since: int) -> set[int]:
    """Name the groups in which somebody did not tell what he has, or a broker who is a member, and told since."""
    times = [each.objects.filter(silent_until__gt=since, group__in=groups) for each in (Member, MemberList)]
    members, lists = (rows.order_by().values_list("group", flat=True) for rows in times)
    return set(members.union(lists))


def silences_of(*, groups: Collection[int], since: int) -> dict[int, Intervals]:
    """Say from when to when members of groups, by their rows, did not tell what they have, and told again."""
    rows = Member.objects.filter(silent_until__gt=since, group__in=groups).values_list("pk", "silences")
    return {member: [(begin, end) for begin, end in times or ()] for member, times in rows}


def with_silences(spans: list[Bounded], silences: Mapping[int, Intervals]) -> list[Bounded]:
    """Say of spans when who had the queues did not tell whether he has them."""
    if not silences:
        return spans
    return [replace(each, silences=own) if (own := silences.get(each.client)) else each for each in spans]
