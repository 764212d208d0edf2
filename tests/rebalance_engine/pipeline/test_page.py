import json
import re
from html.parser import HTMLParser
from pathlib import Path

from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.reports import read_report
from tests.rebalance_engine.pipeline.test_reports import LOOKED, folder, put

__all__ = ["folder"]


class Seen(HTMLParser):
    """What a browser would fetch, and the headings."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href")]


def test_the_page_needs_nothing_besides(folder: Path) -> None:
    seen = Seen()

    seen.feed(page(read_report(folder)))

    assert seen.fetched == []
    assert "table" in seen.open


def test_texts_of_logs_are_escaped(folder: Path) -> None:
    tables = re.sub(r"<script.*?</script>", "", page(read_report(folder)), flags=re.DOTALL)

    assert "&lt;b&gt;quick" in tables
    assert "<b>quick" not in tables


def test_charts_and_tables_tell_the_groups(folder: Path) -> None:
    told = page(read_report(folder))

    assert "chart-0" in told
    assert "<td>3.0 min</td>" in told
    assert "Back-test</h2><p>It was not run" in told


def test_what_nobody_would_have_told_is_unknown_and_not_none(folder: Path) -> None:
    before = page(read_report(folder))
    put(folder, "looked", {**LOOKED, "offsets": 1})

    told = page(read_report(folder))

    assert "Bursts after rounds</h2><p>Unknown: no offsets were read." in before
    assert "Bursts after rounds</h2><p>None was seen." in told
    assert "Heartbeats lost</h2><p>Unknown: " in told
    assert "backed away from</h2><p>Unknown: no log was read of a producer that tells it" in told


def test_files_that_were_not_read_are_named(folder: Path) -> None:
    notes = {"version": 1, "troubles": {"web1/<x>.log": "empty"}, "refused": ["refused: 2 lines of web2 (java4)"]}
    (folder / "_evenkeel.json").write_text(json.dumps(notes))

    told = page(read_report(folder))

    assert "web1/&lt;x&gt;.log: empty" in told
    assert "refused: 2 lines of web2" in told
