"""Real logs as operators find them: rolled, with a copy left behind, two runs in one file; cut; ids with blanks."""

import gzip
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from rebalance_engine.pipeline import zones
from tests.rebalance_engine.pipeline.frames import holds_from, read_lines
from tests.rebalance_engine.pipeline.runs import Key, Span, as_holds, logs, true_holds

pytestmark = [pytest.mark.spark, pytest.mark.slow]
RUNS = ("scale_out-4.9.7", "scale_out-5.5.0")
CUT_AFTER = {"scale_out-4.9.7": 0.5, "scale_out-5.5.0": 0.3}  # of the log: where no round is under way, before the kill
CALLED = {"c1": "order svc", "c2": "order mail"}
DAY_MS = 86_400_000
WITHIN_MS = 250
STAMP = re.compile(rb"(?m)^20\d\d-\d\d-\d\d")
Told = dict[str, list[Any]]


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


@pytest.fixture(scope="module")
def told(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Told:
    """Give the spans of every shape of every run, each a cluster with hosts of its own: told in one go."""
    place = tmp_path_factory.mktemp("shapes")
    frames = []
    for name in RUNS:
        for shape, write in (
            ("rolled", write_rolled),
            ("cut", write_cut),
            ("named", write_named),
            ("parted", write_parted),
        ):
            write(place / shape / name, name)
            frames.append(read_lines(spark, place / shape / name, f"{shape} {name}"))
    found = reduce(DataFrame.unionByName, frames).localCheckpoint()
    spans: Told = {}
    for row in holds_from(found, zones.infer_zones(found).localCheckpoint()).collect():
        spans.setdefault(row["cluster"], []).append(row)
    return spans


def write_rolled(place: Path, name: str) -> None:
    """Write two runs: 4.x rolls to ``.log.1``, 5.x to ``other_days/…-1.log.gz``; with a copy from before a roll."""
    for host, log, text in texts(name):
        folder, whole = place / f"rolled-{name}-{host}", records(text + a_day_later(text))
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


def write_cut(place: Path, name: str) -> None:
    """Let the log of c1, who was there from the first, begin in the middle of a line, about half through."""
    for host, log, text in texts(name):
        put(place / f"cut-{name}-{host}" / log, cut(text, name) if host == "c1" else text)


def write_named(place: Path, name: str) -> None:
    """Call two clients as people do who set ``instanceName``: alike up to the first blank."""
    for host, log, text in texts(name):
        for old, new in CALLED.items():
            text = re.sub(rf"@{old}\b".encode(), f"@{new}".encode(), text)  # noqa: PLW2901
        put(place / f"named-{name}-{host}" / log, text)


def write_parted(place: Path, name: str) -> None:
    """Let the host of c1 be renamed within a line, and lie a piece of its log, of before and after, under a third name.

    Of c2's log there is the beginning once more; of that of c3, which is killed, the end. The middle of c4's lies under
    another name alone.
    """
    for host, log, text in texts(name):
        folder, size = place / f"parted-{name}-{host}", len(text)
        parts = {"": text}
        if host == "c1":
            parts = {"": text[: size // 2], "-now": text[size // 2 :], "-copy": text[size // 3 : 2 * size // 3]}
        elif host == "c2":
            parts["-copy"] = text[: 2 * size // 3]
        elif host == "c3":
            parts["-copy"] = text[size // 2 :]
        elif host == "c4":
            whole = records(text)
            third = len(whole) // 3
            parts = {"": b"".join(whole[:third] + whole[2 * third :]), "-now": b"".join(whole[third : 2 * third])}
        for more, part in parts.items():
            put(folder.with_name(folder.name + more) / log, part)


def cut(text: bytes, name: str) -> bytes:
    return text[int(len(text) * CUT_AFTER[name]) + 17 :]


@pytest.mark.parametrize("name", RUNS)
def test_two_runs_in_logs_that_were_rolled_are_told_as_two_runs(told: Told, name: str) -> None:
    found = told[f"rolled {name}"]

    once = true_holds(name)
    assert [row for row in found if row["from_ms"] is None] == []
    assert_close(
        as_holds(found),
        {
            key: [*spans, *((begin + DAY_MS, end + DAY_MS, ended) for begin, end, ended in spans)]
            for key, spans in once.items()
        },
    )


@pytest.mark.parametrize("name", RUNS)
def test_a_log_whose_parts_and_copies_lie_under_several_hosts_is_told_as_one(told: Told, name: str) -> None:
    assert_close(as_holds(told[f"parted {name}"]), true_holds(name))


@pytest.mark.parametrize("name", RUNS)
def test_clients_whose_ids_have_blanks_are_told_apart(told: Told, name: str) -> None:
    called = {f"@{old}": f"@{new}" for old, new in CALLED.items()}

    def named(client: str) -> str:
        address, at, rest = client.partition("@")
        return address + called.get(at + rest, at + rest)

    assert_close(
        as_holds(told[f"named {name}"]), {(*key[:4], named(key[4])): spans for key, spans in true_holds(name).items()}
    )


@pytest.mark.parametrize("name", RUNS)
def test_a_log_cut_at_its_beginning_tells_the_rest_and_what_was_held_before_it(told: Told, name: str) -> None:
    (whole_log,) = (text for host, log, text in texts(name) if (host, log) == ("c1", "rocketmq_client.log"))
    begins = min(_times(name, cut(whole_log, name)))
    spans = told[f"cut {name}"]

    true = true_holds(name)
    (mine,) = {key[4] for key in true if key[4].endswith("@c1")}
    whole = {key: [span for span in spans if key[4] != mine or span[0] > begins] for key, spans in true.items()}
    assert_close(
        as_holds(row for row in spans if row["from_ms"] is not None), {key: kept for key, kept in whole.items() if kept}
    )
    before = as_holds(row for row in spans if row["from_ms"] is None)
    held = {
        key: open_then
        for key, those in true.items()
        if key[4] == mine and (open_then := [span for span in those if span[0] <= begins < span[1]])
    }
    assert {key: [ended for *_, ended in those] for key, those in before.items()} == {
        key: [ended for *_, ended in those] for key, those in held.items()
    }
    for key, ((_, until, _),) in held.items():
        assert abs(before[key][0][1] - until) <= WITHIN_MS


def _times(name: str, text: bytes) -> Iterator[int]:
    """Give the times of a log's lines in UTC: 5.x writes GMT+8, this 4.9.7 client wrote UTC."""
    hours = 0 if name.endswith("4.9.7") else 8
    for record in records(text):
        stamp = record[:23].decode().replace(",", ".")
        at = datetime.strptime(stamp, "%Y-%m-%d %H:%M:%S.%f").replace(tzinfo=UTC) - timedelta(hours=hours)
        yield round(at.timestamp() * 1000)
