"""A dry run: what a group would have if it were otherwise, by every strategy. Nothing is read, nothing written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from dashboard.groups.rules import Rule, choose_rule, end_up, untold
from dashboard.groups.told import BY_HAND, Told
from dashboard.plans.parameters import read_params
from dashboard.plans.questions import BadQuestion, Changes, Question, hold_against
from rebalance_engine.allocation import STRATEGIES, AllocationError, strategy
from rebalance_engine.allocation.contract import UnknownStrategy
from rebalance_engine.engine import Division, divide
from rebalance_engine.group import GroupView, Member
from rebalance_engine.measures import Skew, skew
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import Ownership
from rebalance_engine.plan import Plan, target

T = TypeVar("T")
COMPARED = ("AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "STICKY", "STICKY_ACROSS_TOPICS", "WEIGHTED")
FOLLOWED = frozenset({"STICKY", "STICKY_ACROSS_TOPICS", "WEIGHTED"})
CONFIG, CONFIG_PARAM = "CONFIG", "config"
MOST_SLOW = 20_000_000  # queues times members: beyond, the strategies that look for few moves are tried when asked for
MOST_ALONE = 10_000_000  # likewise, for those of which each member is asked, even then: so many take five seconds
MOST_OTHERS = 2_000_000  # likewise, for those of other languages and of rooms: of ten times so many each takes a second


@dataclass(frozen=True, slots=True)
class Undivided:
    """Who takes messages without owning queues, and of what: nothing of that is divided, or in a dry run.

    Attributes:
        popping: the client ids of those that take messages by POP, as they say.
        proxied: the client ids of those that seem to come through a proxy.
        popped_by: broker -> topics that it is set to give by POP; None: unknown.
    """

    popping: tuple[str, ...] = ()
    proxied: tuple[str, ...] = ()
    popped_by: Mapping[str, Sequence[str]] | None = None

    @property
    def is_any(self) -> bool:
        """Whether anybody takes messages so, or is set to."""
        return bool(self.popping or self.proxied or any((self.popped_by or {}).values()))

    @property
    def clients(self) -> frozenset[str]:
        """Whom a strategy gives a share as to anybody, and who takes nothing of it."""
        return frozenset((*self.popping, *self.proxied))

    def renamed(self, changes: Changes) -> Undivided:
        """Give the same of a group that is otherwise: under their new names, without who leaves."""
        was = {client: changes.renamed.get(client, client) for client in changes.clients}
        popping, proxied = (
            tuple(dict.fromkeys(client for client, before in was.items() if before in names))
            for names in (self.popping, self.proxied)
        )
        return Undivided(popping, proxied, self.popped_by)


NOTHING_UNDIVIDED = Undivided()


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a group besides the view.

    Attributes:
        languages: client id -> language.
        told: what members were told by hand.
        shown: the target that is stored, for when what is held is not known of everybody.
        undivided: who takes messages without owning queues.
    """

    languages: Mapping[str, str]
    told: Told | None = None
    shown: Ownership | None = None
    undivided: Undivided = NOTHING_UNDIVIDED


@dataclass(frozen=True, eq=False)
class Option:
    """One strategy, tried.

    Attributes:
        strategy: its name; of the group's own rule, what members would divide by.
        is_own: whether this is what the group would do by itself.
        outcome: from what is held to what would be; None where it cannot be computed, and ``why`` says so.
        same_as: the option before it by which everybody would have the same; empty: by none.
        load: the loads that result; None likewise.
    """

    strategy: str
    is_own: bool
    outcome: Division | None
    why: str = ""
    is_assumed: bool = False
    same_as: str = ""

    @property
    def load(self) -> Skew | None:
        """How even it would be."""
        return None if self.outcome is None else self.outcome.skew

    @property
    def is_followed(self) -> bool:
        """Whether members must follow a plan to do this: no member can compute it alone."""
        return self.strategy in FOLLOWED


@dataclass(frozen=True, eq=False)
class Trial:
    """What came of a dry run.

    Attributes:
        before, after: the group as it is, and as it would be.
        base: what everybody has now; ``is_held`` tells whether that is what they hold, or what they should.
        undivided, undivided_then: who owns no queues now, and then.
        options: every strategy there is, the group's own rule first; ``chosen`` is one of them.
    """

    question: Question
    changes: Changes
    before: GroupView
    after: GroupView
    base: Ownership
    is_held: bool
    options: tuple[Option, ...]
    chosen: Option
    undivided: Undivided = NOTHING_UNDIVIDED
    undivided_then: Undivided = NOTHING_UNDIVIDED

    @property
    def base_skew(self) -> Skew:
        """How even it is now, among those that own queues."""
        return _skew_among_owners(self.base, self.undivided.clients)


