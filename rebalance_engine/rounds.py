"""Rounds: what one change of a group set in motion, until held equals target. Decided from facts; time is an argument.

A round opens at the first change. A further join, leave, kill, broker change or other by-config assignment more than
3 s after the last cause closes it as superseded and opens the next; anything else that happens meanwhile belongs to
it, also taking later what it left unowned, and what may be the same change of brokers or routes, seen by another look.
What changed first need not be seen first: a round that opened because queues changed hands, and nothing told why, gets
its cause from a change that is seen later and may have come before. It closes when held equals target, and stays open
while either is unknown; after 120 s it is said not to have converged. Recomputing without any change is no round.

Looks of several members and brokers are not one: what a change did may be seen, and told, before the change is. So a
round opened by the time at which anything of it was seen, whatever became known first.

A round that ended stays ended. What becomes known of its time later is its own, and corrects what is told of it: a
change from before it was superseded; and one that left nothing to hand over since it closed (``home_of``). A broker's
going or coming is known by its routes, too, and often first: it is of the round that they opened, though that has ended
(``led_to``), and without them it waits for them (``waits_for_routes``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from rebalance_engine.events import Cause

SAME_CAUSE_MS = 3_000
NOT_CONVERGED_MS = 120_000
ROUTES_TOLD_MS = 40_000  # every topic's route is asked for within this time: what a broker does to it is known then
MANUAL_MS = 30_000  # what is held changes within this time after somebody ordered it: members have a 20 s timer
WAVE_MEMBERS = 3  # so many members that come or go in one round are a deploy, not a coincidence

BROKERS_CHANGE = frozenset({Cause.BROKER_GONE, Cause.BROKER_BACK})
MEMBERS_CHANGE = frozenset({Cause.MEMBER_JOINED, Cause.MEMBER_LEFT, Cause.HEARTBEAT_EXPIRED})
SEEN_AFTER = frozenset({Cause.HELD_CHANGED, Cause.MANUAL})  # a round that anything else may be the cause of
SUPERSEDING = MEMBERS_CHANGE | BROKERS_CHANGE | {Cause.ROUTE_CHANGED, Cause.CONFIG_CHANGED}


@dataclass(frozen=True, slots=True)
class Happening:
    """One change of a group: at ``at``, when it was seen; ``low`` is the earliest time that it may have come at.

    ``low`` is ``at`` where that is exact, which None says too, and 0 where nothing is known of it. ``key`` is the
    caller's, to find its evidence again.
    """

    at: int
    cause: Cause
    client: str | None = None
    key: int | None = None
    low: int | None = None

    @property
    def earliest(self) -> int:
        """The earliest time that it may have come at."""
        return self.at if self.low is None else self.low


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A round that has not ended; ``wave`` is the number of the first one of a chain of superseded ones."""

    number: int
    opened_at: int
    last_cause_at: int
    happenings: tuple[Happening, ...]
    wave: int
    not_converged_at: int | None = None

    @property
    def cause(self) -> Cause:
        """What to call it: many members at once, or the first thing that happened, or what that may come from."""
        clients = {each.client for each in self.happenings if each.cause in MEMBERS_CHANGE}
        if len(clients) >= WAVE_MEMBERS:
            return Cause.MANY_AT_ONCE
        return next((each.cause for each in self.happenings if self.explains(each)), self.happenings[0].cause)

    @property
    def began_low(self) -> int:
        """The earliest time at which it may have begun, at ``opened_at`` at the latest; 0 is unknown."""
        causes = [each for each in self.happenings if each.cause is not Cause.HELD_CHANGED] or list(self.happenings)
        early = [each for each in causes if each.at <= self.opened_at or self.explains(each)]
        early = early or [each for each in causes if self.may_come_from(each)]
        return min([self.opened_at, *(each.earliest for each in early)])

    @property
    def is_unexplained(self) -> bool:
        """Whether nothing is known but that queues are held by others."""
        return self.cause is Cause.HELD_CHANGED

    def explains(self, each: Happening) -> bool:
        """Whether a change may be what this round came from, which was only seen by what it did.

        What is held changes by any cause, also soon after an order; routes change when a broker goes or comes back, and
        are often seen first.
        """
        first = self.happenings[0].cause
        if first is Cause.ROUTE_CHANGED:
            return each.cause in BROKERS_CHANGE and self.may_come_from(each)
        if first not in SEEN_AFTER or each.cause in SEEN_AFTER:
            return False
        return self.may_come_from(each)

    def may_come_from(self, each: Happening) -> bool:
        """Whether a change may have come before what was seen first; members let go before they say that they leave."""
        return each.earliest <= self.opened_at + SAME_CAUSE_MS

    def seen_by(self, moved_at: int) -> OpenRound:
        """Let it have opened by when something of it was seen; one that superseded another opened when that ended."""
        earlier = replace(self, opened_at=min(self.opened_at, moved_at))
        did_it = any(earlier.may_come_from(each) for each in self.happenings)
        return earlier if did_it and self.number == self.wave else self

    def follows(self, each: Happening) -> bool:
        """Whether a change of routes may be what the going or coming of a broker in this round did."""
        brokers = (other for other in self.happenings if other.cause in BROKERS_CHANGE)
        return each.cause is Cause.ROUTE_CHANGED and any(each.earliest <= other.at + SAME_CAUSE_MS for other in brokers)

    def coincides(self, each: Happening) -> bool:
        """Whether a change may have come before the first one of its kind in this round was seen, and be the same one.

        A broker that goes takes its queues out of every topic's route, and out of every NameServer's; what a group is
        configured to each broker tells: each is looked at for itself, some seconds apart.
        """
        same = [other.at for other in self.happenings if other.cause is each.cause]
        since = max(each.earliest, each.at - ROUTES_TOLD_MS)
        looked_at = BROKERS_CHANGE | {Cause.ROUTE_CHANGED, Cause.CONFIG_CHANGED}
        return each.cause in looked_at and bool(same) and since < min(same)

    def may_follow(self, each: Happening) -> bool:
        """Whether routes changed in this round by the going or coming of a broker, perhaps, which was seen later."""
        routes = (other for other in self.happenings if other.cause is Cause.ROUTE_CHANGED)
        since = max(each.earliest, each.at - ROUTES_TOLD_MS)
        return each.cause in BROKERS_CHANGE and any(since <= other.at + SAME_CAUSE_MS for other in routes)


