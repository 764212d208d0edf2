"""What is written about groups. ``record`` is the door by which everything that was observed comes in."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import F
from kombu.exceptions import OperationalError
from redis.exceptions import RedisError

from dashboard.clusters import outbox
from dashboard.clusters.models import Cluster, Watch
from dashboard.common.rest import Rest
from dashboard.groups.models import Group
from dashboard.groups.pulsing import pulse_looks
from dashboard.groups.recording.apply import Ledger
from dashboard.groups.tasks import rebalance_due_groups, rebalance_group
from rebalance_engine.events import Cause, Fact

logger = logging.getLogger(__name__)

MOST_TASKS = 100  # of more groups that change at once, one task goes through all
REST_S = 30.0  # so long nothing is told to a Redis that hangs, but by ``start_owed``, which asks it meanwhile
_owed: set[int] = set()  # groups of this process for which no task could be started
_redis = Rest(for_s=REST_S)  # as this process knows it


class LeaseLost(RuntimeError):
    """Another watcher has the cluster: what this one states is late."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """What came of a batch: how many facts changed something, and the groups that are to be rebalanced."""

    facts: int
    groups: Mapping[int, Cause]


def record(*, cluster: str, facts: Sequence[Fact], now: int, lease_epoch: int | None = None) -> Recorded:
    """Store facts: rows that changed, a line each for the event log, and the groups that they concern, at once.

    The same fact twice is stored once, and one that only repeats what is known is not stored at all. After the
    transaction ``rebalance_group`` is started for each group whose inputs changed, and whoever looks at a group hears
    which of its members the watcher has just looked at: so a page knows how old is what it shows.

    Args:
        cluster: its name; a cluster must have been added.
        facts: in the order in which they were observed. Up to a thousand or so at once is quickest.
        now: when they are stored, UTC epoch milliseconds.
        lease_epoch: the lease of the watcher that observed them; reports have none.

    Raises:
        Cluster.DoesNotExist: nobody added it.
        LeaseLost: the lease is another one now; nothing was stored.
        WrongCluster, EventLogError: a fact that cannot be stored; nothing was.
    """
    with transaction.atomic():
        stored = Cluster.objects.select_for_update(no_key=True).get(name=cluster)
        if lease_epoch is not None:
            _hold_lease(stored, lease_epoch)
            Watch.objects.filter(cluster=stored, at__lt=now).update(at=now)  # the next lease begins after it
        lines = outbox.not_yet_stored(cluster=stored, lines=outbox.lines_of(cluster=stored, facts=facts))
        ledger = Ledger(stored, [line.fact for line in lines], now)
        news = [line for line in lines if ledger.apply(line.fact)]
        ledger.tell_groups()
        held = _hold_groups(stored, ledger.groups.touched)
        ledger.write()
        outbox.append(cluster=stored, lines=news, now=now)
        groups = _note_inputs(stored, ledger.groups.touched, held)
        transaction.on_commit(lambda: start_rebalancing(groups), robust=True)
        if lease_epoch is not None:
            transaction.on_commit(lambda: _pulse(stored.pk, facts, now), robust=True)
    return Recorded(len(news), groups)


def start_rebalancing(groups: Mapping[int, Cause]) -> None:
    """Start a task for each group; of very many one task for all. What cannot be started, ``start_owed`` starts.

    Whoever stores facts waits for a Redis that hangs once, and not with every batch.
    """
    if _redis.is_on:
        _owed.update(groups)
        return
    try:
        with _redis.asking():
            _start(groups)
    except OperationalError as error:
        _owed.update(groups)
        logger.warning("no task can be started, so that %d groups wait until one can: %s", len(groups), error)


def _start(groups: Mapping[int, Cause]) -> None:
    if len(groups) > MOST_TASKS:
        rebalance_due_groups.delay()
        return
    for group, cause in groups.items():
        rebalance_group.delay(group=group, cause=cause.value)


def start_owed() -> bool:
    """Start one task for all groups for which none could be started; say whether none is owed any more.

    Whoever states facts calls it every other second, so that what waited for Redis does not wait for beat besides.
    In a thread of its own: it may wait for Redis each time.
    """
    if not _owed:
        return True
    waited = frozenset(_owed)
    try:
        with _redis.asking():
            rebalance_due_groups.delay()
    except OperationalError:
        return False
    _owed.difference_update(waited)
    logger.info("tasks can be started again; one was for all that is due, as %d groups waited for it", len(waited))
    return True


def _pulse(cluster: int, facts: Sequence[Fact], now: int) -> None:
    if _redis.is_on:
        return
    try:
        with _redis.asking():
            pulse_looks(cluster=cluster, facts=facts, now=now)
    except (RedisError, OSError) as error:
        logger.warning("nobody can be told who was looked at: %s", error)


def _hold_lease(cluster: Cluster, lease_epoch: int) -> None:
    if cluster.lease_epoch != lease_epoch:
        raise LeaseLost(
            f"cluster {cluster.name!r} has lease {cluster.lease_epoch}, not {lease_epoch}: nothing is stored"
        )


def _hold_groups(cluster: Cluster, names: Iterable[str]) -> dict[str, int]:
    """Lock the rows of groups by their names, before anything of them is written; give their numbers.

    Everybody who writes of a group holds its row first. A rebalance holds it, and what it stores refers to members and
    queues: were those written here first, each would wait for what the other one has.
    """
    rows = Group.objects.filter(cluster=cluster, name__in=names).order_by("pk").select_for_update(no_key=True)
    return dict(rows.values_list("name", "pk"))


def _note_inputs(cluster: Cluster, touched: Mapping[str, Cause], held: Mapping[str, int]) -> dict[int, Cause]:
    new = touched.keys() - held.keys()
    rows = {**held, **(_hold_groups(cluster, new) if new else {})}
    groups = {rows[name]: touched[name] for name in touched if name in rows}
    Group.objects.filter(pk__in=groups).update(inputs_version=F("inputs_version") + 1)
    return groups
