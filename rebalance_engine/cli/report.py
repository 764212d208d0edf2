"""What a finished run of the pipeline found out, as one page.

    evenkeel report DIR [--page FILE]      DIR is the folder that the pipeline wrote

It prints the summary and writes the page, by default to DIR/report.html. It needs neither Spark nor Java.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from rebalance_engine.cli import BadArguments
from rebalance_engine.harmless import harmless
from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.reports import NoReport, read_report
from rebalance_engine.pipeline.summary import summary


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.add_argument("folder", type=Path, metavar="DIR", help="the folder that the pipeline wrote")
    parser.add_argument("--page", type=Path, metavar="FILE", help="where to write the page; DIR/report.html by default")


def run(asked: argparse.Namespace) -> int:
    """Print the summary and write the page."""
    try:
        report = read_report(asked.folder)
    except NoReport as error:
        raise BadArguments(str(error)) from error
    target: Path = asked.page or asked.folder / "report.html"
    try:
        target.write_text(page(report), encoding="utf-8")
    except OSError as error:
        raise BadArguments(f"{target} cannot be written: {error.strerror or error}; --page says where to") from error
    sys.stdout.write(f"{summary(report)}\n\npage: {harmless(str(target))}\n")
    return 0
