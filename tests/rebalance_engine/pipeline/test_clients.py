from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.clients import changes_of
from tests.rebalance_engine.pipeline.frames import QUEUE, added, java5, persisted, read_events, removed, result

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)


def clients(spark: SparkSession, folder: Path, *lines: str) -> list[tuple[str, int | None, str | None]]:
    return [row for row in told(spark, folder, *lines) if row[0] in ("added", "removed")]


def told(spark: SparkSession, folder: Path, *lines: str) -> list[tuple[str, int | None, str | None]]:
    (folder / "web1").mkdir()
    (folder / "web1" / "a.log").write_text("".join(lines))
    rows = changes_of(read_events(spark, folder)).orderBy("at_ms", "place").collect()
    return [(row["what"], row["queue_id"], row["client_id"]) for row in rows]


def test_the_only_client_of_a_group_made_every_change(spark: SparkSession, tmp_path: Path) -> None:
    assert clients(spark, tmp_path, java5(1, added("g", Q0)), java5(9, persisted("g", "A", Q0, 1))) == [
        ("added", 0, "A")
    ]


def test_a_change_belongs_to_the_next_result_that_agrees_with_it(spark: SparkSession, tmp_path: Path) -> None:
    """B adds what A gives up, in rounds that overlap: B's result is the first after A's removal, but has the queue."""
    found = clients(
        spark,
        tmp_path,
        java5(0, result("g", "A", [Q0, Q1])),
        java5(5, removed("g", Q1)),
        java5(5.05, added("g", Q1)),
        java5(5.1, result("g", "B", [Q1], members=2)),
        java5(5.2, result("g", "A", [Q0], members=2)),
    )

    assert found == [("removed", 1, "A"), ("added", 1, "B")]


def test_processes_one_after_another_in_one_log_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    found = clients(
        spark,
        tmp_path,
        java5(1, added("g", Q0)),
        java5(1.1, result("g", "1@1", [Q0])),
        java5(60, added("g", Q0)),
        java5(60.1, result("g", "1@2", [Q0])),
    )

    assert found == [("added", 0, "1@1"), ("added", 0, "1@2")]


def test_a_broadcasting_member_is_named_by_its_instance(spark: SparkSession, tmp_path: Path) -> None:
    made = "Created a new client Instance, InstanceIndex:0, ClientID:10.0.0.1@A, ClientConfig:ClientConfig{x}"

    assert clients(spark, tmp_path, java5(0, made), java5(1, added("g", Q0))) == [("added", 0, "10.0.0.1@A")]


