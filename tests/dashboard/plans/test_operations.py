from __future__ import annotations

import json
from collections.abc import Mapping

import pytest

from dashboard.audit.models import AuditEntry
from dashboard.groups.models import Finding, Group, Member, Round, Target
from dashboard.groups.rebalancing import is_due, rebalance_once
from dashboard.groups.risks import read_risks
from dashboard.plans.checks import check, to_acknowledge
from dashboard.plans.models import ByConfig
from dashboard.plans.operations import LONGEST_REASON, Conflict, Draft, NoReason, Unchanged, Unchecked, publish
from dashboard.plans.queries import read_group
from rebalance_engine.events import Cause
from rebalance_engine.model import MessageQueue
from tests.dashboard.story import T0, held, queue, route, seen, told, uses

pytestmark = pytest.mark.usefixtures("cluster")
OTHER = {"A": (queue(0), queue(1), queue(2)), "B": (queue(3),)}
GOOD = {"A": (queue(0),), "B": (queue(1), queue(2), queue(3))}


def a_group(strategy: str = "CONFIG") -> Group:
    told(route(4), *seen("A"), *seen("B"), uses("A", 5, strategy), uses("B", 5, strategy))
    told(held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    return group


def draft(
    lists: Mapping[str, tuple[MessageQueue, ...]] | None = None,
    *,
    base: int = 0,
    reason: str = "more room",
    acknowledged: tuple[str, ...] = (),
) -> Draft:
    return Draft(assignment=dict(GOOD if lists is None else lists), base=base, reason=reason, acknowledged=acknowledged)


def keep(group: Group, wish: Draft, at: int = 5_000) -> ByConfig:
    return publish(group=group, draft=wish, author="ada", now=T0 + at)


def test_a_version_is_kept_with_its_author_and_reason_and_is_in_the_audit_log() -> None:
    group = a_group()

    row = keep(group, draft(reason=" more room "))

    assert (row.version, row.author, row.reason, row.client_count, row.queue_count) == (1, "ada", "more room", 2, 4)
    entry = AuditEntry.objects.get()
    assert (entry.author, entry.verb, entry.subject) == ("ada", "by-config.publish", "shop g")
    assert json.loads(entry.detail)["version"] == 1


def test_it_is_the_target_of_a_group_that_uses_config_and_opens_a_round() -> None:
    group = a_group()
    assert not Target.objects.filter(group=group).exists()

    keep(group, draft())
    assert is_due(group=group.pk, now=T0 + 5_001)
    decision = rebalance_once(group=group.pk, now=T0 + 5_010)

    assert decision is not None and decision.rule.plan is not None
    assert (decision.rule.name, decision.rule.plan.epoch, decision.converged) == ("CONFIG", 1, None)
    owners = dict(Target.objects.filter(group=group).values_list("queue__queue_id", "member__client_id"))
    assert owners == {0: "A", 1: "B", 2: "B", 3: "B"}
    latest = Round.objects.filter(group=group).latest("number")
    cause = latest.causes.get(cause=Cause.CONFIG_CHANGED.value)
    assert cause.evidence == "by-config version 1 by ada: more room"

    told(held("A", 6_000, [0]), held("B", 6_000, [1, 2, 3]), at=6_100)
    decision = rebalance_once(group=group.pk, now=T0 + 6_100)
    assert decision is not None and decision.converged
    assert not Finding.objects.filter(group=group, cleared_at=None).exists()


def test_it_opens_a_round_of_its_own_while_another_is_open_because_nobody_had_told_anything() -> None:
    group = a_group()
    assert Round.objects.get(group=group).cause == Cause.STRATEGY_CHANGED.value

    keep(group, draft())
    rebalance_once(group=group.pk, now=T0 + 5_010)
    keep(group, draft(OTHER, base=1, reason="back"), at=9_000)
    rebalance_once(group=group.pk, now=T0 + 9_010)

    rows = list(Round.objects.filter(group=group).order_by("number"))
    assert [(row.cause, row.superseded_by) for row in rows] == [
        (Cause.STRATEGY_CHANGED.value, 2),
        (Cause.CONFIG_CHANGED.value, 3),
        (Cause.CONFIG_CHANGED.value, None),
    ]
    assert rows[2].causes.get().evidence == "by-config version 2 by ada: back"


def test_of_a_group_that_divides_otherwise_it_is_kept_and_changes_nothing() -> None:
    group = a_group("AVG")

    keep(group, draft())

    assert not is_due(group=group.pk, now=T0 + 5_001)
    assert not Round.objects.filter(group=group).exists()


def test_somebody_elses_version_in_between_is_a_conflict() -> None:
    group = a_group()
    keep(group, draft())

    with pytest.raises(Conflict) as conflict:
        keep(group, draft({"A": tuple(queue(n) for n in range(4))}))

    assert conflict.value.latest is not None and conflict.value.latest.version == 1
    assert ByConfig.objects.count() == AuditEntry.objects.count() == 1
    assert keep(group, draft(OTHER, base=1)).version == 2


def test_a_version_that_nobody_has_is_no_base() -> None:
    group = a_group()

    with pytest.raises(Conflict, match="no version yet"):
        keep(group, draft(base=7))
    keep(group, draft())
    with pytest.raises(Conflict, match="version 1 by ada is there"):
        keep(group, draft(base=-1))


def test_what_is_risky_is_kept_by_who_says_to_have_read_it() -> None:
    group, lists = a_group(), {"A": (queue(0),)}
    view, _ = read_group(group=group)
    keys = tuple(each.key for each in to_acknowledge(check(lists, view, ())))

    with pytest.raises(Unchecked) as unchecked:
        keep(group, draft(lists))
    assert {each.kind for each in unchecked.value.checks} == {"without owner"}
    with pytest.raises(Unchecked):
        keep(group, draft({"A": (queue(1),)}, acknowledged=keys))

    row = keep(group, draft(lists, acknowledged=keys))
    read = read_risks(row.acknowledged)
    assert [(each.kind, each.count, each.key) for each in read] == [(key.split(":")[0], 3, key) for key in keys]
    assert "3 queues have no owner" in read[0].sentence and read[0].subjects[0] in read[0].sentence
    assert json.loads(AuditEntry.objects.latest("number").detail)["acknowledged"] == [read[0].as_values()]


def test_a_queue_of_two_members_is_not_kept_whatever_was_read() -> None:
    group = a_group()
    lists = {"A": (queue(0), queue(1)), "B": (queue(1), queue(2), queue(3))}
    view, _ = read_group(group=group)
    keys = tuple(each.key for each in check(lists, view, ()))

    with pytest.raises(Unchecked, match="listed twice"):
        keep(group, draft(lists, acknowledged=keys))


@pytest.mark.parametrize("reason", ["", "  ", "x" * (LONGEST_REASON + 1)])
def test_nothing_is_kept_without_a_reason(reason: str) -> None:
    group = a_group()

    with pytest.raises(NoReason):
        keep(group, draft(reason=reason))
    assert not ByConfig.objects.exists()


def test_a_reason_may_hold_what_no_database_takes() -> None:
    assert keep(a_group(), draft(reason="\0\ud800")).reason == r"\u0000\ud800"


def test_whoever_comes_to_use_config_has_the_target_at_once() -> None:
    group = a_group("AVG")
    keep(group, draft())

    told(uses("A", 7_000, "CONFIG"), uses("B", 7_000, "CONFIG"), at=7_000)
    decision = rebalance_once(group=group.pk, now=T0 + 7_010)

    assert decision is not None
    assert decision.rule.name == "CONFIG"
    assert Member.objects.filter(group=group, targets__isnull=False).distinct().count() == 2


def test_a_gap_that_was_acknowledged_says_in_which_version_by_whom_and_why() -> None:
    group, lists = a_group(), {"A": (queue(0),), "B": (queue(1), queue(2))}
    view, _ = read_group(group=group)
    keys = tuple(each.key for each in to_acknowledge(check(lists, view, ())))

    keep(group, draft(lists, reason="3 is drained", acknowledged=keys))
    rebalance_once(group=group.pk, now=T0 + 30_000)

    [gap] = Finding.objects.filter(kind="by-config gap", cleared_at=None)
    assert gap.subject == "orders/east/3"
    assert gap.sentence.endswith(" Acknowledged in by-config version 1 by ada: 3 is drained.")


def test_what_the_latest_version_says_already_is_not_kept_again() -> None:
    group = a_group()
    keep(group, draft())

    with pytest.raises(Unchanged, match="version 1 by ada says the same already: nothing is kept"):
        keep(group, draft(base=1, reason="again"))

    assert (ByConfig.objects.count(), AuditEntry.objects.count()) == (1, 1)
    assert keep(group, draft(OTHER, base=1)).version == 2
    assert keep(group, draft(base=2)).version == 3  # as an earlier one is a change
