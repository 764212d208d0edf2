"""Real logs as operators find them: rolled, with a copy left behind, two runs in one file."""

import gzip
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.holds import holds_of
from tests.rebalance_engine.pipeline.frames import read_holds
from tests.rebalance_engine.pipeline.runs import Key, Span, as_holds, logs, true_holds

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RUNS = ("scale_out-4.9.7",)
DAY_MS = 86_400_000
WITHIN_MS = 250
STAMP = re.compile(rb"(?m)^20\d\d-\d\d-\d\d")
Put = Callable[[Path, bytes], None]


def texts(name: str) -> Iterator[tuple[str, str, bytes]]:
    """Give every log of a run: host, name, text."""
    for path in sorted(logs(name).glob("*/*.log.gz")):
        yield path.parent.name, path.name.removesuffix(".gz"), gzip.decompress(path.read_bytes())


def put(path: Path, text: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)


def a_day_later(text: bytes) -> bytes:
    def later(found: re.Match[bytes]) -> bytes:
        day = datetime.strptime(found.group().decode(), "%Y-%m-%d").replace(tzinfo=UTC)
        return (day + timedelta(days=1)).strftime("%Y-%m-%d").encode()

    return STAMP.sub(later, text)


def records(text: bytes) -> list[bytes]:
    begins = [found.start() for found in STAMP.finditer(text)]
    return [text[begin:end] for begin, end in zip(begins, [*begins[1:], len(text)], strict=True)]


def assert_close(found: dict[Key, list[Span]], true: dict[Key, list[Span]]) -> None:
    assert {key: [ended for _, _, ended in spans] for key, spans in found.items()} == {
        key: [ended for _, _, ended in spans] for key, spans in true.items()
    }
    for key, spans in true.items():
        for seen, real in zip(found[key], spans, strict=True):
            assert abs(seen[0] - real[0]) <= WITHIN_MS, (key, seen, real)
            assert abs(seen[1] - real[1]) <= WITHIN_MS, (key, seen, real)


@pytest.mark.parametrize("name", RUNS)
def test_two_runs_in_logs_that_were_rolled_are_told_as_two_runs(spark: SparkSession, tmp_path: Path, name: str) -> None:
    """4.x rolls to ``.log.1``, 5.x to ``other_days/…-1.log.gz``; a copy from before the last roll is there too."""
    for host, log, text in texts(name):
        folder, whole = tmp_path / host, records(text + a_day_later(text))
        if log != "rocketmq_client.log":
            put(folder / log, b"".join(whole))
            continue
        third = len(whole) // 3
        oldest, older, now = whole[:third], whole[third : 2 * third], whole[2 * third :]
        if name.endswith("4.9.7"):
            put(folder / f"{log}.2", b"".join(oldest))
            put(folder / f"{log}.1", b"".join(older))
        else:
            put(folder / "other_days" / "rocketmq_client-2.log.gz", b"".join(oldest))
            put(folder / "other_days" / "rocketmq_client-1.log.gz", b"".join(older))
        put(folder / "rocketmq_client-20261121.log.gz", b"".join([*older, *now[: third // 2]]))
        put(folder / log, b"".join(now))

    found = as_holds(holds_of(read_holds(spark, tmp_path)).collect())

    once = true_holds(name)
    assert_close(
        found,
        {
            key: [*spans, *((begin + DAY_MS, end + DAY_MS, ended) for begin, end, ended in spans)]
            for key, spans in once.items()
        },
    )
