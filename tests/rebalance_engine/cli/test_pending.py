from collections.abc import Sequence
from dataclasses import replace

import pytest

from rebalance_engine.cli.judging import Judgement, judge_look
from rebalance_engine.cli.pending import ROUND_EVERY_MS, ROUTES_EVERY_MS, SLACK_MS, Pending
from rebalance_engine.effects import Failure
from rebalance_engine.findings import FindingKind
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import MemberLook
from tests.rebalance_engine.cli.looks import AT, look, member, queues

AFTER_MS = ROUTES_EVERY_MS + ROUND_EVERY_MS + SLACK_MS
ORDERS = queues(2)
RETRY = [MessageQueue("%RETRY%billing", broker, 0) for broker in ("east", "west")]
OF_ANOTHER = MessageQueue("%RETRY%bills", "east", 0)
BOTH = ("orders", "%RETRY%billing")


def seen(client: str, held: Sequence[MessageQueue] | None, *, age_ms: int | None = 1_000) -> MemberLook:
    return member(client, held, *BOTH, started_at=None if age_ms is None else AT - age_ms)


def judged(*members: MemberLook, lag: dict[MessageQueue, int | None] | None = None) -> Judgement:
    return judge_look(look([*ORDERS, *RETRY], members, lag=lag))


def test_a_new_retry_topic_is_pending_until_the_first_member_must_know_it() -> None:
    judgement = judged(seen("A", ORDERS[:1], age_ms=9_000), seen("B", ORDERS[1:], age_ms=100))

    assert judgement.pending == Pending(
        "%RETRY%billing", frozenset(RETRY), frozenset("AB"), until=AT - 9_000 + AFTER_MS
    )
    assert judgement.findings == ()
    assert judgement.outcome is not None
    assert judgement.outcome.converged is False
    assert "but for 2 queues of a new retry topic: pending until 22:14:06 UTC" in judgement.pending.sentence
    assert judgement.pending.why.startswith("%RETRY%billing came with the first heartbeat of the group.")


def test_one_queue_of_it_may_be_held_already() -> None:
    pending = judged(seen("A", [*ORDERS[:1], RETRY[0]]), seen("B", ORDERS[1:])).pending

    assert pending is not None
    assert pending.queues == {RETRY[1]}


def test_a_member_that_will_have_nothing_else_is_not_idle_yet() -> None:
    circle = [seen(name, held) for name, held in zip("AB", ([*ORDERS[:1], RETRY[0]], []), strict=True)]
    judgement = judge_look(look([ORDERS[0], *RETRY], circle))

    assert judgement.pending is not None
    assert judgement.findings == ()


@pytest.mark.parametrize(
    ("age_ms", "is_pending"),
    [(AFTER_MS, True), (AFTER_MS + 1, False), (None, False), (-SLACK_MS, True), (-SLACK_MS - 1, False)],
    ids=["just long enough", "too long", "untold", "a clock a little ahead", "a clock far ahead"],
)
def test_a_retry_topic_that_stays_unowned_is_an_alarm(age_ms: int | None, is_pending: bool) -> None:
    judgement = judged(seen("A", ORDERS[:1]), seen("B", ORDERS[1:], age_ms=age_ms))

    kinds = [finding.kind for finding in judgement.findings]
    assert (judgement.pending is not None) is is_pending
    assert kinds == [FindingKind.RETRY_UNOWNED] * (0 if is_pending else 2)


@pytest.mark.parametrize("told", [[], RETRY[:1]], ids=["nobody said", "one of two brokers said"])
def test_where_nobody_said_whether_somebody_had_it_once_it_is_an_alarm_with_a_doubt(told: list[MessageQueue]) -> None:
    members = [seen("A", ORDERS[:1]), seen("B", ORDERS[1:])]
    judgement = judge_look(look([*ORDERS, *RETRY], members, never_stored=told))

    assert judgement.pending is None
    assert [finding.kind for finding in judgement.findings] == [FindingKind.RETRY_UNOWNED] * 2
    assert judgement.doubt.startswith("Unknown whether %RETRY%billing is new: ")
    assert not judge_look(look([*ORDERS, *RETRY], members)).doubt


ALARMS: dict[str, Judgement] = {
    "another queue is unheld": judged(seen("A", ORDERS[:1]), seen("B", [])),
    "two hold one": judged(seen("A", ORDERS), seen("B", ORDERS[1:])),
    "the wrong member holds one": judged(seen("A", ORDERS), seen("B", [])),
    "a member is silent": judged(seen("A", ORDERS[:1]), seen("B", None)),
    "one is held that is in no route": judged(seen("A", [ORDERS[0], OF_ANOTHER]), seen("B", ORDERS[1:])),
    "somebody had it once": judged(seen("A", ORDERS[:1]), seen("B", ORDERS[1:]), lag={RETRY[0]: 3}),
    "it broadcasts": judge_look(look([*ORDERS, *RETRY], [seen("A", ORDERS)], model=MessageModel.BROADCASTING)),
    "all is well": judged(seen("A", [ORDERS[0], RETRY[0]]), seen("B", [ORDERS[1], RETRY[1]])),
}


@pytest.mark.parametrize("judgement", ALARMS.values(), ids=ALARMS.keys())
def test_nothing_is_pending_where_something_else_is_amiss_or_nothing(judgement: Judgement) -> None:
    assert judgement.pending is None


def test_nothing_is_pending_while_a_broker_did_not_say_who_else_is_there() -> None:
    whole = look([*ORDERS, *RETRY], [seen("A", ORDERS)])
    silent = replace(whole.lists["east"], value=None, trouble=NoAnswer(Failure.TIMEOUT, "west:1"))
    lacking = replace(whole, lists={**whole.lists, "west": silent})

    assert judge_look(whole).pending is not None
    assert judge_look(lacking).pending is None
