"""One rebalance of one group: read, decide, write in one transaction under the group's fence.

What was read is written about only while it is still so: else it is read again, and where it changes all the time, read
and written under the lock of the group's row, which everybody waits for who stores something of the group.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from django.db import OperationalError, transaction
from django.db.models import F, Q
from redis import Redis

from dashboard.common.waiting import is_away
from dashboard.groups import storing
from dashboard.groups.belated import happening, past_of
from dashboard.groups.confirming import groups_to_tell
from dashboard.groups.deciding import Decision, decide
from dashboard.groups.ending import UNTOLD, tell_ended
from dashboard.groups.fingerprints import fingerprint
from dashboard.groups.locks import Late, Outdated, hold_fence, hold_inputs, only_one, take_fence
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.queries import look_at
from dashboard.groups.targets import Read
from dashboard.groups.told import BY_HAND, told_by_hand
from dashboard.groups.twice import count_told
from dashboard.push.publish import stored_state
from rebalance_engine.events import Cause
from rebalance_engine.rounds import MANUAL_MS

logger = logging.getLogger(__name__)

MOST_TURNS = 20  # a group whose inputs change while it is rebalanced goes round again; beat takes over after that
MOST_READS = 3  # as often they are read again where they changed meanwhile; then nobody may store any until it is done
Clock = Callable[[], int]


def rebalance_now(*, redis: Redis, group: int, clock: Clock) -> int:
    """Rebalance a group until its inputs stay the same; give how often that took. 0: somebody else is at it.

    Whoever has the lock looks again after giving it back: so nothing that is stored meanwhile is left over.
    """
    turns = 0
    while turns < MOST_TURNS and is_due(group=group, now=clock()):
        with only_one(redis, group) as has_it:
            if not has_it:
                return turns
            try:
                rebalance_once(group=group, now=clock)
            except Late as late:
                logger.info("%s", late)
                return turns
        turns += 1
    return turns


def is_due(*, group: int, now: int) -> bool:
    """Ask whether a group's inputs have changed, or time has come to change something."""
    return _due(now).filter(pk=group).exists()


def due_groups(*, now: int) -> list[int]:
    """List the groups that are due, the longest waiting first."""
    return list(_due(now).order_by(F("rebalanced_at").asc(nulls_first=True), "pk").values_list("pk", flat=True))


def rebalance_once(*, group: int, now: int | Clock) -> Decision | None:
    """Rebalance a group; None where its inputs came to the same as the last time, and nothing is due.

    Args:
        group: its row.
        now: the time; or the clock, which is asked when everything is read: what was seen, was seen before.

    Raises:
        Late: another rebalance began after this one; nothing was written.
        Group.DoesNotExist: there is no such group.
    """
    clock = now if callable(now) else lambda: now
    decision = _rebalance(group, take_fence(group=group), clock)
    tell_ended(group=group, now=clock(), then=count_told)  # not before: a round that it opens bounds the one before it
    return decision


def _rebalance(group: int, fence: int, clock: Clock) -> Decision | None:
    for _ in range(MOST_READS):
        try:
            return _read_and_write(group, fence, clock)
        except Outdated as outdated:
            logger.debug("%s", outdated)
    with transaction.atomic():
        hold_fence(group=group, fence=fence)
        return _read_and_write(group, fence, clock)


def _read_and_write(group: int, fence: int, clock: Clock) -> Decision | None:
    read = read_inputs(group=group, fence=fence, now=clock())
    now = max(clock(), read.group.cluster.watched_at or 0)  # facts may be ahead, where a clock was set back
    is_time = read.group.due_at is not None and read.group.due_at <= now
    if read.fingerprint == read.group.fingerprint and not is_time:
        with transaction.atomic():
            row = hold_inputs(group=group, fence=fence, version=read.version)
            Group.objects.filter(pk=row.pk).update(done_version=read.version)
        return None
    happenings = tuple(happening(cause) for cause in read.causes)
    by_hand = told_by_hand(group=group) if BY_HAND & set(read.look.view.strategies.values()) else None
    decision = decide(read.look, read.past, happenings, now, by_hand)
    with transaction.atomic():
        row = hold_inputs(group=group, fence=fence, version=read.version)
        storing.store(read_group=row, read=read, decision=decision, now=now)
    return decision


def read_inputs(*, group: int, fence: int, now: int) -> Read:
    """Read what a rebalance is computed from; the version first, which tells whether the rest was all of one time."""
    row = Group.objects.select_related("cluster").get(pk=group)
    waiting = RoundCause.objects.filter(group=row, round=None).exclude(cause=Cause.MANUAL.value, at__lt=now - MANUAL_MS)
    causes = tuple(waiting.order_by("at", "pk"))
    look = look_at(group=row)
    stored = stored_state(group=group)
    past = past_of(group=row, causes=causes, stored=stored)
    return Read(row, fence, row.inputs_version, look, past, causes, fingerprint(row, look, causes))


def _due(now: int) -> storing.Groups:
    untold = Round.objects.filter(UNTOLD).values("group")
    is_time = Q(due_at__lte=now) | Q(due_at__lte=F("cluster__watched_at"))
    is_untold = Q(pk__in=untold) | Q(pk__in=groups_to_tell(now=now))
    return Group.objects.filter(Q(inputs_version__gt=F("done_version")) | is_time | is_untold)


def rebalance_all(*, redis: Redis, groups: Sequence[int], clock: Clock) -> int:
    """Rebalance groups one after the other; one that fails is logged, and does not keep the others waiting.

    Raises:
        OperationalError: the database does not answer, or is locked: the others would each wait for it as long.
    """
    done = 0
    for group in groups:
        try:
            done += bool(rebalance_now(redis=redis, group=group, clock=clock))
        except Exception as error:  # the outermost loop over groups
            if isinstance(error, OperationalError) and is_away(error):
                raise  # it is all groups' matter: they are found again
            logger.exception("group %s could not be rebalanced", group)
    return done