def try_out(view: GroupView, question: Question, known: Known, *, params: Mapping[str, object] | None = None) -> Trial:
    """Try a question out on a group; ``params`` are what the strategy takes instead of what the question says.

    Raises:
        BadQuestion: it makes no sense for this group; all that is wrong with it is said at once.
    """
    problems: list[str] = []
    changes = _or_problems(lambda: hold_against(question, view.clients, view.queues), problems) or _unchanged(view)
    taken = _or_problems(lambda: read_params(question.params), problems) if params is None else params
    after, languages = would_be(view, changes, known.languages)
    base, is_held = _base(view, known)
    then = known.undivided.renamed(changes)
    own = _own(after, base, languages, known.told, then)
    _or_problems(lambda: _insist_on_a_strategy(question.strategy, own), problems)
    if problems:
        raise BadQuestion(problems)
    options = [own]
    for name in [] if after.model is MessageModel.BROADCASTING else _compared():  # each has all, by any of them
        given = _given(name, question.strategy, taken or {})
        if name != own.strategy or given:
            is_asked = name == question.strategy
            why = _unsaid(name, given, known.told) or (
                _limit(name, given, after) if is_asked else _obstacle(name, after)
            )
            tried = (
                Option(name, False, None, why) if why else _tried(after, base, _plan_of(name, given, known.told), then)
            )
            options.append(_likened(tried, options))
    named = [each for each in reversed(options) if each.strategy == question.strategy]
    chosen = named[0] if named and question.strategy else own
    return Trial(question, changes, view, after, base, is_held, tuple(options), chosen, known.undivided, then)


def _or_problems(read: Callable[[], T], problems: list[str]) -> T | None:
    """Read a part of a question; None where it makes no sense, and what is wrong joins the problems."""
    try:
        return read()
    except BadQuestion as bad:
        problems += bad.problems
        return None


def _unchanged(view: GroupView) -> Changes:
    return Changes(clients=tuple(view.clients.ids), queues=view.queues)


def would_be(view: GroupView, changes: Changes, languages: Mapping[str, str]) -> tuple[GroupView, dict[str, str]]:
    """Give the group as it would be, and its members' languages. Newcomers are as most members are."""
    held = {} if view.held is None else view.held.as_lists()
    topics, strategy = _common(view.topics_of.values()), _common(view.strategies.values())
    language = _common(languages.get(client, "") for client in view.clients.distinct) or ""
    members, seen = list[Member](), set[str]()
    for client in changes.clients:
        was = changes.renamed.get(client, client)
        is_known = was in view.clients.distinct
        told = tuple(held.get(was, ())) if is_known and client == was and client not in seen else ()
        members.append(
            Member(
                client_id=client,
                topics=view.topics_of.get(was) if is_known else topics,
                held=None if client in view.silent else told,
                strategy=view.strategies.get(was) if is_known else strategy,
            )
        )
        seen.add(client)
    spoken = {client: languages.get(changes.renamed.get(client, client), language) for client in changes.clients}
    return GroupView.of(view.group, changes.queues, members, view.model), spoken


def _common(values: Iterable[T]) -> T | None:
    """Give what most say; None where nobody says anything."""
    counted = Counter(values)
    return counted.most_common(1)[0][0] if counted else None


def _base(view: GroupView, known: Known) -> tuple[Ownership, bool]:
    """Give what everybody has now: what is held, where that is known of all; otherwise what they should have."""
    if view.held is not None and view.everybody_answered:
        return view.held, True
    if known.shown is not None and known.shown.queues.same_queues(view.queues):
        return known.shown, False
    return Ownership.nobody(view.queues, view.clients), False


def _own(after: GroupView, base: Ownership, languages: Mapping[str, str], told: Told | None, then: Undivided) -> Option:
    """Try what the group would do by itself."""
    rule = choose_rule(after, languages, told, takes_by_pop=bool(then.popping))
    if rule.plan is None and not rule.variants:
        return Option(", ".join(sorted(set(after.strategies.values()))), True, None, rule.why)
    if rule.plan is not None:
        return _option(after, base, rule.plan, is_own=True, is_assumed=rule.is_assumed, alone=then.clients)
    return _mixed(after, base, rule, then.clients)


