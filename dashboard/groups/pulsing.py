"""Who shows a group hears when its members were last looked at, also where nothing changed.

What is not heard of greys out with its age. The watcher's writer says it, once for each batch that it has stored; and
the watcher itself every other second, so that a group of which nobody can be looked at is not taken for an old one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from dashboard.common.fields import observed_at
from dashboard.common.names import known_as
from dashboard.groups.locks import connect
from dashboard.groups.models import Group
from dashboard.groups.viewing import noted
from dashboard.push.messages import Seen
from dashboard.push.publish import group_stream, pulse
from rebalance_engine.events import Fact, HeldSeen


def pulse_looks(*, cluster: int, facts: Sequence[Fact], now: int) -> int:
    """Tell the sockets of groups that somebody looks at which members these facts looked at; give how many groups.

    Nothing depends on it but the age that a page shows: without Redis nobody is told, and pages grey out.

    Raises:
        RedisError, TimeoutError: Redis does not answer.
    """
    looks: dict[str, dict[str, int]] = {}
    for fact in facts:
        if isinstance(fact, HeldSeen):
            seen = looks.setdefault(known_as(fact.group), {})
            client = known_as(fact.client)
            seen[client] = max(observed_at(fact), seen.get(client, 0))
    if not looks:
        return 0
    with connect() as redis:
        wanted = looks.keys() & {known_as(name) for name in noted(redis=redis, cluster=cluster, now=now)}
    if not wanted:
        return 0
    watched_at = min(now, max(max(seen.values()) for seen in looks.values()))
    groups = Group.objects.filter(cluster=cluster, name__in=wanted).values_list("pk", "name")
    for pk, name in groups:
        looked = tuple(Seen(client, at) for client, at in sorted(looks[name].items()))
        pulse(stream=group_stream(pk), seen=looked, at=now, watched_at=watched_at)
    return len(groups)


def pulse_answers(*, cluster: int, names: Collection[str], watched_at: int, now: int) -> int:
    """Tell the sockets of groups that somebody looks at until when their cluster's answers are stored; give how many.

    Args:
        names: those groups, as the watcher knows them.
        watched_at: the last answer up to which all that was told is stored.
    """
    groups = list(Group.objects.filter(cluster=cluster, name__in=map(known_as, names)).values_list("pk", flat=True))
    for pk in groups:
        pulse(stream=group_stream(pk), seen=(), at=now, watched_at=watched_at)
    return len(groups)
