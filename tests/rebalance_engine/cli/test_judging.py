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


def test_there_is_no_target_where_members_differ_or_run_what_nobody_knows() -> None:
    differing, own = judge(view("AVG", "CONSISTENT_HASH")), judge(view("com.shop.Own", "com.shop.Own"))

    assert differing.outcome is own.outcome is None
    assert "2 strategies" in differing.why
    assert "com.shop.Own" in own.why
    assert [finding.kind for finding in differing.findings] == [FindingKind.STRATEGY_MISMATCH]


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
