from dataclasses import replace

from rebalance_engine.cli.judging import CONFIRMED_AFTER_MS, Suspicions, judge
from rebalance_engine.findings import Finding, FindingKind
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageQueue

QUEUES = [MessageQueue("orders", "east", number) for number in range(2)]


def view(*strategies: str | None) -> GroupView:
    members = [
        Member(client_id=name, held=(queue,), strategy=strategy)
        for name, queue, strategy in zip("AB", QUEUES, strategies, strict=True)
    ]
    return GroupView.of("G", QUEUES, members)


def test_the_target_is_by_the_strategy_that_members_tell() -> None:
    told, silent = judge(view("AVG_BY_CIRCLE", "AVG_BY_CIRCLE")), judge(view(None, None))

    assert (told.by, told.is_assumed) == ("AVG_BY_CIRCLE", False)
    assert (silent.by, silent.is_assumed) == ("AVG", True)
    assert told.outcome is not None
    assert told.outcome.converged


def test_there_is_no_target_where_members_run_what_nobody_knows() -> None:
    differing, own = judge(view("AVG", "com.shop.Own")), judge(view("com.shop.Own", "com.shop.Own"))

    assert differing.outcome is own.outcome is None
    assert "2 strategies" in differing.why
    assert "com.shop.Own" in own.why
    assert [finding.kind for finding in differing.findings] == [FindingKind.STRATEGY_MISMATCH]
    assert differing.converged is None


def test_members_that_differ_have_what_they_end_up_with_as_their_target() -> None:
    alike = judge(view("AVG", "AVG_BY_CIRCLE"))
    members = [
        Member(client_id="A", held=(QUEUES[0], QUEUES[1]), strategy="AVG"),
        Member(client_id="B", held=(QUEUES[1],), strategy="AVG_BY_CIRCLE"),
    ]
    queues = [*QUEUES, MessageQueue("orders", "east", 2), MessageQueue("orders", "east", 3)]
    differing = judge(GroupView.of("G", queues, [members[0], replace(members[1], held=(queues[1], queues[3]))]))

    assert (alike.by, alike.converged) == (None, True)
    assert differing.outcome is not None
    assert differing.outcome.converged, "A holds 0 and 1, B 1 and 3: just what each of them computes"
    assert (differing.converged, differing.is_each_as_wanted) == (False, True)
    assert FindingKind.STRATEGY_MISMATCH in {finding.kind for finding in differing.findings}


def test_a_second_look_more_than_20_s_later_confirms_a_finding() -> None:
    finding = Finding(FindingKind.ORPHAN_QUEUE, "G", "orders/east/0", "Nobody has it.", ("row",))
    name = (finding.kind.value, finding.subject)
    suspicions = Suspicions()

    first = suspicions.note((finding,), 0)
    early = suspicions.note((finding,), CONFIRMED_AFTER_MS)
    late = suspicions.note((finding,), CONFIRMED_AFTER_MS + 1)
    gone = suspicions.note((), CONFIRMED_AFTER_MS + 2)
    again = suspicions.note((finding,), CONFIRMED_AFTER_MS + 3)

    assert [look.get(name) for look in (first, early, late, gone, again)] == [False, False, True, None, False]
