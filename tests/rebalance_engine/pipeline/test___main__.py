import os
from dataclasses import replace
from errno import EROFS
from pathlib import Path

import pyarrow.parquet as pq  # type: ignore[import-untyped] # pyarrow has no types
import pytest
from py4j.protocol import Py4JError, Py4JNetworkError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import AnalysisException

from rebalance_engine.pipeline import __main__ as program
from rebalance_engine.pipeline.__main__ import main
from rebalance_engine.pipeline.jobs import JOBS, TABLES, Asked, Job, Told
from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.session import SparkOff
from rebalance_engine.pipeline.store import alone_in
from tests.rebalance_engine.pipeline.runs import logs
from tests.rebalance_engine.pipeline.test_reports import note

CLIENT, WHO = "rocketmq_client", ("c1", "c2", "c3", "c4", "p1")


def words(source: Path, target: Path, *more: str) -> list[str]:
    return ["logs", "--in", str(source), "--out", str(target), *more]


def history(folder: Path, *clusters: str) -> None:
    line = '{"v":1,"event":"MemberSeen","at":1,"source":{"origin":"admin answer"},"exactness":{"bound":"exact"}}\n'
    (folder / "2026-11-21").mkdir()
    for cluster in clusters:
        (folder / "2026-11-21" / f"{cluster}.jsonl").write_text(line)


def test_a_dry_run_says_what_would_be_read_and_writes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(words(logs("scale_out-4.9.7"), tmp_path / "out", "--dry-run"))

    said = capsys.readouterr().err.splitlines()
    assert status == 0
    assert said[0].startswith("7 files of 7 hosts: 2 broker")
    assert [line.split()[-1] for line in said[2:9]] == [
        f"{host}/{log}.log.gz"
        for host, log in [*((f"broker-{name}", "broker") for name in "ab"), *((who, CLIENT) for who in WHO)]
    ]
    assert said[9].startswith("to be refused, unless brokers' logs tell it: 5 hosts")
    assert said[10:] == [f"  {who} (java4)" for who in WHO]
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["east", "_east", "-east"])
def test_the_history_of_other_clusters_is_left_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    history(tmp_path, name, "west")

    status = main(words(tmp_path, tmp_path.parent / "out", "--dry-run", f"--cluster={name}"))

    assert (status, capsys.readouterr().err.split(" file ")[0]) == (0, "1")


def test_the_history_of_several_clusters_is_not_mingled(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(tmp_path, "-east", "west")

    assert main(words(tmp_path, tmp_path.parent / "out", "--dry-run")) == 1
    assert "history is of 2 clusters" in (said := capsys.readouterr().err)
    assert "-east, west; a run is of one, say which: --cluster=-east" in said


def test_the_history_of_the_only_cluster_needs_no_name(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    history(tmp_path, "east")

    assert main(words(tmp_path, tmp_path.parent / "out", "--dry-run")) == 0
    assert capsys.readouterr().err.startswith("1 file ")


def test_without_java_spark_is_off_and_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(os.environ, "PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.delenv("SPARK_REMOTE", raising=False)

    status = main(words(logs("scale_out-4.9.7"), tmp_path / "out"))

    assert status == 3
    assert "Spark is off: there is no java on the PATH; Spark needs Java 17 or later" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_over_nothing_every_table_is_written_without_rows_and_without_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in").mkdir()
    monkeypatch.setattr(program, "start", lambda *_, **__: pytest.fail("Spark is started"))
    monkeypatch.delenv("SPARK_REMOTE", raising=False)
    monkeypatch.delenv("SPARK_MASTER", raising=False)

    status = [main(words(tmp_path / "in", tmp_path / "out")) for _ in range(2)]

    assert status == [0, 0]
    assert "What members held is unknown" in capsys.readouterr().out
    found = {name: pq.read_table(tmp_path / "out" / name) for name in TABLES}
    assert {name: table.schema.names for name, table in found.items()} == {n: s.names for n, s in TABLES.items()}
    assert {name: str(found["holds"].schema.field(name).type) for name in ("group", "queue_id", "from_ms")} == {
        "group": "string", "queue_id": "int32", "from_ms": "int64",
    }  # fmt: skip
    assert not any(table.num_rows for table in found.values())
    assert read_notes(tmp_path / "out").of("default").is_finished


def test_over_nothing_spark_is_asked_where_it_is_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str | None] = []

    def off(master: str | None, **_: object) -> None:
        asked.append(master)
        raise SparkOff("nobody answers")

    monkeypatch.setattr(program, "start", off)
    (tmp_path / "in").mkdir()

    status = main(words(tmp_path / "in", tmp_path / "out", "--master", "spark://127.0.0.1:1"))

    assert (status, asked) == (3, ["spark://127.0.0.1:1"])


def test_a_missing_folder_fails_with_a_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path / "nowhere", tmp_path / "out")) == 1
    assert "nowhere is no folder" in capsys.readouterr().err


@pytest.mark.parametrize("more", [[], ["--dry-run"]])
@pytest.mark.parametrize("out", ["file", "file/out", "link"])
def test_a_place_that_is_no_folder_is_refused_before_anything_is_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str, more: list[str]
) -> None:
    (tmp_path / "file").write_text("no folder")
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")

    status = main(words(logs("scale_out-4.9.7"), tmp_path / out, *more))

    place = tmp_path / Path(out).parts[0]
    said = f"{place} is no folder; --out needs one, or a name at which nothing is yet\n"
    assert (status, capsys.readouterr().err) == (1, said)


