"""What a run would read, file by file, and what it would refuse, as far as that shows without reading. Plain Python."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from rebalance_engine.pipeline.layouts import BROKER, LAYOUTS
from rebalance_engine.pipeline.notes import ClusterNotes
from rebalance_engine.pipeline.sources import SourceFile
from rebalance_engine.pipeline.wording import counted

MOST_NAMED = 40  # files; a folder of a month has thousands
MOST_HOSTS = 20


def plan(files: Sequence[SourceFile], fresh: Sequence[SourceFile]) -> str:
    """Count the files, by layout, in a line."""
    kinds: dict[str, list[SourceFile]] = {}
    for file in files:
        kinds.setdefault(_layout(file), []).append(file)
    sizes = ", ".join(f"{len(those)} {kind} ({_size(those)})" for kind, those in sorted(kinds.items()))
    if not files:
        return "nothing to read was found in the folder that --in names: no log, and no history"
    hosts = counted(len({file.host for file in files}), "host")
    return f"{counted(len(files), 'file')} of {hosts}: {sizes}; {sum(file.is_readable for file in fresh)} to read"


def details(
    files: Sequence[SourceFile], fresh: Sequence[SourceFile], zones: Collection[str], notes: ClusterNotes
) -> list[str]:
    """Name the files that would be read, those that would not, and the hosts whose zone nothing tells yet.

    Args:
        zones: the hosts whose zone is given.
        notes: what earlier runs have read.
    """
    to_read = [file for file in fresh if file.is_readable]
    not_read = [f"  {file.path}: {file.trouble}" for file in files if not file.is_readable]
    lines = ["to read:"] if to_read else []
    lines += [_line(file, to_read) for file in to_read[:MOST_NAMED]]
    rest = to_read[MOST_NAMED:]
    lines += [f"  and {len(rest)} more, {_size(rest)}"] if rest else []
    lines += ["not to be read:", *_most(not_read, MOST_NAMED)] if not_read else []
    return lines + _refusals(files, zones, notes)


def of_hosts(rows: Sequence[Mapping[str, object]], words: str, **more: str) -> str:
    """Say in one sentence what is refused for one reason, with the names of its hosts.

    Args:
        rows: ``host, layout, lines`` of each, all of one layout.
        words: the sentence, with ``{lines} {hosts} {layout}``, and ``{host}`` for whom an option is to be given.
    """
    names = [str(row["host"]) for row in rows]
    rest = f" and {len(names) - MOST_HOSTS} more" if len(names) > MOST_HOSTS else ""
    is_one = len(names) == 1
    return words.format(
        lines=sum(int(str(row["lines"])) for row in rows),
        hosts=names[0] if is_one else f"{len(names)} hosts, {', '.join(names[:MOST_HOSTS])}{rest}",
        host=names[0] if is_one else "HOST",
        layout=rows[0]["layout"],
        **more,
    )


def _line(file: SourceFile, beside: Sequence[SourceFile]) -> str:
    host = max(len(other.host) for other in beside[:MOST_NAMED])
    size = max(len(_size([other])) for other in beside[:MOST_NAMED])
    trouble = f": {file.trouble}" if file.trouble else ""
    return f"  {file.host:{min(host, 40)}}  {_layout(file):7}  {_size([file]):>{size}}  {file.path}{trouble}"


def _refusals(files: Sequence[SourceFile], zones: Collection[str], notes: ClusterNotes) -> list[str]:
    """Say of whose clocks only brokers' logs may tell the zone; where there is none, that is known before reading."""
    layouts = {(file.host, file.layout.name) for file in files if file.layout and file.is_readable}
    layouts |= {(str(told["host"]), str(told["layout"])) for told in notes.files.values()}
    unzoned = sorted(each for each in layouts if _has_no_zone(each[1]) and each[0] not in zones)
    if not unzoned:
        return []
    has_brokers = any(layout == BROKER.name for _, layout in layouts)
    hosts = _most([f"  {host} ({layout})" for host, layout in unzoned], MOST_HOSTS)
    many = f"{counted(len({host for host, _ in unzoned}), 'host')} whose logs do not tell the zone of their clocks"
    if not has_brokers:
        return [f"to be refused, because no broker's log is there: {many}; give it, as --zone HOST=ZONE:", *hosts]
    return [f"to be refused, unless brokers' logs tell it: {many}:", *hosts]


def _has_no_zone(layout: str) -> bool:
    return layout in LAYOUTS and LAYOUTS[layout].zone_ms is None


def _most(lines: Sequence[str], most: int) -> list[str]:
    return [*lines[:most], *([f"  and {len(lines) - most} more"] if len(lines) > most else [])]


def _layout(file: SourceFile) -> str:
    return file.layout.name if file.layout else "unknown"


def _size(files: Sequence[SourceFile]) -> str:
    """Write a size in a unit in which a small file is not 0.

    >>> _size([])
    '0.0 kB'
    """
    size = sum(file.size for file in files)
    return f"{size / 1e6:,.1f} MB" if size >= 1_000_000 else f"{size / 1e3:.1f} kB"
