from __future__ import annotations

from dashboard.groups.acknowledging import say_acknowledged
from dashboard.groups.told import Told
from rebalance_engine.findings import Finding, FindingKind

RETRY, OTHER = "%RETRY%g/east/0", "orders/east/1"
BY_ADA = Told(3, {}, "ada", "C is not there yet.", frozenset({RETRY, "C"}))


def fault(kind: FindingKind, subject: str) -> Finding:
    return Finding(kind, "g", subject, f"About {subject}.", ("a row",))


UNOWNED, GAP = fault(FindingKind.RETRY_UNOWNED, RETRY), fault(FindingKind.BY_CONFIG_GAP, RETRY)
SAYS = " Acknowledged in by-config version 3 by ada: C is not there yet."


def test_what_was_acknowledged_is_one_fault_that_says_by_whom() -> None:
    [found] = say_acknowledged((UNOWNED, GAP), BY_ADA)

    assert (found.kind, found.sentence) == (FindingKind.RETRY_UNOWNED, UNOWNED.sentence + SAYS)
    assert (found.subject, found.proof) == (UNOWNED.subject, UNOWNED.proof)


def test_a_gap_that_nothing_else_tells_stays_and_says_it_too() -> None:
    found = list(say_acknowledged((GAP, fault(FindingKind.BY_CONFIG_GAP, "C")), BY_ADA))

    assert [each.sentence.endswith(SAYS) for each in found] == [True, True]


def test_what_nobody_acknowledged_stays_as_it_is() -> None:
    found = (
        fault(FindingKind.ORPHAN_QUEUE, OTHER),
        fault(FindingKind.BY_CONFIG_GAP, OTHER),
        fault(FindingKind.STORM, RETRY),
    )

    assert tuple(say_acknowledged(found, BY_ADA)) == found
    assert tuple(say_acknowledged((UNOWNED, GAP), None)) == (UNOWNED, GAP)
