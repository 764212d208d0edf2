"""The recorded runs: real logs of real clients and brokers, and what truly happened."""

import gzip
import json
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

RUNS = Path(__file__).parent / "runs"
NAMES = ("scale_out-5.5.0", "scale_out-4.9.7", "orderly-5.5.0", "broker_away-5.5.0")
# many_groups: three topics; processes of three groups, one orderly, two of one client id; a 4.9.7 member in New York; a
# group that disagrees on its strategy; a client that is killed, and one that stops, and comes back under its id.
# shared_log: two processes of one log, one of which is killed and comes back; clients in New York, Kolkata and UTC; an
# orderly member killed and back; a broker killed.
OTHER_SHAPES = ("many_groups-5.5.0", "shared_log-4.9.7")
LOOKED_EVERY_MS = 50
ENDED = {"released": "released", "stopped": "stopped", "killed": "lost", "still held": "open"}

Key = tuple[str, str, str, int, str]
Span = tuple[int, int, str]


def logs(name: str) -> Path:
    return RUNS / name / "logs"


def truth(name: str) -> dict[str, Any]:
    with gzip.open(RUNS / name / "truth.json.gz", "rt") as file:
        return dict(json.load(file))


def true_holds(name: str) -> dict[Key, list[Span]]:
    told = truth(name)
    found: dict[Key, list[Span]] = defaultdict(list)
    for queue in told["queues"]:
        topic, broker, queue_id = queue["queue"].rsplit("/", 2)
        for held in queue["held"]:
            key = (queue["group"], topic, broker, int(queue_id), told["client_ids"][held["client"]])
            found[key].append((held["from"], held["until"], ENDED[held["ended"]]))
    return {key: sorted(spans) for key, spans in found.items()}


def late_looks(name: str) -> dict[tuple[str, str, int], int]:
    """Say how many ms before a look, given as (group, client id, time), what it showed may have begun.

    Truth comes from looks 50 ms apart, but a process of several consumers began to look when the last one had started:
    its first look shows what the others took since they themselves had.
    """
    told = truth(name)
    began, joined = defaultdict(list), {}
    for member in told["members"]:
        if member["what"] == "process started":
            began[member["ms"]].append(member["client"])
        elif member["what"] == "joined":
            joined[member["client"]] = member["ms"]
    last = {client: max(joined.get(one, 0) for one in clients) for clients in began.values() for client in clients}
    first: dict[str, int] = {}
    for queue in told["queues"]:
        for held in queue["held"]:
            first[held["client"]] = min(held["from"], first.get(held["client"], held["from"]))
    groups = {member["client"]: member["group"] for member in told["members"]}
    return {
        (groups[client], told["client_ids"][client], at): at - joined[client]
        for client, at in first.items()
        if joined[client] < last[client] <= at <= last[client] + LOOKED_EVERY_MS
    }


def as_holds(rows: Iterable[Any]) -> dict[Key, list[Span]]:
    found: dict[Key, list[Span]] = defaultdict(list)
    for row in rows:
        key = (row["group"], row["topic"], row["broker"], row["queue_id"], row["client_id"])
        found[key].append((row["from_ms"], row["until_ms"], row["ended"]))
    return {key: sorted(spans) for key, spans in found.items()}


def consumed_twice(name: str) -> list[dict[str, Any]]:
    """Give every message that was consumed more than once: group, queue, offset, and who got it when (ms, client)."""
    with gzip.open(RUNS / name / "twice.json.gz", "rt") as file:
        return list(json.load(file))
