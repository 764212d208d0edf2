import pytest

from rebalance_engine.producer import CPP, GO, java
from rebalance_engine.producer.profiles import AsyncIssue, FaultForm, IndexRule


@pytest.mark.parametrize(
    ("version", "rule", "form"),
    [
        ("4.2.0", IndexRule.CLAMPED, FaultForm.STICKS),
        ("4.7.1", IndexRule.CLAMPED, FaultForm.STICKS),
        ("4.8.0", IndexRule.ABSOLUTE, FaultForm.IGNORES),
        ("4.9.0", IndexRule.ABSOLUTE_READ, FaultForm.IGNORES),
        ("4.9.3", IndexRule.ABSOLUTE_READ, FaultForm.IGNORES),
        ("4.9.4", IndexRule.MASKED, FaultForm.IGNORES),
        ("4.9.8", IndexRule.MASKED, FaultForm.IGNORES),
        ("5.0.0", IndexRule.MASKED_SIGNED, FaultForm.IGNORES),
        ("5.1.0", IndexRule.MASKED_SIGNED, FaultForm.IGNORES),
        ("5.1.1", IndexRule.MASKED_SIGNED, FaultForm.AVOIDS),
        ("5.1.3", IndexRule.MASKED_SIGNED, FaultForm.AVOIDS),
        ("5.1.4", IndexRule.MASKED_SIGNED, FaultForm.FILTERS),
        ("5.5.0", IndexRule.MASKED_SIGNED, FaultForm.FILTERS),
    ],
)
def test_each_release_has_its_index_and_its_choice(version: str, rule: IndexRule, form: FaultForm) -> None:
    profile = java(version)

    assert (profile.index, profile.fault_form) == (rule, form)


@pytest.mark.parametrize(
    ("version", "codes"),
    [
        ("4.2.0", {1, 14, 16, 17, 204, 205}),
        ("5.2.0", {1, 14, 16, 17, 204, 205}),
        ("5.3.0", {1, 2, 14, 16, 17, 204, 205}),
        ("5.3.1", {1, 2, 14, 16, 17, 204, 205, 1500}),
    ],
)
def test_the_retryable_codes_grew(version: str, codes: set[int]) -> None:
    assert java(version).retry_codes == codes


def test_attempts_are_three_five_and_four() -> None:
    assert [java("5.3.0").attempts, CPP.attempts, GO.attempts] == [3, 5, 4]


def test_isolation_is_30_s_and_from_5_1_4_on_10_s_that_can_only_grow() -> None:
    old, new = java("5.1.3"), java("5.1.4")

    assert (old.isolation_ms, old.only_extends) == (30_000, False)
    assert (new.isolation_ms, new.only_extends) == (10_000, True)


def test_go_retries_fewer_codes_and_cpp_looks_at_none() -> None:
    assert GO.retry_codes == {17, 14, 1, 16}
    assert CPP.retry_codes == frozenset()


def test_only_java_has_one_budget_and_only_from_4_3_on() -> None:
    assert [p.has_one_budget for p in (java("4.2.0"), java("4.3.0"), CPP, GO)] == [False, True, False, False]


@pytest.mark.parametrize(
    ("version", "issue"),
    [("4.9.2", AsyncIssue.RAISES), ("4.9.3", AsyncIssue.RETRIES), ("5.2.0", AsyncIssue.RETRIES)],
)
def test_a_missing_connection_is_met_in_three_ways(version: str, issue: AsyncIssue) -> None:
    assert java(version).async_issue is issue
    assert java("5.3.0").async_issue is AsyncIssue.CALLS_BACK


def test_a_snapshot_is_taken_for_its_release() -> None:
    assert java("5.3.4-SNAPSHOT").caps_each_request
    assert java("5.2").only_extends


@pytest.mark.parametrize("version", ["4.1.0", "3.2.6", "", "five", "5.3.0.1", "5.3.0 "])
def test_what_is_no_known_release_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match="the Java client is"):
        java(version)


def test_reachability_and_the_rewritten_list_exclude_each_other() -> None:
    profiles = [java("4.9.7"), java("5.1.4"), CPP, GO]

    assert [(p.knows_reachability, p.mutates_queues) for p in profiles] == [
        (False, True),
        (True, False),
        (False, False),
        (False, False),
    ]


def test_a_profile_names_itself() -> None:
    assert [str(java("4.9.7")), str(CPP), str(GO)] == ["java 4.9.7", "cpp 2.x", "go 2.x"]
