"""What the released clients choose, step by step, through slow answers, isolations and brokers that failed."""

import json
from pathlib import Path
from typing import Any

import pytest

from rebalance_engine.producer import java
from rebalance_engine.producer.selection import Search, select
from tests.rebalance_engine.producer.luck import WrittenLuck, faults, info

CASES = json.loads((Path(__file__).parent / "vectors" / "selection.json").read_text())["cases"]
COUNTER = 7  # where the vectors' own counter of pickOneAtLeast began
AT = 1_000


def chosen(version: str, case: dict[str, Any]) -> list[str]:
    profile = java(version)
    given = info(profile, *case["brokers"], luck=WrittenLuck(case["index"]), queues=case["queues"])
    table = faults(profile, WrittenLuck(COUNTER))
    names = []
    for step in case["steps"]:
        if "learn" not in step:
            search = Search(given, table, profile, "A", AT, step["last_broker"])
            choice = select(search, avoids_faults=case["avoids_faults"])
            if choice.forgot is not None:
                table.remove(choice.forgot, AT)
            assert choice.queue is not None
            names.append(f"{choice.queue.broker}/{choice.queue.queue_id}")
        elif case["avoids_faults"]:
            flags = {"is_isolated": step["is_isolated"], "is_reachable": step["is_reachable"]}
            if not profile.knows_reachability:
                flags["is_reachable"] = True
            table.update(step["learn"], step["latency_ms"], AT, **flags)
    return names


@pytest.mark.parametrize("version", ["5.5.0", "4.9.7"])
def test_every_choice_is_that_of_the_released_client(version: str) -> None:
    differing = [
        (number, got, wanted)
        for number, case in enumerate(CASES)
        if (got := chosen(version, case)) != (wanted := [step[version] for step in case["steps"] if version in step])
    ]

    assert len(CASES) == 60
    assert sum(version in step for case in CASES for step in case["steps"]) > 1_000
    assert differing == []
