"""The first two stages in DuckDB, for logs of Java 5.x clients: ``python -m tests.bench.duck IN OUT THREADS``.

The same records (a stack trace stays with its line, by the same cut before each line's year), the same kinds, the same
values, the same two Parquet files with zstd. It prints what it took as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path
from time import perf_counter

import duckdb

from rebalance_engine.pipeline.events import GROUP, QUEUE_DATA, REBALANCE_GROUP
from rebalance_engine.pipeline.layouts import GMT8_MS, JAVA5
from rebalance_engine.pipeline.naming import NAMED
from rebalance_engine.pipeline.templates import QUEUE, TEMPLATES, Template

RESULTS = ("result", "broker result")
UNREGISTERED = r"Consumer: ([^\]]+)\]"


def quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def found(pattern: str, group: int = 1) -> str:
    return f"nullif(regexp_extract(message, {quoted(pattern)}, {group}), '')"


def number(pattern: str, group: int = 1) -> str:
    return f"try_cast({found(pattern, group)} AS BIGINT)"


def is_of(*what: str) -> str:
    return f"what IN ({', '.join(map(quoted, what))})"


def _fits(template: Template) -> str:
    tests = []
    if template.begins:
        tests.append(f"starts_with(message, {quoted(template.begins)})")
    if template.has:
        tests.append(f"contains(message, {quoted(template.has)})")
    if template.ends:
        tests.append(f"ends_with(split_part(message, chr(10), 1), {quoted(template.ends)})")
    return f"WHEN {' AND '.join(tests)} THEN {quoted(template.what)}"


def lines_of(folder: Path) -> str:
    """Read text to lines: those that tell something, and those that did not parse.

    Each file is a branch of its own: the texts of all of them are so few values that one thread would get them all.
    """
    return " UNION ALL ".join(map(_lines_of_file, sorted(folder.glob("*/*.log"))))


def _lines_of_file(path: Path) -> str:
    kinds = " ".join(map(_fits, TEMPLATES[JAVA5.name]))
    return f"""
    SELECT *, CASE WHEN what = 'uncommitted' THEN len(string_split(message, 'MessageExt [')) - 1 END AS parts FROM (
      SELECT *, CASE {kinds} END AS what FROM (
        SELECT file, split_part(file, '/', -2) AS host,
          epoch_ms(try_cast('20' || substr(value, 1, 21) AS TIMESTAMP)) AS wall_ms,
          split_part(split_part(value, ']', 1), '[', -1) AS process,
          split_part(value, '] [', 2) AS thread,
          substr(value, strpos(value, '] - ') + 4) AS message
        FROM (
          SELECT filename AS file, rtrim(CASE WHEN starts_with(piece, '20') AND substr(piece, 5, 1) = '-'
            THEN substr(piece, 3) ELSE piece END, chr(13) || chr(10)) AS value
          FROM (SELECT filename, unnest(string_split(content, chr(10) || '20')) AS piece
            FROM read_text({quoted(str(path))})))))
    WHERE wall_ms IS NULL OR what IS NOT NULL"""  # noqa: S608 - from our own words


def _queues() -> str:
    parts = [f"regexp_extract_all(message, {quoted(QUEUE)}, {group})" for group in (2, 3)]
    now = "substr(message, strpos(message, ',new['))"
    data = [f"regexp_extract_all({now}, {quoted(QUEUE_DATA)}, {group})" for group in (1, 2, 3)]

    def zipped(lists: list[str]) -> str:
        return f"list_transform(list_zip({', '.join(lists)}), lambda x: concat_ws('|', {', '.join(_each(lists))}))"

    return f"""CASE WHEN {is_of(*RESULTS)} THEN {zipped(parts)} WHEN {is_of("route changed")} THEN {zipped(data)}
      WHEN {is_of("heartbeat data")}
      THEN regexp_extract_all(message, 'ConsumerData \\[groupName=([^,\\]]+)', 1) END"""


def _each(lists: list[str]) -> list[str]:
    return [f"x[{place}]" for place in range(1, len(lists) + 1)]


def case(*pairs: tuple[str, str]) -> str:
    """Take the first value whose condition holds."""
    return f"CASE {' '.join(f'WHEN {test} THEN {value}' for test, value in pairs)} END"


def _between(begin: str, end: str) -> str:
    return f"split_part(split_part(message, {quoted(end)}, 1), {quoted(begin)}, -1)"


def columns() -> dict[str, str]:
    """Say what each line says, in the columns of the pipeline's events that a client's log fills."""
    by_round = is_of("pull expired", "expired and removed", "removed to repair")
    named = is_of("consumer started", "consumer starting", "consumer stopped", "producer started", "left")
    result, no_group = is_of(*RESULTS), is_of("unregistered", "uncommitted", "heartbeat data", "instance made")
    in_queue = f"NOT {is_of(*RESULTS, 'route changed', 'heartbeat data', 'instance made')}"
    of_broker = is_of("heartbeat", "heartbeat failed", "broker gone", "unregistered")
    is_new = "CASE WHEN contains(message, 'old[null]') THEN 0 ELSE 1 END"
    group = (
        case((f"starts_with(message, 'doRebalance, ') OR {by_round}", found(REBALANCE_GROUP))),
        case((is_of("lock granted"), found(r"lock OK, (\S+) MessageQueue"))),
        case((named, found(r"\[([^\]]+)\]"))),
        case((is_of("unregistered"), f"nullif({found(UNREGISTERED)}, 'null')")),
        case((f"NOT {no_group}", found(GROUP))),
    )
    topic = (
        case((is_of("route changed"), found(r"^the topic\[([^\]]+)\]"))),
        case((result, found(r"[, ][tT]opic[=:] ?([^,\s\]]+)"))),
        case((in_queue, found(QUEUE, 1))),
    )
    broker = (
        case((is_of("isolated", "unreachable", "reachable"), "split_part(message, ' ', 1)")),
        case((of_broker, found(r"broker\[([^ \]]+)"))),
        case((in_queue, found(QUEUE, 2))),
    )
    client = (
        case((is_of("instance started", "instance stopped"), found(r"\[([^\]]+)\]"))),
        case((is_of("persisted all", "persisted"), _between(" ClientId: ", " updateConsumeOffsetToBroker "))),
        case((is_of("not in list"), found(r"consumerId: (\S+) not in"))),
        case((f"NOT {is_of('uncommitted')}", found(NAMED))),
    )
    return {
        "at_ms": f"wall_ms - {GMT8_MS}",
        **{name: name for name in ("what", "host", "process", "thread", "file")},
        '"group"': f"coalesce({', '.join(group)})",
        "topic": f"coalesce({', '.join(topic)})",
        "broker": f"coalesce({', '.join(broker)})",
        "queue_id": case((in_queue, number(QUEUE, 3))),
        "client_id": f"coalesce({', '.join(client)})",
        "other": case(
            (is_of("notified"), found(r"notification\[([^\]]+)\]")),
            (is_of("isolated"), found(r"for (\d+) ms")),
            (is_of("pull refused", "pull failed"), found(r"(CODE: \d+)")),
        ),
        "number": case(
            (is_of("persisted all", "persisted"), number(r"(\d+)$")),
            (is_of("start offset", "pull ended"), number(r"(?:nextOffset=|offset:)(\d+)")),
            (is_of("first pull"), number(r"NewOffset: (\d+)")),
            (result, number(r"(?:cidAllSize=|Total Consumer :#)(\d+)")),
            (is_of("version"), number(r", (\d+)$")),
            (is_of("isolated"), number(r"for (\d+) ms")),
            (is_of("resent", "send failed"), number(r"RT: (\d+)ms")),
            (is_of("uncommitted"), "parts"),
            (is_of("route changed"), is_new),
        ),
        "number2": case((result, number(r"mqAllSize=(\d+)"))),
        "strategy": case((result, found(r"[sS]trategyName=([^,]+),"))),
        "queues": _queues(),
    }


def events_of(lines: Path) -> str:
    told = ", ".join(f"{value} AS {name}" for name, value in columns().items())
    return f"SELECT {told} FROM {quoted(str(lines))} WHERE wall_ms IS NOT NULL AND what <> 'alive'"  # noqa: S608


def main() -> None:
    folder, out, threads = Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
    out.mkdir(parents=True, exist_ok=True)
    base = duckdb.connect(config={"threads": threads, "preserve_insertion_order": False})
    begun, took = perf_counter(), {}
    for name, sql in (("lines", lines_of(folder)), ("events", events_of(out / "lines.parquet"))):
        at = perf_counter()
        place = quoted(str(out / f"{name}.parquet"))
        base.execute(f"COPY ({sql}) TO {place} (FORMAT parquet, COMPRESSION zstd)")
        took[f"{name}_s"] = perf_counter() - at
    used = resource.getrusage(resource.RUSAGE_SELF)
    told = {"wall_s": perf_counter() - begun, "cpu_s": used.ru_utime + used.ru_stime, "peak_mb": used.ru_maxrss / 1024}
    print(json.dumps({**told, **took}))


if __name__ == "__main__":
    main()
