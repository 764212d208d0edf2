"""Whole jobs over the recorded runs: what the logs tell is what truly happened."""

import gzip
import json
import re
import shutil
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, assume, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline import clients, events, holds, stories, zones
from rebalance_engine.pipeline.jobs import STORIES, Asked, Told, run_logs
from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.progress import Progress
from rebalance_engine.pipeline.reports import read_report, read_table
from rebalance_engine.pipeline.sources import find_files
from rebalance_engine.pipeline.summary import summary
from rebalance_engine.pipeline.wording import Row
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    java4,
    java5,
    read_lines,
    removed,
    result,
)
from tests.rebalance_engine.pipeline.runs import NAMES, OTHER_SHAPES, as_holds, late_looks, logs, true_holds, truth

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RUNS = (*NAMES, *OTHER_SHAPES)
WITHIN_MS = 250


def ignore(line: str) -> None:
    assert line


class Stopped(Exception):
    """A run is stopped between two stages."""


def stop_behind_lines(line: str) -> None:
    if line == "time zones ...":
        raise Stopped


@dataclass
class Run:
    """What is told of one recorded run."""

    holds: list[Row]
    handoffs: list[Row]
    returns: list[Row]


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Run]:
    """Give what every run comes to, each a cluster with hosts of its own: told in one go, a fifth of the time."""
    place, frames = tmp_path_factory.mktemp("runs"), []
    for name in RUNS:
        (place / name).mkdir()
        for host in logs(name).iterdir():
            (place / name / f"{name}-{host.name}").symlink_to(host)
        frames.append(read_lines(spark, place / name, name))
    found = reduce(DataFrame.unionByName, frames).localCheckpoint()
    known = zones.infer_zones(found).localCheckpoint()
    assert found.where("wall_ms IS NULL").count() == 0
    assert events.refused_hosts(found, known).collect() == []
    said = events.events_of(found, known).localCheckpoint()
    changes = clients.changes_of(said).localCheckpoint()
    life = events.signs_of_life(found, known).localCheckpoint()
    spans = holds.spans_of(said, changes, life).localCheckpoint()
    stories_told = stories.stories_of(spans, stories.clues_of(said, changes, spans, life)).localCheckpoint()
    tables = {
        "holds": holds.holds_of(spans),
        **{table: stories.of_kind(stories_told, *STORIES[table]) for table in ("handoffs", "returns")},
    }
    rows = {table: [row.asDict() for row in frame.collect()] for table, frame in tables.items()}
    return {
        name: Run(**{table: [row for row in those if row["cluster"] == name] for table, those in rows.items()})
        for name in RUNS
    }


@pytest.mark.parametrize("name", RUNS)
def test_every_take_and_release_of_a_real_run_is_told_and_none_more(told: dict[str, Run], name: str) -> None:
    assert_all_are_told(told[name], name)


def test_a_job_tells_a_run_from_its_files_to_its_tables(spark: SparkSession, tmp_path: Path) -> None:
    """The host of c1 was renamed meanwhile, and there is an earlier copy of its log."""
    name, source, target = "scale_out-4.9.7", tmp_path / "logs", tmp_path / "out"
    shutil.copytree(logs(name), source)
    log = source / "c1" / "rocketmq_client.log.gz"
    lines = re.split(rb"(?m)^(?=20\d\d-)", gzip.decompress(log.read_bytes()))
    half, third = len(lines) // 2, len(lines) // 3
    log.write_bytes(gzip.compress(b"".join(lines[:half])))
    for host, part in (("c1-now", lines[half:]), ("copied", lines[third : 2 * third])):
        (source / host).mkdir()
        (source / host / log.name).write_bytes(gzip.compress(b"".join(part)))

    told = run_logs(spark, Asked(source=source, target=target), find_files(source), Progress(ignore))

    assert (told.refused, told.unparsed, told.told_anew) == ([], 0, ["g_orders"])
    assert_all_are_told(Run(**{table: read_table(target / table) for table in ("holds", "handoffs", "returns")}), name)


