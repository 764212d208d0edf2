from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.events import signs_of_life
from rebalance_engine.pipeline.holes import clues_of_holes, holes_of, table_of
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    java5,
    no_zones,
    persisted,
    read_events,
    read_holds,
    read_lines,
    removed,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1, Q2, Q3 = (QUEUE.format("east", number) for number in range(4))


def test_what_a_member_takes_and_lets_go_in_a_hole_of_its_log_lies_between_the_holes_edges(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A keeps queue 0, lets 1 go to B and takes 2 while its log lacks lines; 3 it lets go before, by its own line."""
    lines = [(1, added("g", queue)) for queue in (Q0, Q1, Q3)] + [(1.1, result("g", "A", [Q0, Q1, Q3]))]
    lines += [(at, persisted("g", "A", queue, 7)) for at in (6, 11, 16) for queue in (Q0, Q1, Q3)]
    lines += [(17, removed("g", Q3)), (17.1, result("g", "A", [Q0, Q1]))]
    lines += [(at, persisted("g", "A", queue, 7)) for at in (51, 56) for queue in (Q0, Q2)]
    taken = [
        (30, added("g", Q1)),
        (30.1, result("g", "B", [Q1])),
        *((at, persisted("g", "B", Q1, 7)) for at in (35, 40, 45, 50, 55)),
    ]
    for host, told in {"web1": lines, "web2": taken}.items():
        (tmp_path / host).mkdir()
        (tmp_path / host / "a.log").write_text("".join(java5(at, line) for at, line in told))

    spans = read_holds(spark, tmp_path).localCheckpoint()
    said = read_events(spark, tmp_path)
    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark))

    names = ("from_after_ms", "from_ms", "until_after_ms", "until_ms")
    assert sorted(
        (row["queue_id"], *(None if row[name] is None else (row[name] - MIDNIGHT_MS) / 1_000 for name in names))
        for row in spans.where("client_id = 'A'").collect()
    ) == [(0, None, 1, None, 56), (1, None, 1, 17.1, 32), (2, 17.1, 51, None, 56), (3, None, 1, None, 17)]
    found = holes_of(spans, said, life)
    (hole,) = table_of(found).collect()
    assert (hole["group"], hole["host"], hole["client"], hole["day"]) == ("g", "web1", "A", "2026-11-21")
    assert (hole["at_ms"] - MIDNIGHT_MS, hole["until_ms"] - MIDNIGHT_MS) == (17_100, 51_000)
    (clue,) = clues_of_holes(found, spans).collect()
    assert (clue["what"], clue["at_ms"], clue["number"]) == ("hole", hole["at_ms"], hole["until_ms"])
    assert clues_of_holes(found, spans.where("client_id = 'B'")).isEmpty()


def test_every_hole_of_a_log_is_found_also_where_its_member_has_others_behind_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A's log has two: queue 0, which it keeps in the first, is queue 1 behind the second. B has others behind each."""
    held = {"A": (Q0, Q0, Q1), "B": (Q2, Q3, Q2)}
    for client, queues in held.items():
        lines = [(1.0, added("g", queues[0])), (1.1, result("g", client, [queues[0]]))]
        for began, queue in zip((6, 51, 96), queues, strict=True):
            lines += [(began + more, persisted("g", client, queue, 7)) for more in (0, 5, 10)]
        (tmp_path / client).mkdir()
        (tmp_path / client / "a.log").write_text("".join(java5(at, line) for at, line in lines))
    spans = read_holds(spark, tmp_path).localCheckpoint()

    life = signs_of_life(read_lines(spark, tmp_path), no_zones(spark))
    found = table_of(holes_of(spans, read_events(spark, tmp_path), life))

    holes = [(row["client"], *((row[name] - MIDNIGHT_MS) / 1_000 for name in ("at_ms", "until_ms")))
             for row in found.collect()]  # fmt: skip
    assert sorted(holes) == [(client, *times) for client in "AB" for times in ((16, 51), (61, 96))]
    names = ("from_after_ms", "from_ms", "until_after_ms", "until_ms")
    told = {
        (row["client_id"], row["queue_id"], *(row[name] and (row[name] - MIDNIGHT_MS) / 1_000 for name in names))
        for row in spans.collect()
    }
    assert told == {
        ("A", 0, None, 1, 61, 96),
        ("A", 1, 61, 96, None, 106),
        ("B", 2, None, 1, 16, 51),
        ("B", 2, 61, 96, None, 106),
        ("B", 3, 16, 51, 61, 96),
    }


def test_who_lets_go_all_in_a_hole_and_goes_on_without_anything_had_it_until_then(
    spark: SparkSession, tmp_path: Path
) -> None:
    """That A goes on tells it alone. B removes its queue after it was silent, C keeps it."""
    beat = "send heart beat to broker[east 0 10.0.0.9:10911] success"
    last: dict[str, list[tuple[float, str]]] = {
        "g": [],
        "h": [(52, removed("h", Q0))],
        "i": [(80, persisted("i", "C", Q0, 9))],
    }
    for (group, more), client in zip(last.items(), "ABC", strict=True):
        lines = [(1.0, added(group, Q0)), *((at, persisted(group, client, Q0, 7)) for at in (6, 11, 16))]
        lines += [(50, beat), *more, (90, beat)]
        (tmp_path / group).mkdir()
        (tmp_path / group / "a.log").write_text("".join(java5(at, line) for at, line in lines))

    rows = read_holds(spark, tmp_path).collect()

    names = ("until_after_ms", "until_ms")
    told = sorted(
        (row["group"], *(None if row[name] is None else (row[name] - MIDNIGHT_MS) / 1_000 for name in names))
        for row in rows
    )
    assert told == [("g", 16, 50), ("h", None, 52), ("i", None, 90)]
