import pytest

from rebalance_engine.events import FindingCleared, FindingConfirmed, FindingSuspected
from tests.rebalance_engine.facts import plain


def test_a_finding_keeps_name_and_subject_from_suspicion_to_end() -> None:
    same = {"finding": "orphan queue", "subject": "orders/east/3", "group": "orders"}

    stages = [plain(kind, **same) for kind in (FindingSuspected, FindingConfirmed, FindingCleared)]

    assert {(stage.finding, stage.subject) for stage in stages} == {("orphan queue", "orders/east/3")}


def test_a_finding_may_be_about_the_cluster() -> None:
    assert plain(FindingSuspected, finding="storm", proof=("20 rounds in 60 s",)).group is None


def test_a_finding_without_a_name_is_refused() -> None:
    with pytest.raises(ValueError, match=r"FindingSuspected\.finding is ''"):
        plain(FindingSuspected, finding="")


def test_an_empty_row_is_no_proof() -> None:
    with pytest.raises(ValueError, match=r"FindingSuspected\.proof is \('',\)"):
        plain(FindingSuspected, proof=("",))
