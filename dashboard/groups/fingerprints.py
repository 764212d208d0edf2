"""What the inputs of a rebalance come to, in 32 characters: the same ones need not be computed again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable

from dashboard.groups.models import Group, RoundCause
from dashboard.groups.queries import Look
from rebalance_engine.findings import given_up, is_growing, spell


def _seen(look: Look) -> list[object]:
    """Give what else is seen; of offsets only what is found in them, since they change at every look."""
    sights = look.sights
    return [
        [(each.at, each.holder_left_at) for each in sights.locks],
        [(each.at, each.code) for each in sights.pulls],
        sorted(sights.lists.items()),
        [sorted(brokers.items()) for _, brokers in sorted(sights.addresses.items())],
        [sorted(topics.items()) for _, topics in sorted(sights.subscriptions.items())],
        repr(sorted((topic, sorted(told.items())) for topic, told in sights.routes.items())),
        [(spell(each.queue), each.since) for each in sights.standings],
        sorted(sights.held_since.items()),
        [(broker, is_growing(looks)) for broker, looks in sorted(sights.retried.items())],
        [(broker, given_up(looks)) for broker, looks in sorted(sights.dead.items())],
        sights.closed,
        sorted(sights.lost.items()),
    ]


def fingerprint(group: Group, look: Look, causes: Iterable[RoundCause]) -> str:
    """Digest queues, members, what they subscribe to, divide by and hold, and the causes that wait.

    When a member was last looked at belongs to it only while a round is open: a look that moved nothing may close it.
    """
    view = look.view
    has_open_round = group.round_number is not None and group.round_closed_at is None
    members = [
        (
            member.client_id,
            member.registrations,
            member.strategy,
            member.missing,
            member.client_id in view.silent,
            member.at,
            member.version,
            member.language,
            member.is_orderly,
            member.held_seen_at if has_open_round else None,
        )
        for member in look.members
    ]
    topics = sorted((client, sorted(told)) for client, told in view.topics_of.items())
    digest = hashlib.blake2b(digest_size=16)
    waiting = [cause.pk for cause in causes]
    told = list(RoundCause.objects.filter(group=group, round__number=group.round_number or 0).values_list("pk", "at"))
    moved = [look.moves.at, look.moves.low, look.moves.queues]  # and may be where they were again
    digest.update(json.dumps([group.model, members, topics, waiting, sorted(view.strays), moved]).encode())
    digest.update(json.dumps([sorted(told), look.untold, look.is_empty, *_seen(look)]).encode())
    digest.update(json.dumps([sorted(view.perhaps_twice), sorted(view.disputed)]).encode())
    digest.update(look.queue_pks.tobytes())
    if view.held is not None:
        for column in (view.held.owner, view.held.further_queue, view.held.further_client):
            digest.update(column.tobytes())
    return digest.hexdigest()