@dataclass(frozen=True, slots=True)
class Ended:
    """A round that has ended: at ``at``, superseded by the round with that number where there is one."""

    round: OpenRound
    at: int
    superseded_by: int | None = None


@dataclass(frozen=True, slots=True)
class Advance:
    """What became of a group's rounds: those that ended, in order, and the one that is open now."""

    ended: tuple[Ended, ...]
    open: OpenRound | None
    last_number: int

    @property
    def due_at(self) -> int | None:
        """When time alone will change something; None is never."""
        if self.open is None or self.open.not_converged_at is not None:
            return None
        return self.open.opened_at + NOT_CONVERGED_MS

    def undecided(self, before: OpenRound | None) -> Advance:
        """Leave it open whether the round converges, where it was ``before``: nobody knows which queues there are."""
        if self.open is None or (before is not None and before.not_converged_at is not None):
            return self
        return replace(self, open=replace(self.open, not_converged_at=None))


def advance(
    current: OpenRound | None,
    happenings: Iterable[Happening],
    *,
    last_number: int,
    converged: bool | None,
    settled_at: int,
    now: int,
    moved_at: int | None = None,
) -> Advance:
    """Let a group's rounds go on.

    Args:
        current: the round that is open.
        happenings: what changed since; in any order. ``MANUAL`` ones are orders that may explain what is held.
        last_number: the number of the group's latest round; 0 where there was none.
        converged: whether held equals target now, seen after everything that happened; None is unknown.
        settled_at: when what is held last changed.
        now: the time.
        moved_at: when what is held first changed since the last round that was not superseded; None is not known.
    """
    if current is not None and moved_at is not None:
        current = current.seen_by(moved_at)
    ended: list[Ended] = []
    changes = sorted((each for each in happenings), key=lambda each: each.at)
    orders = [each for each in changes if each.cause is Cause.MANUAL]
    if current is not None and current.is_unexplained:  # an order that is told later than what it did
        current = replace(current, happenings=(_explained(current.happenings[0], orders), *current.happenings[1:]))
    late = [each for each in changes if current is not None and _is_late(each, current)]
    if current is not None and late:
        ended, current = _replayed(current, late, moved_at)
        last_number = current.number
    for each in changes:
        if each.cause is Cause.MANUAL or each in late:
            continue
        if current is not None and _supersedes(each, current):
            ended.append(Ended(current, each.at, last_number + 1))
            current = _open(each, last_number + 1, wave=current.wave)
        elif current is not None:
            current = _join(current, each)
        else:
            current = _open(_explained(each, orders), last_number + 1, wave=last_number + 1)
        last_number = current.number
    if current is not None and converged:
        ended.append(
            Ended(current, max(min(settled_at, now), current.last_cause_at))
        )  # a reporter's clock may be ahead
        current = None
    elif current is not None and current.not_converged_at is None and now - current.opened_at >= NOT_CONVERGED_MS:
        current = replace(current, not_converged_at=current.opened_at + NOT_CONVERGED_MS)
    return Advance(tuple(ended), current, last_number)


