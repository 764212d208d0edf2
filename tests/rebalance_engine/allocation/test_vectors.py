"""What the released Java client 5.5.0 computed (5.3.3 and 4.9.7 give the same bytes), against the engine."""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from pathlib import Path
from random import Random
from typing import Any

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate, strategy
from rebalance_engine.model import utf16

VECTORS = Path(__file__).parent / "vectors" / "allocation.jsonl.gz"


def cases_by_strategy() -> dict[str, list[dict[str, Any]]]:
    cases = defaultdict(list)
    with gzip.open(VECTORS, "rt", encoding="utf-8") as lines:
        for line in lines:
            case = json.loads(line)
            cases[case["strategy"]].append(case)
    return dict(cases)


CASES = cases_by_strategy()


def queues_of(rows: list[list[Any]]) -> list[MessageQueue]:
    return [MessageQueue(*row) for row in rows]


def params_of(case: dict[str, Any]) -> dict[str, Any]:
    params = dict(case["params"])
    if "config" in params:
        params["config"] = {client: queues_of(rows) for client, rows in params["config"].items()}
    if "room_is_first_utf16_units" in params:
        units = params.pop("room_is_first_utf16_units")
        params["broker_room"] = lambda queue: first_units(queue.broker, units)
        params["client_room"] = lambda client_id: first_units(client_id, units)
    return params


def first_units(name: str, units: int) -> str:
    return utf16(name)[: 2 * units].decode("utf-16-be", "surrogatepass")


def test_the_vectors_are_all_there() -> None:
    assert sum(map(len, CASES.values())) == 1800
    assert set(CASES) >= {
        "AVG",
        "AVG_BY_CIRCLE",
        "CONFIG",
        "MACHINE_ROOM",
        "CONSISTENT_HASH",
        "MACHINE_ROOM_NEARBY-AVG",
    }


@pytest.mark.parametrize("name", sorted(CASES))
def test_the_whole_group_gets_what_java_gives_each_member(name: str) -> None:
    for case in CASES[name]:
        queues, clients = queues_of(case["queues"]), list(case["clients"])
        Random(case["case"]).shuffle(queues)
        Random(case["case"]).shuffle(clients)

        allocated = allocate(name, queues, clients, **params_of(case))

        asked = {client: queues_of(rows) for client, rows in case["allocated"].items() if client in case["clients"]}
        assert allocated == asked, case["case"]


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_member_computing_alone_gets_what_java_gives_it(name: str) -> None:
    for case in CASES[name]:
        member = strategy(name, **params_of(case)).member
        assert member is not None

        for client, rows in case["allocated"].items():
            assert (member(client, queues_of(case["queues"]), case["clients"]) or []) == queues_of(rows), case["case"]


def test_a_short_nearby_name_with_an_inner_strategy_means_the_same() -> None:
    case = CASES["MACHINE_ROOM_NEARBY-AVG"][0]
    queues, params = queues_of(case["queues"]), params_of(case)

    assert allocate("MACHINE_ROOM_NEARBY", queues, case["clients"], **params) == allocate(
        "MACHINE_ROOM_NEARBY-AVG", queues, case["clients"], **params
    )
