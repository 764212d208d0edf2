from __future__ import annotations

import json
from typing import Any

import pytest

from dashboard.groups.models.rounds import RoundState
from dashboard.groups.words import GRAVE, cause_words, departure_words, round_state_words, state_of
from dashboard.push.messages import Row
from rebalance_engine.events import Cause, Departure
from tests.house.project import ROOT

CASES = json.loads((ROOT / "tests/words/states.json").read_text())
REST = dict.fromkeys(["round", "round_opened_at", "round_closed_at", "round_cause", "round_moves", "model"])


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["words"])
def test_states_are_said_as_javascript_says_them(case: dict[str, Any]) -> None:
    row = Row(id=1, group="g", strategy="", **{**REST, **case["row"]})

    state = state_of(row)

    assert (state.kind, state.words) == (case["kind"], case["words"])


def test_every_kind_has_a_case() -> None:
    assert {case["kind"] for case in CASES} == set(GRAVE)


def test_every_word_of_the_engine_has_one_for_people() -> None:
    assert [cause_words(each.value) for each in Cause if cause_words(each.value) == "unknown"] == ["unknown"]
    assert len({departure_words(each.value) for each in Departure}) == len(Departure)
    assert [round_state_words(each.value) for each in RoundState] == [each.value for each in RoundState]
    assert cause_words(None) == "unknown"
    assert departure_words(None) == "gone"
