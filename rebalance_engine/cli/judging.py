"""What one look at a group comes to: the target by the strategy that its members tell, and what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from rebalance_engine.allocation.contract import AllocationError
from rebalance_engine.cli.pending import Pending, find_pending, say_doubt
from rebalance_engine.cli.unknown import Unknown, find_unknown
from rebalance_engine.engine import Outcome, rebalance
from rebalance_engine.findings import Finding, FindingKind, find_faults
from rebalance_engine.findings.seers import duplicate_ids
from rebalance_engine.group import GroupView
from rebalance_engine.network.looking import GroupLook, ids_of
from rebalance_engine.plan import Plan

ASSUMED = "AVG"
CONFIRMED_AFTER_MS = 20_000
# who takes queues as he likes need not take all, nor what nobody else has
OF_A_DIVISION = frozenset({FindingKind.ORPHAN_QUEUE, FindingKind.DOUBLE_OWNER, FindingKind.IDLE_CONSUMER})


@dataclass(frozen=True, eq=False)
class Judgement:
    """The target of a group, where it can be known; ``why`` says why not. ``by`` is the strategy, if one is known.

    ``pending`` is what is not held yet and need not be; there is no finding of it. ``doubt`` says that there may be
    such a thing among the findings. ``unknown`` says why nobody can tell whether held equals target, if so.
    """

    by: str | None
    is_assumed: bool
    outcome: Outcome | None
    findings: tuple[Finding, ...]
    why: str = ""
    pending: Pending | None = None
    doubt: str = ""
    unknown: Unknown | None = None

    @property
    def converged(self) -> bool | None:
        """Whether held equals target; None is unknown."""
        return None if self.unknown is not None or self.outcome is None else self.outcome.converged


def judge(view: GroupView) -> Judgement:
    """Hold what members have against what their strategy gives them."""
    told = set(view.strategies.values())
    if len(told) > 1:
        why = f"members divide by {len(told)} strategies: {', '.join(sorted(told))}"
        return Judgement(None, is_assumed=False, outcome=None, findings=find_faults(view), why=why)
    by = next(iter(told), ASSUMED)
    try:
        outcome = rebalance(view, view, Plan(strategy=by))
    except AllocationError as error:
        why = f"what {by} gives cannot be computed from outside: {error}"
        return Judgement(by, is_assumed=not told, outcome=None, findings=find_faults(view), why=why)
    return Judgement(by, is_assumed=not told, outcome=outcome, findings=outcome.findings)


def judge_look(look: GroupLook) -> Judgement:
    """Judge what a look shows, except for what its members cannot know yet."""
    judgement = _judged(look)
    unknown = find_unknown(look, judgement.outcome, judgement.why)
    return replace(judgement, findings=(*judgement.findings, *_duplicates(look)), unknown=unknown)


def _judged(look: GroupLook) -> Judgement:
    judgement = judge(look.view)
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