def assert_all_are_told(run: Run, name: str) -> None:
    found, true = as_holds(run.holds), true_holds(name)
    assert {key: [ended for _, _, ended in spans] for key, spans in found.items()} == {
        key: [ended for _, _, ended in spans] for key, spans in true.items()
    }
    late = late_looks(name)
    apart = [
        (key, seen, real)
        for key in true
        for seen, real in zip(found[key], true[key], strict=True)
        if not real[0] - late.get((key[0], key[4], real[0]), 0) - WITHIN_MS <= seen[0] <= real[0] + WITHIN_MS
        or abs(seen[1] - real[1]) > WITHIN_MS
    ]
    assert apart == []
    assert handoffs_that_differ(run.handoffs, name) == []
    assert duplicates_under_reported([*run.handoffs, *run.returns], name) == []


def handoffs_that_differ(rows: Iterable[Any], name: str) -> list[Any]:
    """Compare by queue and both clients, in the order of time."""
    found: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    true: dict[Any, list[tuple[int, ...]]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: row["taken_ms"]):
        queue = f"{row['topic']}/{row['broker']}/{row['queue_id']}"
        times = (row["released_ms"], row["taken_ms"], row["unowned_ms"], row["overlap_ms"])
        found[row["group"], queue, row["from_client"], row["to_client"]].append(times)
    told, late = truth(name), late_looks(name)
    ids = told["client_ids"]
    for one in told["handoffs"]:
        within = WITHIN_MS + late.get((one["group"], ids[one["to"]], one["taken"]), 0)
        real = (one["released"], one["taken"], one["unowned_ms"], one["overlap_ms"], within)
        if ids[one["from"]] != ids[one["to"]]:  # a process that took its own queue back is no handoff
            true[one["group"], one["queue"], ids[one["from"]], ids[one["to"]]].append(real)
    return [
        (key, found[key], true[key])
        for key in found.keys() | true.keys()
        if len(found[key]) != len(true[key])
        or any(
            abs(a - b) > within
            for seen, (*those, within) in zip(found[key], true[key], strict=True)
            for a, b in zip(seen, those, strict=True)
        )
    ]


def duplicates_under_reported(rows: Iterable[dict[str, Any]], name: str) -> list[Any]:
    """Name the queues of which more was consumed twice than all their bounds together allow."""
    most = defaultdict(list)
    for row in rows:
        most[row["group"], f"{row['topic']}/{row['broker']}/{row['queue_id']}"].append(row["duplicates_most"])
    true = {(one["group"], one["queue"]): one["count"] for one in truth(name)["duplicates"]}
    return [(key, count) for key, count in true.items() if None not in most[key] and sum(most[key]) < count]


@dataclass(frozen=True)
class Member:
    """A client's log: its stays with a queue, as (seconds before, seconds held); what of it is there at first.

    ``percent``: of its bytes, so that a line may be cut; ``is_doubled``: its first half comes late, as a rolled log.
    """

    stays: list[tuple[int, int]]
    percent: int
    is_doubled: bool


MEMBERS = st.builds(
    Member,
    stays=st.lists(st.tuples(st.integers(1, 20), st.integers(1, 20)), min_size=1, max_size=3),
    percent=st.just(100) | st.integers(0, 100),
    is_doubled=st.booleans(),
)
GROUPS = st.lists(st.lists(MEMBERS, min_size=1, max_size=2), min_size=6, max_size=6)


