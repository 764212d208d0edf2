from __future__ import annotations

import pytest
from pytest_django import DjangoAssertNumQueries

from dashboard.groups.locked import TAKES_MS, refusals_of
from dashboard.groups.models import Finding, Group
from dashboard.groups.rebalancing import rebalance_once
from rebalance_engine.events import EXACT, Fact, LockGranted, LockRefused, LockReleased
from rebalance_engine.findings import Refusal
from tests.dashboard.story import REPORT, T0, held, joined, left, queue, route, seen, told

pytestmark = pytest.mark.usefixtures("cluster")
HERE = {"A", "B"}


def granted(client: str, at: int, number: int = 0) -> Fact:
    return LockGranted(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(number))


def released(client: str, at: int, number: int = 0) -> Fact:
    return LockReleased(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(number))


def refused(client: str, at: int, number: int = 0) -> Fact:
    return LockRefused(at=T0 + at, source=REPORT, exactness=EXACT, group="g", client=client, queue=queue(number))


def refusals() -> list[Refusal]:
    return list(refusals_of(group=Group.objects.get(), here=HERE))


def settle() -> None:
    """A has queue 0 and its lock, B has queue 1."""
    told(route(2), *seen("A"), *seen("B"), granted("A", 0), held("A", 10, [0]), held("B", 10, [1]))


def test_nobody_is_guessed_where_nobody_told_of_a_lock() -> None:
    told(route(2), *seen("A"), *seen("B"), refused("B", 20))

    [refusal] = refusals()

    assert (refusal.holder, refusal.ends_at) == (None, None)


def test_who_was_granted_a_lock_and_has_the_queue_may_keep_it() -> None:
    settle()
    told(refused("B", 20), held("A", 20_000, [0]), at=20_000)

    [refusal] = refusals()

    assert (refusal.holder, refusal.ends_at) == ("A", None)


def test_a_lock_that_was_granted_again_after_the_queue_was_let_go_ends_a_minute_after_that() -> None:
    settle()
    told(released("A", 1_000), held("A", 1_000, []), granted("A", 1_400), refused("B", 2_000), at=2_000)
    assert [(each.holder, each.ends_at) for each in refusals()] == [("A", None)]  # it may be about to take the queue

    told(held("A", 1_400 + TAKES_MS + 1, []), at=1_400 + TAKES_MS + 1)

    assert [(each.holder, each.ends_at) for each in refusals()] == [("A", T0 + 61_400)]


def test_who_let_a_queue_go_and_kept_its_lock_loses_it_a_minute_after_that() -> None:
    settle()
    told(held("A", 30_000, []), refused("B", 31_000), held("A", 36_000, []), at=36_000)

    assert [(each.holder, each.ends_at) for each in refusals()] == [("A", T0 + 90_000)]


def test_who_is_gone_with_a_lock_loses_it_a_minute_after_that() -> None:
    settle()
    told(left("A", 5_000), refused("B", 9_000), at=9_000)

    [refusal] = refusals()

    assert (refusal.holder, refusal.holder_left_at, refusal.ends_at) == ("A", T0 + 5_000, T0 + 65_000)


def test_whose_lock_must_have_run_out_is_not_who_has_it() -> None:
    settle()
    told(left("A", 5_000), refused("B", 65_001), at=65_001)

    [refusal] = refusals()

    assert (refusal.holder, refusal.ends_at) == (None, None)


def test_who_gave_a_lock_back_does_not_have_it() -> None:
    settle()
    told(released("A", 15), refused("B", 20), at=20)

    assert [each.holder for each in refusals()] == [None]


def test_who_is_named_and_no_member_is_told_all_the_same() -> None:
    settle()
    told(released("A", 15), granted("Z", 20), refused("B", 30), at=30)

    assert [(each.holder, each.ends_at) for each in refusals()] == [("Z", None)]


def test_questions_do_not_grow_with_the_refusals(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    settle()
    told(route(8, 15), *(granted("A", 20, number) for number in range(2, 8)), at=20)
    told(*(refused("B", 30, number) for number in (0, *range(2, 8))), at=30)
    group = Group.objects.get()

    with django_assert_num_queries(4):
        assert [each.holder for each in refusals_of(group=group, here=HERE)] == ["A"] * 7


def test_an_orphan_says_whom_its_lock_is_refused_and_when_that_must_end() -> None:
    settle()
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(joined("C", 900), held("A", 1_000, []), granted("A", 1_400), refused("C", 2_000), at=2_000)
    later = 1_400 + TAKES_MS + 1
    told(held("A", later, []), held("B", later, [1]), held("C", later, []), at=later)

    rebalance_once(group=Group.objects.get().pk, now=T0 + later)

    fault = Finding.objects.get(kind="orphan queue")
    assert fault.ends_at == T0 + 61_400
    assert fault.sentence == (
        "No member consumes orders/east/0: all 3 members answered, and none holds it. C was refused its lock: A has it,"
        " though it has let the queue go: the lock ends within 60 s of that."
    )
    [proof] = Finding.objects.filter(kind="lock refused")
    assert "A has not had orders/east/0 since" in proof.proof[-1]
