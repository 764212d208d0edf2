"""What a rebalance comes to, from two looks at a group. Plain code: no rows are read or written here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dashboard.groups.acknowledging import say_acknowledged
from dashboard.groups.partly import told_in_part
from dashboard.groups.queries import Look, target_of, view_of
from dashboard.groups.rules import Rule, are_through_proxies, choose_rule, end_up, proxied_in, untold
from dashboard.groups.told import Told
from dashboard.push.messages import GroupState
from rebalance_engine.allocation import AllocationError
from rebalance_engine.engine import Outcome, rebalance
from rebalance_engine.events import Cause
from rebalance_engine.findings import (
    Finding,
    FindingKind,
    Restless,
    find_faults,
    find_in_sights,
    who_may_have,
    why_unowned,
)
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import Ownership
from rebalance_engine.plan import Plan, target
from rebalance_engine.rounds import (
    BROKERS_CHANGE,
    Advance,
    Happening,
    OpenRound,
    advance,
    home_of,
    led_to,
    waits_for_routes,
)

MOST_NAMED = 5
ORDER = {kind: place for place, kind in enumerate(FindingKind)}
Numbers = dict[int, int]
ROUTES_CHANGE = BROKERS_CHANGE | {Cause.ROUTE_CHANGED}


@dataclass(frozen=True, eq=False)
class Decision:
    """What a rebalance comes to.

    Attributes:
        outcome: the engine's answer; None where the target cannot be known.
        converged: whether held equals target, by looks that are all newer than the last cause; None is unknown.
        held_happening: a change of what is held that was seen before anything that may explain it.
        waits_for: why it is unknown whether held equals target; empty where it is known.
        moot: keys of the changes that are no part of any round, since nobody has anything to hand over for them.
        is_held_old: what is held is known of some member only from before the last cause.
        last_cause_at: when that was; 0 where no round is open, and nothing changed.
        belated: keys of the changes that became known after the round had ended that they belong to, with its number.
        waits_until: when brokers that went or came make a round, though no route is known to have changed; None: never.
    """

    rule: Rule
    outcome: Outcome | None
    target: Ownership
    converged: bool | None
    rounds: Advance
    findings: tuple[Finding, ...]
    held_happening: Happening | None
    waits_for: str = ""
    moot: tuple[int, ...] = ()
    is_held_old: bool = False
    last_cause_at: int = 0
    belated: tuple[tuple[int, int], ...] = ()
    waits_until: int | None = None


@dataclass(frozen=True, slots=True)
class Past:
    """What was before: the state that was shown, as it is stored too, the open round, the number of the latest one.

    ``ended`` are the rounds of the latest wave of which any has ended, ``ended_at`` is when its last one did. They are
    read where a change waits that is from before that.
    """

    state: GroupState | None
    stored: bytes
    open: OpenRound | None
    last_number: int
    ended: tuple[OpenRound, ...] = ()
    ended_at: int = 0


def decide(
    look: Look, past: Past, happenings: tuple[Happening, ...], now: int, by_hand: Told | None = None
) -> Decision:
    """Compute one rebalance; ``by_hand`` is what members were told, where somebody knows."""
    moot = [each for each in happenings if _is_moot(each, look, past)]
    happenings = tuple(each for each in happenings if each not in moot)
    languages = {member.client_id: member.language for member in look.members}
    takes_by_pop = bool(look.view.popping)
    rule = _with_routes(look.view, choose_rule(look.view, languages, by_hand, takes_by_pop=takes_by_pop))
    outcome = None if look.view.disputed else _compute(look.view, past.state, rule)
    if rule.name and outcome is None and not look.view.disputed:
        rule = Rule(None, why=untold(rule.name))
    belated = _belated(look, past, happenings, outcome, rule)
    happenings = tuple(each for each in happenings if each.key not in belated)
    waits_until = _waits_for_routes(look, past, happenings, now)
    if waits_until is not None:
        happenings = tuple(each for each in happenings if each.cause is Cause.MANUAL)
    held_happening = _held_change(look, past, happenings, now)
    every = (*happenings, held_happening) if held_happening else happenings
    changed_at = [each.at for each in every if each.cause is not Cause.MANUAL]  # an order alone changes nothing
    last_cause_at = max(changed_at, default=past.open.last_cause_at if past.open else 0)
    converged = _converged(look, outcome, rule, last_cause_at)
    rounds = advance(
        past.open,
        every,
        last_number=past.last_number,
        converged=converged,
        settled_at=look.moved_at,
        now=now,
        moved_at=look.moves.at or None,
    )
    rounds = rounds.undecided(past.open) if look.view.disputed else rounds
    target = Ownership.nobody(look.view.queues, look.view.clients) if outcome is None else outcome.target
    findings = find_faults(look.view) if outcome is None else outcome.findings
    explained = who_may_have(why_unowned(findings, look.sights.locks, now), look.sights.lost)
    findings = tuple(say_acknowledged(tuple(explained), by_hand))
    findings = _in_order((*findings, *find_in_sights(look.view, look.sights, now, _chain(look, rounds))))
    waits_for = "" if converged is not None else _waits_for(look, outcome, rule)
    keys = tuple(each.key for each in moot if each.key is not None)
    is_old = _is_held_old(look, last_cause_at)
    late = tuple(belated.items())
    return Decision(
        rule,
        outcome,
        target,
        converged,
        rounds,
        findings,
        held_happening,
        waits_for,
        moot=keys,
        is_held_old=is_old,
        last_cause_at=last_cause_at,
        belated=late,
        waits_until=waits_until,
    )


def _in_order(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """Sort by kind, a cause before what comes of it, whatever of one kind as it was found: of many the last are cut."""
    return tuple(sorted(findings, key=lambda each: ORDER[each.kind]))


def _belated(look: Look, past: Past, happenings: Sequence[Happening], outcome: Outcome | None, rule: Rule) -> Numbers:
    """Find the changes that are of rounds which have ended, each with the round's number.

    Of one that closed, if held still equals target though they are known now, and nothing has moved since; an order is
    of the one that it explains, and a broker's going or coming of the one in which its routes changed.
    """
    if not past.ended:
        return {}
    brokers = ((each.key, led_to(each, past.open, past.ended)) for each in happenings)
    led = {key: number for key, number in brokers if key is not None and number is not None}
    changes = [each for each in happenings if each.cause is not Cause.MANUAL and each.key not in led]
    if past.open is None and not _are_over(look, past, [each.at for each in changes], outcome, rule):
        changes = []
    orders = [each for each in happenings if each.cause is Cause.MANUAL]
    early = (each for each in (*changes, *orders) if each.at <= past.ended_at)
    found = ((each.key, home_of(each, past.open, past.ended)) for each in early)
    return led | {key: number for key, number in found if key is not None and number is not None}


def _waits_for_routes(look: Look, past: Past, happenings: Sequence[Happening], now: int) -> int | None:
    """Say until when there is no round of brokers alone; what has moved already may be their doing."""
    changes = [each for each in happenings if each.cause is not Cause.MANUAL]
    return None if look.moves.queues else waits_for_routes(past.open, changes, now)


def _are_over(look: Look, past: Past, changes: Sequence[int], outcome: Outcome | None, rule: Rule) -> bool:
    """Whether nothing is left to do for changes of these times, which lie within the last wave."""
    is_within = changes and past.ended[0].opened_at <= min(changes) and max(changes) <= past.ended_at
    return bool(is_within and not look.moves.queues and _converged(look, outcome, rule, max(changes)))


def _chain(look: Look, rounds: Advance) -> tuple[Restless, ...]:
    """Give the rounds of the wave that is open now, the open one last: those that are stored, and what just began."""
    if rounds.open is None:
        return ()
    wave = rounds.open.wave
    chain = {each.number: each for first, each in look.chain if first == wave}
    for each in (*(end.round for end in rounds.ended), rounds.open):
        if each.wave == wave:
            moved_at = chain[each.number].moved_at if each.number in chain else None
            chain[each.number] = Restless(each.number, each.opened_at, each.cause, moved_at)
    return tuple(chain[number] for number in sorted(chain))


def _is_moot(each: Happening, look: Look, past: Past) -> bool:
    """Whether a broker or a route changed for nobody: there is no member and was none, or each has all queues."""
    if each.cause not in ROUTES_CHANGE:
        return False
    was_anybody = past.state is not None and bool(past.state.members)
    return look.view.model is MessageModel.BROADCASTING or not (look.members or was_anybody)


def _with_routes(view: GroupView, rule: Rule) -> Rule:
    """Say why there is no target while NameServers tell different queues: a member divides what the one it asks says.

    Members ask any one of them, which one nobody knows. The target is of the whole group, so it is unknown as a whole.
    """
    if not view.disputed or are_through_proxies(view):
        return rule
    return replace(rule, why=f"NameServers disagree on the queues of {_names(view.disputed_topics)}")


def _compute(view: GroupView, state: GroupState | None, rule: Rule) -> Outcome | None:
    before, previous = (view, None) if state is None else (view_of(state), target_of(state))
    becomes = end_up(view, rule.variants) if rule.variants else None
    if rule.plan is None and becomes is None:
        return None
    undivided = proxied_in(view) | view.popping
    try:
        if undivided:  # others give them their share, and they take nothing of it
            whole = becomes or target(view, rule.plan or Plan(), None if state is None else target_of(state))
            becomes = whole.without(undivided)
        return rebalance(
            before, view, rule.plan or Plan(), previous=becomes if previous is None else previous, becomes=becomes
        )
    except AllocationError:
        return None


def _converged(look: Look, outcome: Outcome | None, rule: Rule, last_cause_at: int) -> bool | None:
    """A look from before the last cause proves nothing; a difference from an assumed target neither.

    Where nobody is a member, nobody should have anything, and nobody has; so where all come through a proxy.
    """
    if look.is_empty or are_through_proxies(look.view):
        return True
    if outcome is None or outcome.converged is None or not look.members:
        return None
    if _is_held_old(look, last_cause_at):
        return None
    return None if rule.is_assumed and not outcome.converged else outcome.converged


def _is_held_old(look: Look, last_cause_at: int) -> bool:
    return any((member.held_seen_at or 0) < last_cause_at for member in look.members)


def _waits_for(look: Look, outcome: Outcome | None, rule: Rule) -> str:
    """Say why it is unknown whether held equals target."""
    if not look.members:
        return f"it is unknown who is a member: {_untold(look)}"
    if outcome is None:
        return f"the target cannot be known: {rule.why}"
    if silent := [member.client_id for member in look.members if member.is_silent]:
        return f"it is unknown what {_names(silent)} holds"
    if partial := [member for member in look.members if member.is_partial]:
        return told_in_part(partial)
    if rule.is_assumed and outcome.converged is False:
        return f"no member says by which strategy it divides; what is held is not what {rule.name} would give"
    return "members have not been looked at since the last change"


def _untold(look: Look) -> str:
    return f"{_names(look.untold)} did not tell" if look.untold else "no broker has told yet"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(names[:MOST_NAMED]) + more


def _held_change(look: Look, past: Past, happenings: tuple[Happening, ...], now: int) -> Happening | None:
    """Find a change of what is held that was seen, while no round is open, before any other change was."""
    if past.open is not None or not look.moves.queues:
        return None
    if any(each.at <= look.moves.at and each.cause is not Cause.MANUAL for each in happenings):
        return None
    at = min(look.moves.at, now)  # a reporter's clock may be ahead
    return Happening(at, Cause.HELD_CHANGED, low=min(look.moves.low, at))