@settings(max_examples=1, phases=[Phase.generate], deadline=None, database=None)  # of a dozen logs, in four runs
@given(GROUPS)
def test_late_and_repeated_input_changes_its_days_and_groups_only_and_comes_to_what_one_run_over_all_tells(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, groups: list[list[Member]]
) -> None:
    """Each group has a day of its own; the run that reads what is late is stopped, and the next one goes on."""
    cut = [any(0 < member.percent < 100 for member in group) for group in groups]
    assume(any(cut) and not all(cut) and any(member.is_doubled for group in groups for member in group))
    folder = tmp_path_factory.mktemp("late")
    source, target, at_once = folder / "in", folder / "out", folder / "at-once"

    def run(target: Path, say: Callable[[str], None] = ignore) -> Told:
        known = read_notes(target).of("default")
        fresh = [file for file in (find_files(source) if source.is_dir() else []) if known.is_fresh(file)]
        return run_logs(spark, Asked(source=source, target=target), fresh, Progress(say))

    logs = {
        source / f"g{day}-{number}" / "a.log": (day, member)
        for day, group in enumerate(groups)
        for number, member in enumerate(group)
    }
    # The input ends for all at one time: until then a queue that nobody takes any more is unowned.
    put_once(source / "last" / "a.log", java5(7 * 86_400, "RebalanceService service end").encode())
    for path, (day, member) in logs.items():
        whole = "".join(stays_of(member, day, path.parent.name)).encode()
        put_once(path, whole[: len(whole) * member.percent // 100])
    run(target)
    for path, (day, member) in logs.items():
        lines = stays_of(member, day, path.parent.name)
        put_once(path, "".join(lines).encode())
        if member.is_doubled:
            put_once(path.with_name("a.log.1"), "".join(lines[: len(lines) // 2]).encode())
    with pytest.raises(Stopped):
        run(target, stop_behind_lines)
    late, repeated = run(target), run(target)
    run(at_once)

    of_late = {day for day, member in logs.values() if member.percent < 100}
    assert {*late.told_anew} <= {f"g{day}" for day in of_late}
    days = {f"default/2026-11-{21 + day}" for day in of_late}
    elsewhere = [(table, key) for table, keys in late.changed.items() for key in keys if key not in days]
    assert [one for one in elsewhere if one[0] != "inputs"] == []  # the notes of what was told from what, of no day
    assert (repeated.told_anew, {*map(tuple, repeated.changed.values())}) == ([], {()})
    for table in (*STORIES, "events", "spans", "costs"):
        assert rows_of(target / table) == rows_of(at_once / table), table
    told = [(row["client_id"], row["from_ms"], row["until_ms"], row["ended"]) for row in read_table(target / "holds")]
    assert sorted(map(str, told)) == sorted(
        str((path.parent.name, *times, "released"))
        for path, (day, member) in logs.items()
        for times in times_of(member, day)
    )


def times_of(member: Member, day: int) -> list[tuple[int, int]]:
    """Say from when until when a member holds its queue, in ms."""
    edges = [*accumulate((seconds for stay in member.stays for seconds in stay), initial=100)][1:]
    begins = MIDNIGHT_MS + day * 86_400_000
    return [
        (begins + since * 1000, begins + until * 1000) for since, until in zip(edges[::2], edges[1::2], strict=True)
    ]


def stays_of(member: Member, day: int, client: str) -> list[str]:
    """Write a member's log, line by line."""
    queue, group, lines = QUEUE.format("east", 0), f"g{day}", []
    for since_ms, until_ms in times_of(member, day):
        since, until = (since_ms - MIDNIGHT_MS) / 1000, (until_ms - MIDNIGHT_MS) / 1000
        lines += [java5(since, added(group, queue)), java5(since, result(group, client, [queue]))]
        lines += [java5(until, removed(group, queue)), java5(until, result(group, client, []))]
    return lines


def put_once(path: Path, content: bytes) -> None:
    """Write a file, if there is anything to write and it does not say so already."""
    if content and not (path.exists() and path.read_bytes() == content):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def rows_of(table: Path) -> list[str]:
    """Give a table's rows but for the lines' numbers in their files, which only grow: another reading has others."""
    return sorted(
        str({name: value for name, value in row.items() if not name.endswith("place")}) for row in read_table(table)
    )


def test_a_host_whose_zone_nobody_tells_is_refused_by_name_until_it_is_given(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, target = tmp_path / "in", tmp_path / "out"
    queue = QUEUE.format("east", 0)
    (source / "web1").mkdir(parents=True)
    lines = [java4(1, added("g", queue), zone_hours=5.5), java4(2, result("g", "A", [queue]), zone_hours=5.5)]
    (source / "web1" / "a.log").write_text("".join(lines), newline="")

    said: list[str] = []
    refused = run_logs(spark, Asked(source=source, target=target), find_files(source), Progress(said.append))
    before = spark.read.parquet(str(target / "holds")).count()
    given = run_logs(spark, Asked(source=source, target=target, zones={"web1": "+05:30"}), [], Progress(ignore))
    after = spark.read.parquet(str(target / "holds")).collect()

    assert said[0] == "lines of 1 file ..."
    assert "refused: 2 lines of web1 (java4)" in refused.refused[0]
    assert "--zone web1=" in refused.refused[0]
    assert before == 0
    assert (given.refused, len(after)) == ([], 1)


def test_what_is_no_log_is_counted_and_keeps_nobody_from_reading_the_logs_beside_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, target, queue = tmp_path / "in", tmp_path / "out", QUEUE.format("east", 0)
    for name in ("a.log", "b.log.bz2", "c.zst"):  # whatever they are called
        put_once(
            source / name / name, "".join([java5(1, added("g", queue)), java5(2, result("g", name, [queue]))]).encode()
        )
    put_once(source / "web1" / "README", b"# how to read these\nsee the wiki\n")
    put_once(source / "web1" / "core.snappy", b"\x7fELF\x02\x01\x00\x00" * 200)
    put_once(source / "web1" / "wide.log", "\ufefftext".encode("utf-16"))
    (source / "web1" / "empty.log").touch()
    (source / "web1" / "nowhere.log").symlink_to(tmp_path / "nowhere")
    files = find_files(source)
    troubles = {file.path: file.trouble for file in files if file.trouble}

    told = run_logs(spark, Asked(source=source, target=target, troubles=troubles), files, Progress(ignore))

    assert (told.records, told.unparsed) == (9, 3)
    assert {row["client_id"] for row in read_table(target / "holds")} == {"a.log", "b.log.bz2", "c.zst"}
    assert {Path(path).name for path in troubles} == {"README", "core.snappy", "wide.log", "empty.log", "nowhere.log"}
    assert read_notes(target).of("default").troubles == troubles
    assert "web1/core.snappy: no log that is known" in summary(read_report(target))


def test_a_file_that_is_rolled_away_meanwhile_is_named_and_read_under_its_new_name(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, target, queue = tmp_path / "in", tmp_path / "out", QUEUE.format("east", 0)
    for name in ("a", "b"):
        text = java5(1, added("g", queue)) + java5(2, result("g", name, [queue]))
        put_once(source / name / "a.log", text.encode())
    planned, rolled = find_files(source), source / "b" / "a.log.1"
    (source / "b" / "a.log").rename(rolled)

    told = run_logs(spark, Asked(source=source, target=target), planned, Progress(ignore))
    of_first = {row["client_id"] for row in read_table(target / "holds")}
    fresh = [file for file in find_files(source) if read_notes(target).of("default").is_fresh(file)]
    run_logs(spark, Asked(source=source, target=target), fresh, Progress(ignore))

    assert list(told.gone) == ["b/a.log"]
    assert of_first == {"a"}
    assert [file.path for file in fresh] == ["b/a.log.1"]
    assert {row["client_id"] for row in read_table(target / "holds")} == {"a", "b"}
    assert read_notes(target).of("default").troubles == {}


def test_clusters_in_one_folder_are_told_apart_and_the_zone_of_one_is_not_the_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, target, queue = tmp_path / "in", tmp_path / "out", QUEUE.format("east", 0)
    put_once(source / "web1" / "a.log", (java4(1, added("g", queue)) + java4(2, result("g", "A", [queue]))).encode())

    for cluster, zone in (("default", "+00:00"), ("b", "+01:00")):
        fresh = [file for file in find_files(source) if read_notes(target).of(cluster).is_fresh(file)]
        asked = Asked(source=source, target=target, cluster=cluster, zones={"web1": zone})
        run_logs(spark, asked, fresh, Progress(ignore))

    begun = {row["cluster"]: row["from_ms"] for row in read_table(target / "spans")}
    assert begun == {"default": MIDNIGHT_MS + 1_000, "b": MIDNIGHT_MS + 1_000 - 3_600_000}
    assert summary(read_report(target)).startswith("2 groups, ")


def test_what_another_version_read_is_read_again_without_its_logs(spark: SparkSession, tmp_path: Path) -> None:
    """As a version before told nothing of itself, and another event."""
    source, target = tmp_path / "in", tmp_path / "out"
    put_once(source / "web1" / "a.log", java5(1, added("g", QUEUE.format("east", 0))).encode())
    asked = Asked(source=source, target=target)
    run_logs(spark, asked, find_files(source), Progress(ignore))
    path = target / "_evenkeel.json"
    notes = json.loads(path.read_text())
    notes["clusters"]["default"].pop("read_by", None)
    days = [*notes["partitions"]["events"]]
    notes["partitions"]["events"] = dict.fromkeys(days, "as another version told it")
    path.write_text(json.dumps(notes))

    anew, repeated = (run_logs(spark, asked, [], Progress(ignore)).changed.get("events") for _ in range(2))

    assert (anew, repeated) == (days, None)


def test_an_empty_folder_gives_an_empty_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()

    run_logs(spark, Asked(source=tmp_path / "in", target=tmp_path / "out"), [], Progress(ignore))

    assert spark.read.parquet(str(tmp_path / "out" / "holds")).count() == 0
