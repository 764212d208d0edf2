"""What one look at a group comes to: the target by the strategy that its members tell, and what is wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Set
from dataclasses import dataclass, field, replace

from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.allocation.contract import AllocationError
from rebalance_engine.cli.pending import Pending, find_pending, say_doubt
from rebalance_engine.cli.unknown import THROUGH_PROXIES, Unknown, find_unknown
from rebalance_engine.engine import Outcome, rebalance
from rebalance_engine.findings import Finding, FindingKind, find_faults
from rebalance_engine.findings.seers import duplicate_ids
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel
from rebalance_engine.network.looking import GroupLook, ids_of
from rebalance_engine.plan import Plan, end_up, target

ASSUMED = "AVG"
CONFIRMED_AFTER_MS = 20_000
# who takes queues as he likes need not take all, nor what nobody else has
OF_A_DIVISION = frozenset({FindingKind.ORPHAN_QUEUE, FindingKind.DOUBLE_OWNER, FindingKind.IDLE_CONSUMER})


@dataclass(frozen=True, eq=False)
class Judgement:
    """The target of a group, where it can be known; ``why`` says why not. ``by`` is the strategy, if one is known.

    ``pending`` is what is not held yet and need not be; there is no finding of it. ``doubt`` says that there may be
    such a thing among the findings. ``unknown`` says why nobody can tell whether held equals target, if so.
    ``is_faulty``: some queue has nobody, or two, whoever is to have it. ``owns_nothing``: all members come through a
    proxy, so that nobody is to have anything, and nobody has.
    """

    by: str | None
    is_assumed: bool
    outcome: Outcome | None
    findings: tuple[Finding, ...]
    why: str = ""
    pending: Pending | None = None
    doubt: str = ""
    unknown: Unknown | None = None
    is_faulty: bool = False
    owns_nothing: bool = False

    @property
    def converged(self) -> bool | None:
        """Whether held equals target, and each queue has one owner, as the control room's API says; None is unknown."""
        if self.owns_nothing:
            return True
        if self.unknown is not None or self.outcome is None or self.outcome.converged is None:
            return None
        return self.outcome.converged and not self.is_faulty

    @property
    def is_each_as_wanted(self) -> bool:
        """Whether each member has just what its strategy gives it, though some queue has nobody then, or two."""
        return self.is_faulty and self.outcome is not None and self.outcome.converged is True


def judge(view: GroupView, proxied: Collection[str] = ()) -> Judgement:
    """Hold what members have against what their strategy gives them.

    Args:
        proxied: members that come through a proxy: others give them their share, and they take nothing of it.
    """
    told = set(view.strategies.values())
    if len(told) > 1:
        return _mixed(view, told, proxied)
    by = next(iter(told), ASSUMED)
    try:
        becomes = target(view, Plan(strategy=by)).without(proxied) if proxied else None
        outcome = rebalance(view, view, Plan(strategy=by), previous=becomes, becomes=becomes)
    except AllocationError as error:
        why = f"what {by} gives cannot be computed from outside: {error}"
        return Judgement(by, is_assumed=not told, outcome=None, findings=find_faults(view), why=why)
    faulty = _is_faulty(view)
    return Judgement(by, is_assumed=not told, outcome=outcome, findings=outcome.findings, is_faulty=faulty)


def _mixed(view: GroupView, told: Set[str], proxied: Collection[str]) -> Judgement:
    """Hold what members that differ have against what they end up with together, where each told its strategy."""
    are_known = told <= set(STRATEGIES) and view.strategies.keys() >= set(view.clients.distinct) - set(proxied)
    variants = dict.fromkeys(proxied, ASSUMED) | dict(view.strategies)
    becomes = end_up(view, variants) if are_known and view.model is MessageModel.CLUSTERING else None
    if becomes is None:
        why = f"members divide by {len(told)} strategies: {', '.join(sorted(told))}"
        return Judgement(None, is_assumed=False, outcome=None, findings=find_faults(view), why=why)
    becomes = becomes.without(proxied)
    outcome = rebalance(view, view, Plan(), previous=becomes, becomes=becomes)
    return Judgement(None, is_assumed=False, outcome=outcome, findings=outcome.findings, is_faulty=_is_faulty(view))


def _is_faulty(view: GroupView) -> bool:
    if view.model is MessageModel.BROADCASTING or view.held is None or not view.everybody_answered:
        return False
    return bool(len(view.held.unowned()) or len(view.held.owned_twice()))


def judge_look(look: GroupLook) -> Judgement:
    """Judge what a look shows, except for what its members cannot know yet."""
    if look.are_all_proxied:
        findings = tuple(_duplicates(look))
        return Judgement(
            None, is_assumed=False, outcome=None, findings=findings, unknown=THROUGH_PROXIES, owns_nothing=True
        )
    judgement = _judged(look)
    unknown = find_unknown(look, judgement.outcome, judgement.why)
    return replace(judgement, findings=(*_duplicates(look), *judgement.findings), unknown=unknown)


def _judged(look: GroupLook) -> Judgement:
    judgement = judge(look.view, [member.client_id for member in look.members if member.is_proxied])
    if look.assigns_itself:
        findings = tuple(finding for finding in judgement.findings if finding.kind not in OF_A_DIVISION)
        return replace(judgement, outcome=None, findings=findings, why="its members assign their queues themselves")
    if judgement.outcome is None:
        return judgement
    target = judgement.outcome.target
    pending = find_pending(look, target)
    if pending is None:
        return replace(judgement, doubt=say_doubt(look, target))
    findings = tuple(finding for finding in judgement.findings if not pending.excuses(finding))
    return replace(judgement, findings=findings, pending=pending)


def _duplicates(look: GroupLook) -> Iterator[Finding]:
    lists = {broker: ids_of(heard.value) for broker, heard in look.lists.items() if heard.trouble is None}
    addresses = {
        member.client_id: {
            broker: tuple(one.client_addr for one in there if one.client_addr)
            for broker, there in member.connections.items()
        }
        for member in look.members
    }
    return duplicate_ids(look.view, lists, addresses)


@dataclass(slots=True)
class Suspicions:
    """When each finding was first seen: one look suspects, a second more than 20 s later confirms."""

    _since: dict[tuple[str, str], int] = field(default_factory=dict)

    def note(self, findings: tuple[Finding, ...], at: int) -> dict[tuple[str, str], bool]:
        """Take in what a look found; tell of each finding (kind, subject) whether it is confirmed."""
        names = {(finding.kind.value, finding.subject) for finding in findings}
        self._since = {name: self._since.get(name, at) for name in names}
        return {name: at - since > CONFIRMED_AFTER_MS for name, since in self._since.items()}
