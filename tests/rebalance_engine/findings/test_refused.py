import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.findings import FindingKind, PullRefusal, Refusal, lock_refusals, pull_refusals

QUEUE = MessageQueue("orders", "east", 0)


def test_a_refused_lock_is_proven_at_once_and_ends_60_s_after_its_holder_is_gone() -> None:
    refusal = Refusal("B", MessageQueue("orders", "east", 0), 9_000, 2, "A", 5_000)

    [fault] = lock_refusals("g", [refusal], 10_000)

    assert (fault.kind, fault.subject) == (FindingKind.LOCK_REFUSED, "orders/east/0 for B")
    assert (fault.proven_at, fault.ends_at) == (9_000, 65_000)
    assert fault.sentence.startswith("B was refused the lock of orders/east/0 2 times: A has it, and is gone")
    assert fault.proof[1:] == ("A has the lock of orders/east/0", "A is no member any more")


def test_whoever_is_there_may_keep_a_lock_and_who_is_not_named_is_not_guessed() -> None:
    of = MessageQueue("orders", "east", 0)

    held, unknown = lock_refusals("g", [Refusal("B", of, 9_000, 1, "A"), Refusal("B", of, 9_000)], 10_000)

    assert held.sentence == "B was refused the lock of orders/east/0 once: A has it."
    assert unknown.sentence == "B was refused the lock of orders/east/0 once: somebody has it."
    assert held.ends_at is unknown.ends_at is None


def test_who_was_not_refused_again_for_a_minute_asks_no_more() -> None:
    refusal = Refusal("B", MessageQueue("orders", "east", 0), 9_000)

    assert len(list(lock_refusals("g", [refusal], 69_000))) == 1
    assert list(lock_refusals("g", [refusal], 69_001)) == []


def test_a_refused_pull_is_proven_at_once_with_what_its_code_means() -> None:
    [fault] = pull_refusals("g", [PullRefusal("B", QUEUE, 16, 5_000, 9_000, 3)], 10_000)

    assert (fault.kind, fault.subject, fault.proven_at) == (FindingKind.PULL_REFUSED, "orders/east/0 for B", 9_000)
    assert fault.sentence == (
        "B has orders/east/0, and its broker refuses to let it pull (code 16): the group or the topic may not be read"
        " there."
    )
    assert fault.proof == (
        "east refused B a pull of orders/east/0, 3 times",
        "first at 00:00:05 UTC, last at 00:00:09 UTC, with code 16",
    )
    assert (fault.ends_at, fault.over_at) == (None, 69_000)


@pytest.mark.parametrize("code", [24, 25])
def test_what_the_next_heartbeat_mends_must_end_within_30_s(code: int) -> None:
    [early] = pull_refusals("g", [PullRefusal("B", QUEUE, code, 5_000, 9_000)], 10_000)
    [late] = pull_refusals("g", [PullRefusal("B", QUEUE, code, 5_000, 36_000)], 37_000)

    assert (early.ends_at, late.ends_at) == (35_000, None)
    assert early.sentence.endswith("; the next heartbeat should mend it.")
    assert "heartbeat" not in late.sentence


def test_an_unknown_code_is_not_explained() -> None:
    [fault] = pull_refusals("g", [PullRefusal("B", QUEUE, 999, 5_000, 9_000)], 10_000)

    assert "(code 999): what that means is not known here" in fault.sentence


def test_who_was_not_refused_a_pull_for_a_minute_pulls() -> None:
    refusal = PullRefusal("B", QUEUE, 16, 5_000, 9_000)

    assert len(list(pull_refusals("g", [refusal], 69_000))) == 1
    assert list(pull_refusals("g", [refusal], 69_001)) == []
