"""``python -m rebalance_engine.pipeline JOB --in DIR --out DIR``: run one job over logs or history.

It ends with 0 where all went well; with 1 where something could not be done, which it says; with 2 where the arguments
make no sense; with 3 where Spark is off; with 130 where it was stopped, and then every table is whole.
"""

from __future__ import annotations

import argparse
import logging
import os
import re
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from py4j.protocol import Py4JError  # type: ignore[import-untyped] # py4j has no types
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from rebalance_engine.harmless import harmless
from rebalance_engine.pipeline.interrupts import stoppable
from rebalance_engine.pipeline.jobs import JOBS, Asked, Job, Told, run_over_nothing
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.lines import GLOB
from rebalance_engine.pipeline.notes import ClusterNotes, OtherVersion, read_notes
from rebalance_engine.pipeline.planning import details, plan
from rebalance_engine.pipeline.progress import Progress, every_s, told_every
from rebalance_engine.pipeline.reports import NoReport, read_report
from rebalance_engine.pipeline.session import SparkOff, asks_for_tasks, end, is_here, start
from rebalance_engine.pipeline.sources import NoInput, SourceFile, find_files
from rebalance_engine.pipeline.store import Busy, alone_in
from rebalance_engine.pipeline.zones import BadZone, given_zones

SMALL = 8 << 20  # bytes of text
PACKED = 10  # a log is at least so many times as large as what gzip makes of it
DEFAULT_CLUSTER = "default"
FAILED, SPARK_OFF, STOPPED = 1, 3, 130


class NoFolder(Exception):
    """What is to be written has no place: there is something there that is no folder."""


class SeveralClusters(Exception):
    """The history is of several clusters, and a run is of one."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(prog="python -m rebalance_engine.pipeline", description=__doc__.splitlines()[0])
    parser.add_argument("job", choices=JOBS, help="; ".join(f"{name}: {job.says}" for name, job in JOBS.items()))
    parser.add_argument("--in", dest="source", type=Path, required=True, metavar="DIR", help="the folder to read")
    parser.add_argument("--out", dest="target", type=Path, required=True, metavar="DIR", help="the folder to write")
    parser.add_argument(
        "--cluster",
        default=DEFAULT_CLUSTER,
        type=_name,
        help="the cluster's name; 'default' by default; one that begins with - as --cluster=-NAME",
    )
    parser.add_argument(
        "--zone",
        action="append",
        default=[],
        type=_zone,
        metavar="HOST=ZONE",
        help="the zone of a host's clock, for logs that do not tell it: Asia/Shanghai, or +08:00",
    )
    parser.add_argument("--master", help="where Spark runs; $SPARK_REMOTE, $SPARK_MASTER or local[*] by default")
    parser.add_argument("--memory", default="1g", help="of the driver, which in local[*] does all work; 1g by default")
    parser.add_argument("--dry-run", action="store_true", help="say what would be read, and read nothing")
    words = parser.parse_args(arguments)
    asked = Asked(
        source=words.source,
        target=words.target,
        cluster=words.cluster,
        zones=dict(words.zone),
        at_ms=time.time_ns() // 1_000_000,
    )
    try:
        with stoppable():
            _refuse_senseless(words, asked, parser)
            return _run(words, asked)
    except BadZone as error:
        parser.error(str(error))
    except (NoInput, NoReport, NoFolder, SeveralClusters, Busy, OtherVersion) as error:
        _say(f"{error}")
        return FAILED
    except OSError as error:  # a folder that cannot be written, a full disk
        _say(f"{error.filename or asked.target}: {error.strerror or error}")
        return FAILED
    except (PySparkException, Py4JError) as error:
        _say(f"Spark could not go on: {_first_line(error)}; the same command goes on from what was finished")
        return FAILED
    except SparkOff as error:
        _say(f"Spark is off: {error}")
        return SPARK_OFF
    except KeyboardInterrupt:
        _say("stopped; what was finished is whole, and the same command goes on from there")
        return STOPPED


def _refuse_senseless(words: argparse.Namespace, asked: Asked, parser: argparse.ArgumentParser) -> None:
    given_zones(asked.zones)
    if JOBS[words.job].reads_logs and asked.source.resolve() == asked.target.resolve():
        parser.error(f"{asked.source} is both --in and --out; what is written would be read as logs")
    for folder in (asked.target,) if JOBS[words.job].reads_logs else (asked.source, asked.target):
        if any(chr(sign) in str(folder) for sign in GLOB):
            parser.error(f"{folder} has one of the signs {{}}[]*?\\ in its name, by which Spark finds no tables")


def _refuse_no_folder(target: Path) -> None:
    """Look for a place for what is to be written, before anything is read: a dry run says it, too.

    Raises:
        NoFolder: a file lies there, or above it, or a link that leads nowhere.
    """
    nearest = next(path for path in (target, *target.parents) if os.path.lexists(path))
    if not nearest.is_dir():
        raise NoFolder(f"{nearest} is no folder; --out needs one, or a name at which nothing is yet")


def _name(word: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]{1,100}", word):
        raise argparse.ArgumentTypeError(f"{word!r} is given; a cluster's name has letters, digits, _ and - only")
    return word


def _zone(word: str) -> tuple[str, str]:
    host, is_there, zone = word.partition("=")
    if not (host and is_there and zone):
        raise argparse.ArgumentTypeError(f"{word!r} is given; needed is HOST=ZONE, as web1=Asia/Shanghai")
    return host, zone


def _first_line(error: Exception) -> str:
    """Say what Spark says without the stacks of two languages behind it."""
    lines = [line.strip() for line in str(error).splitlines()]
    needless = ("An error occurred", "status = ")  # of py4j, of grpc
    told = [line for line in lines if line and not line.endswith(":") and not line.startswith(needless)]
    return f"{type(error).__name__}: {told[0][:500] if told else 'it says nothing'}"


def _run(words: argparse.Namespace, asked: Asked) -> int:
    job = JOBS[words.job]
    _refuse_no_folder(asked.target)
    if not job.reads_logs:
        clusters = read_report(asked.source).clusters  # refuses what is no finished run
        if asked.cluster not in clusters:
            raise NoReport(
                f"{asked.source} has no run of cluster {asked.cluster}; it has of {', '.join(clusters)}: --cluster"
            )
    progress, often_s = Progress(_say), every_s(sys.stderr)
    notes = read_notes(asked.target).of(asked.cluster)
    with told_every(often_s, progress, lambda: None), progress.stage("looking at the files", is_told=False):
        files = _files(asked, notes) if job.reads_logs else []
    fresh = [file for file in files if notes.is_fresh(file)]
    hosts = {file.host for file in files} | {str(file["host"]) for file in notes.files.values()}
    for host in asked.zones.keys() - hosts if job.reads_logs else ():
        _say(f"--zone {host}: no log is of a host of this name; it has no effect")
    _say(plan(files, fresh) if job.reads_logs else f"the run in {asked.source}")
    if words.dry_run:
        for line in details(files, fresh, asked.zones, notes) if job.reads_logs else ():
            _say(line)
        return 0
    asked = replace(asked, troubles={file.path: file.trouble for file in files if file.trouble})
    if job.reads_logs and not files and not notes.files and is_here(words.master):
        with alone_in(asked.target):
            return answer(job, files, run_over_nothing(asked), asked)
    is_small = _text_of(files, read_notes(asked.target if job.reads_logs else asked.source).of(asked.cluster)) < SMALL
    with (
        alone_in(asked.target),
        _session(words, is_small=is_small) as spark,
        told_every(often_s, progress, asks_for_tasks(spark)),
    ):
        told = job.run(spark, asked, fresh, progress)
    return answer(job, files, told, asked)


def _text_of(files: Sequence[SourceFile], notes: ClusterNotes) -> int:
    """Give how much text a run works on, about: what lies there, and what was read before and is a log no more."""
    sizes = {path: int(str(file["size"])) for path, file in notes.files.items()}
    sizes |= {file.path: file.size for file in files}
    return sum(size * (PACKED if path.endswith(".gz") else 1) for path, size in sizes.items())


@contextmanager
def _session(words: argparse.Namespace, *, is_small: bool) -> Iterator[SparkSession]:
    """Start Spark and end it; of a Java that a signal has ended before us nothing is said.

    Raises:
        KeyboardInterrupt: a signal came, whatever Spark's bridge made of it.
    """
    began = time.monotonic()
    logging.getLogger("py4j").addHandler(logging.NullHandler())
    logging.getLogger("py4j").propagate = False
    logging.getLogger().addFilter(_is_not_of_py4j)
    spark = start(words.master, memory=words.memory, is_small=is_small)
    _say(f"Spark {spark.version}: {time.monotonic() - began:.1f} s")
    is_cut = False
    try:
        yield spark
    except (KeyboardInterrupt, Py4JError) as error:
        is_cut = _is_stop(error)
        if not is_cut:
            raise
        raise KeyboardInterrupt from error
    finally:
        end(spark, is_cut=is_cut)


def _is_stop(error: BaseException | None) -> bool:
    """Tell whether a signal is behind an error: the bridge may fail over it (``clientserver.py``, shutdown_socket)."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


