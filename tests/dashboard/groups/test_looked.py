from __future__ import annotations

import json

import pytest

from dashboard.groups.looked import Looked, look_words
from tests.house.project import ROOT

CASES = json.loads((ROOT / "tests/words/looks.json").read_text())
NOW = 1_000_000


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['looked_at']} {case['watched_at']}")
def test_how_old_a_row_is_is_said_as_javascript_says_it(case: dict[str, object]) -> None:
    times = {name: case.pop(name) for name in ("looked_at", "watched_at")}

    assert look_words(**times, now=NOW) == Looked(**case)  # type: ignore[arg-type] # as JSON has it
