"""By what a group's target is computed: what its members say they divide by, each in the way of its language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass

from dashboard.groups.kinds import is_proxied
from dashboard.groups.told import BY_HAND, Told
from rebalance_engine import plan
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import Ownership
from rebalance_engine.plan import Plan

ASSUMED = "AVG"  # RocketMQ's default; a target by it is said to be assumed
MIXED = "mixed: "  # before the names of several, as `mixed` writes it and static/js/lib/state.js reads it
MOST_QUESTIONS = 2_000_000  # queues times members: beyond, asking each member alone takes seconds


@dataclass(frozen=True, slots=True)
class Rule:
    """By what the target is computed.

    Attributes:
        plan: one strategy for all; None with ``variants`` where members differ.
        variants: the strategy of each client id, in its language's variant, where these differ: the target is then
            what the group ends up with, queues without owner or with two among it.
        is_assumed: some member did not say what it divides by, and is taken to use RocketMQ's default.
        why: why the target cannot be known, where neither is there.
        is_moot: nobody divides queues: all are taken by POP. The plan then gives nothing to nobody.
    """

    plan: Plan | None
    variants: Mapping[str, str] | None = None
    is_assumed: bool = False
    why: str = ""
    is_moot: bool = False

    @property
    def name(self) -> str:
        """What to call it; empty is unknown, or there is none."""
        if self.is_moot:
            return ""
        if self.plan is not None:
            return self.plan.strategy
        return mixed(self.variants.values()) if self.variants else ""


def mixed(strategies: Iterable[str]) -> str:
    """Name the strategies of members that differ, as one."""
    return f"mixed: {_names(strategies)}"


def unknown_in(strategy: str) -> str:
    """Name the strategy that is not known here, of one or of several as they are stored; empty: all are known."""
    told = strategy.removeprefix(MIXED).split(", ") if strategy else []
    return next((name for name in told if name not in STRATEGIES), "")


def not_known(unknown: str) -> str:
    """Say that nobody can compute by a class that somebody wrote."""
    return f"the strategy {unknown} is not known here"


def untold(name: str) -> str:
    """Say why nobody can compute a strategy that each member is told by hand."""
    return f"the strategy {name} divides by what members' programs say, unknown here"


def choose_rule(
    view: GroupView, languages: Mapping[str, str], by_hand: Told | None = None, *, takes_by_pop: bool = False
) -> Rule:
    """Find what members divide by: what they say, RocketMQ's default where nobody did.

    Where only some say it, the others are taken to do as they do: a group's members are meant to be alike. Those that
    all do as they were told by hand have ``by_hand`` as their target, where it is known.
    """
    if takes_by_pop and not len(view.queues):
        return Rule(Plan(strategy=ASSUMED), is_moot=True)
    told = set(view.strategies.values())
    if why := _why_unknown(view, told, by_hand):
        return Rule(None, why=why)
    if told & BY_HAND and by_hand is not None:
        params = {"config": by_hand.lists}
        author, reason = by_hand.author, by_hand.reason
        return Rule(Plan(strategy=min(told), params=params, epoch=by_hand.version, author=author, reason=reason))
    common = next(iter(told)) if len(told) == 1 else ASSUMED
    used = {
        client: variant_of(view.strategies.get(client, common), languages.get(client, ""))
        for client in view.clients.distinct
    }
    is_assumed = not told or (len(told) > 1 and len(view.strategies) < len(used))
    if view.model is MessageModel.BROADCASTING or len(set(used.values())) <= 1:
        return Rule(Plan(strategy=next(iter(used.values()), common)), is_assumed=is_assumed)
    if len(view.queues) * len(view.clients) > MOST_QUESTIONS:
        return Rule(None, why=f"members divide by {_names(used.values())}, and are too many to ask each")
    return Rule(None, used, is_assumed)


def _why_unknown(view: GroupView, told: Set[str], by_hand: Told | None) -> str:
    """Say why no target can be known; empty: nothing speaks against it so far."""
    if are_through_proxies(view):
        return "its members come through a proxy: they own no queues"
    unknown = sorted(told - set(STRATEGIES))
    if unknown:
        return not_known(unknown[0])
    if told & BY_HAND and (by_hand is None or len(told) > 1):
        return untold(min(told & BY_HAND))
    return ""


def are_through_proxies(view: GroupView) -> bool:
    """Ask whether all members seem to come through a proxy, by their ids: none divides queues, or tells what it has."""
    clients = view.clients.distinct
    return len(clients) > 0 and len(proxied_in(view)) == len(clients)


def proxied_in(view: GroupView) -> frozenset[str]:
    """Give the members that seem to come through a proxy, by their ids: they own no queues, and should not."""
    return frozenset(
        each
        for each in view.clients.distinct
        if is_proxied(each, strategy=view.strategies.get(each, ""), is_silent=each in view.silent)
    )


def variant_of(strategy: str, language: str) -> str:
    """Name a strategy as a client of this language computes it, where that is known to differ from Java."""
    prefix = {"CPP": "CPP_", "GO": "GO_"}.get(language, "")
    return prefix + strategy if prefix + strategy in STRATEGIES else strategy


def end_up(view: GroupView, variants: Mapping[str, str]) -> Ownership | None:
    """Compute what members that differ end up with together; None where one of them cannot compute its share."""
    return plan.end_up(view, variants)


def _names(strategies: Iterable[str]) -> str:
    return ", ".join(sorted(set(strategies)))