def home_of(each: Happening, current: OpenRound | None, ended: Sequence[OpenRound]) -> int | None:
    """Find the round that a change belongs to which became known after that round had ended; None: it is none of these.

    Args:
        each: the change.
        current: the round that is open.
        ended: those of its wave that it superseded; or where none is open and held equals target, though this change is
            known now and nothing has moved since, those of the wave that closed last. In their order.
    """
    if each.cause is Cause.MANUAL:
        return next(
            (old.number for old in reversed(ended) if old.is_unexplained and _fits(each, old.happenings[0])), None
        )
    if not ended:
        return None
    if current is not None and (each.at >= current.opened_at or current.explains(each)):
        return None
    home = max((old for old in ended if old.opened_at <= each.at), key=lambda old: old.number, default=ended[0])
    if current is not None and _supersedes(each, home):
        first_at = min(one.at for one in current.happenings)
        return None if first_at - each.at <= SAME_CAUSE_MS else home.number
    return home.number


def led_to(each: Happening, current: OpenRound | None, ended: Sequence[OpenRound]) -> int | None:
    """Find the round that ended before a broker was seen to be gone or back, and in which its routes were; or None.

    What that changed is known in that round. So it is the cause of it, whatever has happened since.
    """
    if current is not None and (current.explains(each) or current.may_follow(each)):
        return None
    return next((old.number for old in reversed(ended) if old.may_follow(each)), None)


def waits_for_routes(current: OpenRound | None, changes: Sequence[Happening], now: int) -> int | None:
    """Say until when the going or coming of brokers alone is no round yet, since no route is known to have changed.

    None: it waits no longer, or is not alone. Queues that stay where they were, as a replica has them too, are told so.
    """
    if current is not None or not changes or any(each.cause not in BROKERS_CHANGE for each in changes):
        return None
    until = min(each.at for each in changes) + ROUTES_TOLD_MS
    return until if now < until else None


def _supersedes(each: Happening, current: OpenRound) -> bool:
    if current.explains(each) and (current.cause in SEEN_AFTER or each.cause in BROKERS_CHANGE):
        return False
    if current.follows(each) or current.coincides(each):
        return False
    return each.cause in SUPERSEDING and each.at - current.last_cause_at > SAME_CAUSE_MS


def _is_late(each: Happening, current: OpenRound) -> bool:
    """Whether a change becomes known after one of the same round that came later."""
    if each.cause is Cause.MANUAL:
        return False
    is_its_own = current.number == current.wave or each.at >= current.opened_at
    return is_its_own and each.at < max(one.at for one in current.happenings)


def _replayed(current: OpenRound, late: Sequence[Happening], moved_at: int | None) -> tuple[list[Ended], OpenRound]:
    """Let a round go as it would have, had late changes been known in time: a later one may have superseded it."""
    first, *others = sorted((*current.happenings, *late), key=lambda one: one.at)
    ended: list[Ended] = []
    again = _open(first, current.number, wave=current.wave)
    if current.number != current.wave:
        again = replace(again, opened_at=current.opened_at)
    elif moved_at is not None:
        again = again.seen_by(moved_at)
    for each in others:
        if _supersedes(each, again):
            ended.append(Ended(again, each.at, again.number + 1))
            again = _open(each, again.number + 1, wave=again.wave)
        else:
            again = _join(again, each)
    if not ended:
        again = replace(
            again, opened_at=min(again.opened_at, current.opened_at), not_converged_at=current.not_converged_at
        )
    return ended, again


def _open(each: Happening, number: int, *, wave: int) -> OpenRound:
    return OpenRound(number, each.at, each.at, (each,), wave)


def _join(current: OpenRound, each: Happening) -> OpenRound:
    happenings = tuple(sorted((*current.happenings, each), key=lambda one: one.at))
    first = min(current.opened_at, each.at) if current.number == current.wave else current.opened_at
    causes = [one.at for one in happenings if one.cause is not Cause.HELD_CHANGED]
    last = max(first, max(causes, default=current.last_cause_at))
    return replace(current, opened_at=first, last_cause_at=last, happenings=happenings)


def _explained(each: Happening, orders: Sequence[Happening]) -> Happening:
    """Say who ordered it, where what is held changed soon after an order and nothing else did."""
    if each.cause is not Cause.HELD_CHANGED:
        return each
    fitting = [order for order in orders if _fits(order, each)]
    return replace(each, cause=Cause.MANUAL, key=fitting[-1].key) if fitting else each


def _fits(order: Happening, seen: Happening) -> bool:
    """Whether what is held changed after an order: seen soon after it, and not long before it still as it was."""
    return 0 <= seen.at - order.at <= MANUAL_MS and seen.earliest >= order.earliest - SAME_CAUSE_MS