def _mixed(after: GroupView, base: Ownership, rule: Rule, alone: frozenset[str]) -> Option:
    becomes = end_up(after, rule.variants or {})
    if becomes is None:
        return Option(rule.name, True, None, untold(rule.name))
    return Option(rule.name, True, _among_owners(after, base, becomes, alone), is_assumed=rule.is_assumed)


def _option(
    after: GroupView,
    base: Ownership,
    plan: Plan | None,
    *,
    is_own: bool = False,
    is_assumed: bool = False,
    alone: frozenset[str] = frozenset(),
) -> Option:
    assert plan is not None
    try:
        outcome = _among_owners(after, base, target(after, plan, base), alone)
        return Option(plan.strategy, is_own, outcome, is_assumed=is_assumed)
    except AllocationError as error:
        return Option(plan.strategy, is_own, None, str(error), is_assumed)


def _among_owners(after: GroupView, base: Ownership, becomes: Ownership, alone: frozenset[str]) -> Division:
    """Divide; who owns no queues is given its share by the others, and takes nothing of it."""
    outcome = divide(after, Plan(), base, becomes=becomes.without(alone))
    return replace(outcome, skew=_skew_among_owners(outcome.target, alone)) if alone else outcome


def _skew_among_owners(ownership: Ownership, alone: frozenset[str]) -> Skew:
    return replace(skew(ownership, silent=alone), unknown=()) if alone else skew(ownership)


def _plan_of(name: str, params: Mapping[str, object], told: Told | None) -> Plan:
    if name in BY_HAND and told is not None:
        return Plan(strategy=name, params={CONFIG_PARAM: told.lists})
    return Plan(strategy=name, params=params)


def _tried(after: GroupView, base: Ownership, plan: Plan, then: Undivided) -> Option:
    return _option(after, base, plan, alone=then.clients)


def _insist_on_a_strategy(asked: str, own: Option) -> None:
    if not asked or asked == own.strategy:
        return
    try:
        strategy(asked)
    except UnknownStrategy as unknown:
        raise BadQuestion([str(unknown)]) from unknown
    except AllocationError:
        return  # there is one, and it is said for itself what it lacks


def _compared() -> list[str]:
    """Name the strategies that stand side by side: all there are, those first that every group can be tried with."""
    return [*COMPARED, *(name for name in STRATEGIES if name not in COMPARED)]


def _given(name: str, asked: str, params: Mapping[str, object]) -> Mapping[str, object]:
    """Give the parameters for one strategy: they are for the one that is asked for, and those that need just these."""
    kind = STRATEGIES.get(name)
    is_for = name == asked or (kind is not None and kind.needs and kind.needs <= params.keys() <= kind.takes)
    return params if is_for else {}


def _unsaid(name: str, given: Mapping[str, object], told: Told | None) -> str:
    """Say that what a strategy divides by was told by nobody; empty: it was, or was asked with it, or it needs none."""
    is_said = name not in BY_HAND or told is not None or CONFIG_PARAM in given
    return "" if is_said else "nobody has said by hand who is to have which queue"


def _obstacle(name: str, after: GroupView) -> str:
    """Say why a strategy is not tried unless it is asked for; empty: it is."""
    most = MOST_SLOW if name in COMPARED else MOST_OTHERS
    if (name in FOLLOWED or name not in COMPARED) and len(after.queues) * len(after.clients) > most:
        return f"{len(after.queues):,} queues times {len(after.clients):,} members take long: tried when asked for"
    return ""


def _limit(name: str, given: Mapping[str, object], after: GroupView) -> str:
    """Say why a strategy is not even tried when it is asked for; empty: it is."""
    queues, clients = len(after.queues), len(after.clients)
    if queues * clients <= MOST_ALONE or not _is_of_members(name, given):
        return ""
    return f"{queues:,} queues times {clients:,} members are too many to ask each: at most {MOST_ALONE:,} are tried"


def _is_of_members(name: str, given: Mapping[str, object]) -> bool:
    """Whether a strategy has no form for a whole group: each member is computed alone, over all queues."""
    try:
        return strategy(name, **given).owners is None
    except AllocationError:
        return False


def _likened(tried: Option, options: Iterable[Option]) -> Option:
    """Note by which option before it everybody would have the same."""
    if tried.outcome is None:
        return tried
    for each in options:
        if each.outcome is not None and not each.same_as and each.outcome.target.same_owners(tried.outcome.target):
            return replace(tried, same_as=each.strategy)
    return tried