def test_a_folder_that_cannot_be_written_fails_with_a_word(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def is_read_only(folder: Path) -> None:
        raise OSError(EROFS, "Read-only file system", str(folder))

    monkeypatch.setattr(program, "alone_in", is_read_only)

    assert main(words(logs("scale_out-4.9.7"), tmp_path / "out")) == 1
    assert f"{tmp_path}/out: Read-only file system" in capsys.readouterr().err


def test_a_folder_at_which_another_run_works_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with alone_in(tmp_path / "out"):
        status = main(words(logs("scale_out-4.9.7"), tmp_path / "out"))

    assert status == 1
    assert "one at a time" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("before", "now", "is_small"),
    [
        pytest.param({}, {"a.log": 100}, True, id="little text"),
        pytest.param({"a.log": 100}, {"a.log": 100}, True, id="the same log counts once"),
        pytest.param({}, {"a.log.gz": 60}, False, id="packed"),
        pytest.param({"b.log": 500}, {}, False, id="read before, and rolled away"),
    ],
)
@pytest.mark.parametrize("job", ["logs", "backtest"])
def test_spark_is_set_for_all_text_that_its_tables_are_of(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    job: str,
    before: dict[str, int],
    now: dict[str, int],
    is_small: bool,
) -> None:
    """A back-test reads no text, and takes as long as a record is large."""
    source, target, asked = tmp_path / "in", tmp_path / "out", []

    def start(_: object, **settings: object) -> None:
        asked.append(settings["is_small"])
        raise SparkOff("nobody needs it")

    monkeypatch.setattr(program, "start", start)
    monkeypatch.setattr(program, "SMALL", 500)
    read = before if job == "logs" else before | now
    note(target, files={path: {"host": "web1", "size": size} for path, size in read.items()})
    source.mkdir()
    for name, size in now.items():
        (source / name).write_bytes(bytes(size))

    status = main([job, "--in", str(source if job == "logs" else target), "--out", str(target)])

    assert (status, asked) == (3, [is_small])


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--zone", "web1"], "needed is HOST=ZONE"),
        (["--zone", "web1=Mars/Olympus"], "needs a name as"),
        (["--cluster", "a/b"], "letters, digits, _ and - only"),
        (["--out", str(logs("scale_out-4.9.7"))], "is both --in and --out"),
        (["--out", "/nowhere/[a]"], "by which Spark finds no tables"),
    ],
)
def test_arguments_that_make_no_sense_end_with_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], said: str
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words(logs("scale_out-4.9.7"), tmp_path / "out", *more))

    assert ended.value.code == 2
    assert said in capsys.readouterr().err


class Bridge:
    """A Spark that ran until a signal came."""

    version = "4"

    def __init__(self) -> None:
        self.sparkContext, self.did = self, list[str]()

    def setLogLevel(self, level: str) -> None:  # noqa: N802 - Spark's name
        self.did.append(level)

    def stop(self) -> None:
        self.did.append("stopped")


@pytest.mark.parametrize("breaks", [True, False])
def test_a_signal_over_which_sparks_bridge_breaks_is_a_stop_as_any_other(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, breaks: bool
) -> None:
    bridge = Bridge()

    def run(*_: object) -> Told:
        try:
            raise KeyboardInterrupt
        finally:
            if breaks:
                raise Py4JError("Gateway must be connected to send cancel cmd.")

    monkeypatch.setattr(program, "start", lambda *_, **__: bridge)
    monkeypatch.setitem(JOBS, "logs", replace(JOBS["logs"], run=run))

    assert main(words(logs("scale_out-4.9.7"), tmp_path / "out")) == 130
    assert capsys.readouterr().err.splitlines()[-1].startswith("stopped; what was finished is whole")
    assert bridge.did == ["OFF", "stopped"]


@pytest.mark.parametrize(
    "error", [AnalysisException("[PATH_NOT_FOUND] Path does not exist\nJVM stacktrace: ..."), Py4JNetworkError("gone")]
)
def test_what_spark_ends_with_is_said_in_a_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def start(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(program, "start", start)

    assert main(words(logs("scale_out-4.9.7"), tmp_path / "out")) == 1
    said = capsys.readouterr().err.splitlines()
    assert said[-1].startswith(f"Spark could not go on: {type(error).__name__}: ")
    assert "JVM" not in said[-1]


def test_a_zone_for_a_host_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    zones = ("--zone", "nosuchhost=UTC", "--zone", "c1=UTC")

    assert main(words(logs("scale_out-4.9.7"), tmp_path / "out", "--dry-run", *zones)) == 0
    assert [line for line in capsys.readouterr().err.splitlines() if "--zone" in line] == [
        "--zone nosuchhost: no log is of a host of this name; it has no effect"
    ]


def test_names_of_files_cannot_steer_a_terminal(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words(tmp_path / "\x1b[2J", tmp_path / "out")) == 1
    assert "/\\x1b[2J is no folder" in capsys.readouterr().err


def test_a_back_test_of_a_cluster_of_which_there_is_no_run_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    note(tmp_path, cluster="east")

    assert main(["backtest", "--in", str(tmp_path), "--out", str(tmp_path), "--dry-run"]) == 1
    assert "has no run of cluster default; it has of east: --cluster" in capsys.readouterr().err
    assert main(["backtest", "--in", str(tmp_path), "--out", str(tmp_path), "--cluster=east", "--dry-run"]) == 0


@pytest.mark.parametrize(
    ("told", "status"),
    [(Told(), 0), (Told(refused=["refused: 9 lines of web1 (java4)"]), 1), (Told(gone={"web1/a.log": "gone"}), 1)],
)
def test_whoever_was_refused_or_went_away_lets_the_run_end_with_1(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], told: Told, status: int
) -> None:
    job = Job("", lambda *_: told, lambda _: "what it came to")

    assert program.answer(job, [], told, Asked(source=tmp_path, target=tmp_path)) == status
    assert capsys.readouterr().out.startswith("what it came to\n")