def test_a_start_and_a_stop_in_a_shared_log_are_of_the_client_whose_instance_is_beside_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Whoever speaks next, or spoke last, is another one, who persists every 5 s."""
    made = "Created a new client Instance, InstanceIndex:0, ClientID:B, ClientConfig:ClientConfig{x}"
    left = "unregister client[Producer: null Consumer: g] from broker[east 0 10.0.0.9:10911] success"

    def persists(at: float) -> str:
        return java5(at, persisted("g", "A", Q0, 1))

    found = told(
        spark,
        tmp_path,
        java5(0, result("g", "A", [Q0, Q1])),
        java5(10, "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false"),
        persists(10.1),
        java5(10.2, made),
        java5(12, result("g", "B", [Q1], members=2)),
        persists(19.8),
        java5(20, left),
        persists(20.1),
        java5(20.2, "the client factory [B] shutdown OK"),
        persists(20.201),
        java5(20.202, "the consumer [g] shutdown OK"),
        persists(30),
    )

    assert found == [
        ("consumer starting", None, "B"),
        ("unregistered", None, "B"),
        ("consumer stopped", None, "B"),
    ]


def test_nobody_is_named_where_nothing_tells(spark: SparkSession, tmp_path: Path) -> None:
    assert clients(spark, tmp_path, java5(1, added("g", Q0))) == [("added", 0, None)]


def test_who_could_not_start_ends_nothing_of_the_member_beside_it(spark: SparkSession, tmp_path: Path) -> None:
    """It says what every consumer says that starts and stops, names itself by its instance alone, and holds nothing."""
    starts = "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false"

    def made(client: str) -> str:
        return f"Created a new client Instance, InstanceIndex:0, ClientID:{client}, ClientConfig:ClientConfig{{x}}"

    found = told(
        spark,
        tmp_path,
        *(java5(0, starts), java5(0.2, made("A")), java5(0.3, "the consumer [g] start OK.")),
        *(java5(1, added("g", Q0)), java5(1.1, result("g", "A", [Q0]))),
        *(java5(10, starts), java5(10.2, made("X")), java5(10.3, "the consumer [g] start OK.")),
        *(java5(14, "the client factory [X] shutdown OK"), java5(14.001, "the consumer [g] shutdown OK")),
        java5(15, "Created a new client Instance, InstanceIndex:1, ClientID:producer, ClientConfig:ClientConfig{x}"),
        *(java5(20, "the client factory [A] shutdown OK"), java5(20.001, "the consumer [g] shutdown OK")),
    )

    assert found == [
        ("consumer starting", None, "A"),
        ("added", 0, "A"),
        ("consumer starting", None, "X"),
        ("consumer stopped", None, "X"),
        ("consumer stopped", None, "A"),
    ]


def test_a_member_that_goes_on_neither_started_nor_stopped(spark: SparkSession, tmp_path: Path) -> None:
    """Somebody else did, in each process in another way; in the last it did itself, and came back under its id."""
    starts = "the consumer [g] start beginning. messageModel=CLUSTERING, isUnitMode=false"
    started, stopped = "the consumer [g] start OK.", "the consumer [g] shutdown OK"
    left = "unregister client[Producer: null Consumer: g] from broker[east 0 10.0.0.9:10911] success"

    def made(client: str) -> str:
        return f"Created a new client Instance, InstanceIndex:0, ClientID:{client}, ClientConfig:ClientConfig{{x}}"

    comes: list[tuple[float, str]] = [(10, starts), (10.2, made("X")), (10.3, started)]
    cases: dict[str, list[tuple[float, str]]] = {
        "its settings were wrong": [(10, starts)],
        "it was slow to stop": [*comes, (12, left), (12.2, "the client factory [X] shutdown OK"), (16, stopped)],
        "a producer has its instance too": [*comes, (12, left), (12.3, stopped)],
        "its instance was there before": [(10, starts), (10.3, started), (12, left), (12.3, stopped)],
        "it was the member": [
            *((6.5, left), (6.6, "the client factory [A] shutdown OK"), (6.7, stopped)),
            *((9, starts), (9.2, made("A")), (9.3, started), (10, added("g", Q0))),
        ],
    }
    lines = []
    for pid, theirs in enumerate(cases.values()):
        mine = [(1.0, added("g", Q0)), (1.1, result("g", "A", [Q0]))]
        mine += [(float(at), persisted("g", "A", Q0, 1)) for at in (6, 11, 16, 21)]
        lines += [java5(at, text, pid=pid) for at, text in sorted([*mine, *theirs])]
    (tmp_path / "web1").mkdir()
    (tmp_path / "web1" / "a.log").write_text("".join(lines))
    rows = changes_of(read_events(spark, tmp_path)).where("topic IS NULL").orderBy("at_ms", "place").collect()

    names = list(cases)
    found: dict[str, list[tuple[str, str | None]]] = {name: [] for name in names}
    for row in rows:
        found[names[int(row["process"].rpartition("/")[2])]].append((row["what"], row["client_id"]))
    theirs_in_order = [("consumer starting", "X"), ("unregistered", "X"), ("consumer stopped", "X")]
    assert found == {
        "its settings were wrong": [],
        "it was slow to stop": theirs_in_order,
        "a producer has its instance too": theirs_in_order,
        "its instance was there before": [("unregistered", None), ("consumer stopped", None)],
        "it was the member": [("unregistered", "A"), ("consumer stopped", "A"), ("consumer starting", "A")],
    }