def _is_not_of_py4j(record: logging.LogRecord) -> bool:
    """Leave out what Spark's bridge writes to the log of all (``java_gateway.send_command``): it raises it besides."""
    return Path(record.pathname).parent.name != "py4j"


def _files(asked: Asked, notes: ClusterNotes) -> list[SourceFile]:
    """Find what there is to read; of history, DAY/CLUSTER.jsonl, that of one cluster.

    Raises:
        SeveralClusters: nobody says of which cluster the history is to be read.
    """
    files = find_files(asked.source, notes.files)
    clusters = sorted({Path(file.path).stem for file in files if file.layout is HISTORY})
    if len(clusters) > 1 and asked.cluster == DEFAULT_CLUSTER and DEFAULT_CLUSTER not in clusters:
        raise SeveralClusters(
            f"the history is of {len(clusters)} clusters, whose groups may have equal names: {', '.join(clusters[:9])};"
            f" a run is of one, say which: --cluster={clusters[0]}"
        )
    mine = clusters if len(clusters) == 1 and asked.cluster == DEFAULT_CLUSTER else [asked.cluster]
    return [file for file in files if file.layout is not HISTORY or Path(file.path).stem in mine]


def answer(job: Job, files: list[SourceFile], told: Told, asked: Asked) -> int:
    """Say what a run came to, and give its status: 1 where a host was refused, or files went away or were not read."""
    for file in files:
        if file.trouble:
            _say(f"{file.path}: {file.trouble}")
    for path, trouble in told.gone.items():
        _say(f"{path}: {trouble}")
    if told.records:
        _say(f"{told.records} lines read, {told.kept} kept, {told.unparsed} lines of text did not parse")
    for sentence in told.refused:
        _say(sentence)
    sys.stdout.write(f"{job.tell(asked.target)}\n\nwritten to {asked.target}\n")
    is_missed = any(file.is_missed for file in files)
    return FAILED if told.refused or told.gone or is_missed else 0


def _say(line: str) -> None:
    sys.stderr.write(f"{harmless(line)}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
