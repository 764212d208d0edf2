import gzip
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.ends import cut_of, last_line
from rebalance_engine.pipeline.layouts import JAVA5
from rebalance_engine.pipeline.padding import CHUNK, is_padded, write_without_padding
from rebalance_engine.pipeline.sources import find_files
from tests.rebalance_engine.pipeline.frames import QUEUE, added, java5, persisted, read_lines, removed

Q = QUEUE.format("east", 3)
FIRST, SECOND, THIRD = (java5(at, added("g", QUEUE.format("east", at))) for at in range(3))
CUT = java5(9, persisted("g", "10.0.0.2@77", Q, 4))[:-20]


def without(folder: Path, text: str, name: str = "a.log") -> str:
    path, target = folder / name, folder / "target"
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    assert is_padded(path) == ("\0" in text)
    write_without_padding(path, target, JAVA5)
    return target.read_text()


@pytest.mark.parametrize("name", ["a.log", "a.log.gz"])
@pytest.mark.parametrize("hole", [1, CHUNK - 1, 2 * CHUNK + 5])
def test_a_hole_is_left_out_and_every_line_stays_as_it_was(tmp_path: Path, name: str, hole: int) -> None:
    nothing = "\0" * hole

    for text in (f"{nothing}{FIRST}{SECOND}", f"{FIRST}{nothing}{SECOND}", f"{FIRST}{SECOND}{nothing}"):
        assert without(tmp_path, text, name) == FIRST + SECOND


def test_a_line_that_breaks_off_before_a_hole_does_not_parse(tmp_path: Path) -> None:
    marked = f"20cut: {CUT[2:]}\n"

    assert without(tmp_path, f"{FIRST}{CUT}\0\0{SECOND}") == f"{FIRST}{marked}{SECOND}"
    assert without(tmp_path, f"{FIRST}{CUT}\0\0\0") == FIRST + marked
    assert without(tmp_path, f"{FIRST}\0{CUT}") == FIRST + marked


def test_a_line_that_lacks_only_its_end_before_a_hole_is_whole(tmp_path: Path) -> None:
    line = java5(4, removed("g", Q))

    assert without(tmp_path, f"{FIRST}{line.rstrip()}\0\0{SECOND}") == FIRST + line + SECOND


def test_an_end_of_nothing_does_not_hide_that_the_line_before_it_is_cut(tmp_path: Path) -> None:
    for size in (1, 5 * CHUNK):
        path = tmp_path / "a.log"
        path.write_text(FIRST + CUT + "\0" * size)
        with path.open("rb") as file:
            assert cut_of(last_line(file), JAVA5) == CUT[2:]
        path.write_text(FIRST + "\0" * size)
        with path.open("rb") as file:
            assert cut_of(last_line(file), JAVA5) == ""


@pytest.mark.spark
def test_a_log_with_holes_is_read_whole(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "web1").mkdir()
    hole = "\0" * 300_000
    (tmp_path / "web1" / "a.log").write_text(f"{hole}{FIRST}{hole}{SECOND}{CUT}{hole}{THIRD}{hole}")

    (file,) = find_files(tmp_path)
    assert (file.layout, file.trouble) == (JAVA5, None)
    rows = read_lines(spark, tmp_path).orderBy("place").collect()
    assert {(row["file"], row["host"]) for row in rows} == {("web1/a.log", "web1")}
    assert [row["wall_ms"] is None for row in rows] == [False, False, True, False]
