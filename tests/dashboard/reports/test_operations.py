"""Reports, taken: exact facts in the place of bounds, once, and whole or not at all."""

from __future__ import annotations

import pytest

from dashboard.audit.models import AuditEntry
from dashboard.clusters import orders
from dashboard.clusters.models import Cluster, Command
from dashboard.groups.models import Group, Handoff, Holding, Member, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.reports.models import Report, ReportToken
from dashboard.reports.operations import Conflict, Taken, take
from dashboard.reports.reading import Foreign, Malformed
from dashboard.reports.standing import TooEarly
from rebalance_engine.events import CommandOutcome, Fact
from tests.dashboard.reports.facts import body, command, dropped, pulled, taken, token_of
from tests.dashboard.story import T0, held, joined, left, listed, route, seen, told


@pytest.fixture
def token(cluster: Cluster) -> ReportToken:
    return token_of(cluster)[1]


def reported(token: ReportToken, *facts: Fact, at: int = 10_000, report: str = "r1") -> Taken:
    return take(token=token, body=body(*facts, report=report), now=T0 + at)


def spans() -> list[tuple[str, int, int | None, int | None]]:
    """List who held queue 0: since when, the bounds of that, all in ms after the beginning."""
    rows = Holding.objects.filter(queue__queue_id=0).order_by("at", "pk")
    return [
        (
            row.member.client_id,
            row.at - T0,
            None if row.at_low is None else row.at_low - T0,
            row.until and row.until - T0,
        )
        for row in rows.select_related("member")
    ]


def test_an_exact_fact_replaces_the_bounds_of_a_look(token: ReportToken) -> None:
    told(route(1), *seen("A"), held("A", 1_000, []), held("A", 6_000, [0]))
    assert spans() == [("A", 6_000, 1_000, None)]

    assert reported(token, taken("A", 2_345)) == Taken("r1", 1, 1, was_there=False)

    assert spans() == [("A", 2_345, 2_345, None)]


def test_the_same_report_again_is_stored_once_and_answered_alike(token: ReportToken) -> None:
    told(route(1), *seen("A"))
    first = reported(token, taken("A", 2_000), dropped("A", 3_000))

    again = reported(token, taken("A", 2_000), dropped("A", 3_000), at=20_000)

    assert (first.stored, first.was_there) == (2, False)
    assert (again.stored, again.was_there) == (2, True)
    assert Report.objects.count() == Holding.objects.count() == 1


def test_the_same_id_with_another_content_is_a_conflict(token: ReportToken) -> None:
    told(route(1), *seen("A"))
    reported(token, taken("A", 2_000))

    with pytest.raises(Conflict, match="'r1' was taken before"):
        reported(token, taken("A", 2_001))

    assert spans() == [("A", 2_000, 2_000, None)]


def test_one_wrong_fact_lets_nothing_of_its_report_in(token: ReportToken) -> None:
    told(route(1), *seen("A"))

    with pytest.raises(Foreign):
        reported(token, taken("A", 2_000), taken("A", 3_000, group="other"))
    with pytest.raises(Malformed):
        reported(token, taken("A", 2_000), route(3))

    assert Holding.objects.count() == Report.objects.count() == 0


def test_a_report_makes_nobody_a_member_whom_brokers_do_not_list(token: ReportToken) -> None:
    told(route(1), *seen("A"), listed(5, "A"))

    with pytest.raises(TooEarly, match="no broker lists client 'Z'"):
        reported(token, taken("Z", 2_000))
    assert not Member.objects.filter(client_id="Z").exists()

    told(joined("Z", 4_000, low=5), listed(4_000, "A", "Z"))
    assert reported(token, taken("Z", 2_000)).stored == 1


def test_a_handoff_is_exact_though_the_reports_come_after_the_round_has_ended(token: ReportToken) -> None:
    told(route(1), *seen("A"), listed(0, "A"), held("A", 0, [0]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 10)
    told(joined("0", 5_000, low=0), *seen("0", 5_000)[1:], listed(5_000, "0", "A"))
    rebalance_once(group=group.pk, now=T0 + 5_010)
    told(held("A", 6_000, []), held("0", 6_000, [0]), at=6_000)
    rebalance_once(group=group.pk, now=T0 + 6_010)
    before = Handoff.objects.get()
    assert Round.objects.get().closed_at is not None
    assert before.pause_low is None and before.unowned_high != before.unowned_low

    reported(token, dropped("A", 2_000), at=7_000, report="of A")
    reported(token, taken("0", 2_040), pulled("0", 2_100), at=7_000, report="of 0")
    rebalance_once(group=group.pk, now=T0 + 7_010)

    after = Handoff.objects.get()
    assert (after.from_client, after.to_client) == ("A", "0")
    assert (after.unowned_low, after.unowned_high) == (40, 40)
    assert (after.pause_low, after.pause_high) == (100, 100)


def test_who_was_seen_to_leave_before_it_was_told_is_believed_all_the_same(token: ReportToken) -> None:
    told(route(1), *seen("A"), held("A", 1_000, [0]), left("A", 6_000))

    reported(token, dropped("A", 2_500))

    row = Holding.objects.get()
    assert (row.until, row.until_low, row.until_high) == (T0 + 2_500,) * 3
    assert reported(token, taken("A", 8_000), report="r2").stored == 0, "who left takes nothing"


def test_a_recompute_on_the_terminal_is_kept_with_its_receipts_and_audited(token: ReportToken) -> None:
    reported(token, *command())

    kept = Command.objects.get()
    assert (kept.verb, kept.group_name, kept.author_name) == ("group.recompute", "g", "ada (reported)")
    assert (kept.outcome, kept.reason) == (CommandOutcome.DONE.value, "lag")
    assert [(each.client_id, each.answer) for each in kept.receipts.all()] == [("A", "unchanged")]
    entry = AuditEntry.objects.order_by("-number")[0]
    assert (entry.author, entry.verb, entry.subject) == ("ada (reported)", "group.recompute", "shop g")


def test_a_reported_command_is_carried_out_by_nobody_and_told_once(token: ReportToken) -> None:
    reported(token, *command())
    Cluster.objects.update(lease_holder="x:1", lease_epoch=1, lease_until=T0 + 60_000)

    assert orders.take(cluster="shop", epoch=1, now=T0 + 4) == []
    with pytest.raises(Conflict, match="'c1' was reported before"):
        reported(token, *command(), report="r2")
    assert Command.objects.count() == 1


def test_ids_are_forgotten_once_their_facts_would_be_too_old(token: ReportToken) -> None:
    told(route(1), *seen("A"))
    reported(token, taken("A", 2_000))

    fortnight = 15 * 86_400_000
    reported(token, dropped("A", fortnight), at=fortnight, report="r2")

    assert [row.report_id for row in Report.objects.all()] == ["r2"]
