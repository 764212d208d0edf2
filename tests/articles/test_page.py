"""docs/articles.md names every article, every example that was corrected, and only files that are there."""

import re
from pathlib import Path

import pytest

from tests.articles.examples import TITLES
from tests.articles.test_shares import CORRECTED, Example

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "articles.md").read_text()
FILE = re.compile(r"`((?:rebalance_engine|tests)/[\w/]+\.py)`")


@pytest.mark.parametrize("title", TITLES)
def test_the_page_names_the_article(title: str) -> None:
    assert f"| {title} |" in PAGE


@pytest.mark.parametrize("example", CORRECTED, ids=str)
def test_the_page_shows_what_was_printed_beside_what_is_true(example: Example) -> None:
    assert example.printed
    wrong = [client for client, share in example.true.items() if example.printed[client] != share]

    rows = [line.split("|") for line in PAGE.splitlines() if f"{example.last - example.first + 1} queues, " in line]

    (row,) = [row for row in rows if f", {len(example.true)} consumers" in row[2]]
    for client in wrong:
        assert f"{client}: {example.printed[client]}" in row[3]
        assert f"{client}: {example.true[client]}" in row[4]


def test_every_file_that_the_page_names_is_there() -> None:
    named = set(FILE.findall(PAGE))

    assert len(named) > 10
    assert [path for path in sorted(named) if not (ROOT / path).is_file()] == []


def test_the_page_names_every_test_of_the_articles() -> None:
    files = [f"tests/articles/{path.name}" for path in Path(__file__).parent.glob("test_*.py")]

    assert set(files) <= set(FILE.findall(PAGE))


def test_the_page_names_every_transcript_under_its_own_folder_and_no_other() -> None:
    table = PAGE[PAGE.index("## Which transcript holds which rule") : PAGE.index("## The tests")]
    named: set[str] = set()
    for section in table.split("\n### ")[1:]:
        (folder,) = re.findall(r"`(tests/scenarios/\w+)/`", section.splitlines()[0])
        named |= {f"{folder}/{name}" for name in re.findall(r"`(\w+\.txt)`", section)}

    assert named == {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests" / "scenarios").rglob("*.txt")}
