from __future__ import annotations

import json
from collections.abc import Iterator

import pytest
from django.http import HttpResponse
from ninja import Schema

from dashboard.api.errors import Problem
from dashboard.api.lists import Form, page_of, page_read, shown
from dashboard.api.shapes import LARGEST_TABLE, Page, Paging
from dashboard.audit.models import AuditEntry
from dashboard.audit.operations import append


class Row(Schema):
    number: int
    words: str
    unknown: dict[str, str]


FORM = Form(Row, "rows of a/b")


def numbered(number: int) -> Row:
    return Row(number=number, words="=\ud800", unknown={"x": "why"})


def test_a_page_is_one_part_and_says_how_many_there_are() -> None:
    page = page_of(range(21), numbered, Paging(page=3, size=10), 7, FORM)

    assert isinstance(page, Page)
    assert (page.count, page.page, page.pages, page.at) == (21, 3, 3, 7)
    assert [row.number for row in page.rows] == [20]
    nothing = page_of([], numbered, Paging(), 7, FORM)
    assert isinstance(nothing, Page) and nothing.pages == 1


def test_all_is_every_row_whatever_the_page_in_the_shape_of_a_page() -> None:
    answer = page_of(range(2_500), numbered, Paging(page=3, size=10, format="all"), 7, FORM)

    assert isinstance(answer, HttpResponse)
    said = json.loads(answer.content)
    assert [row["number"] for row in said["rows"]] == list(range(2_500))
    assert (said["at"], said["count"], said["page"], said["pages"]) == (7, 2_500, 1, 1)
    assert said["rows"][0]["unknown"] == {"x": "why"}
    assert answer["Content-Disposition"] == 'attachment; filename="rows_of_a_b.json"'
    nothing = page_of([], numbered, Paging(format="all"), 7, FORM)
    assert isinstance(nothing, HttpResponse) and json.loads(nothing.content)["rows"] == []


def test_a_table_has_every_row_too() -> None:
    answer = page_of(range(2_500), numbered, Paging(format="csv"), 7, FORM)

    assert isinstance(answer, HttpResponse)
    lines = answer.content.decode().splitlines()
    assert (len(lines), lines[0], lines[1]) == (2_501, "number,words", "0,'=\\ud800")


@pytest.mark.parametrize("kind", ["all", "csv"])
def test_too_many_are_refused_before_any_is_put_together_and_never_cut_short(kind: str) -> None:
    def rows() -> Iterator[Row]:
        raise AssertionError("none is needed")
        yield

    with pytest.raises(Problem, match="200,001 rows; at most 200,000 come as one file") as problem:
        shown(rows(), LARGEST_TABLE + 1, Paging(format=kind), 7, FORM)  # type: ignore[arg-type] # as it is read
    assert problem.value.status == 422


@pytest.mark.django_db
def test_rows_of_the_database_are_read_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dashboard.api.lists.PIECE", 2)
    for number in range(5):
        append(at=number + 1, author="ada", verb="look", subject="g", detail={})

    answer = page_read(
        AuditEntry.objects.order_by("number"),
        lambda row: numbered(row.number),
        Paging(format="all", size=1),
        7,
        FORM,
    )

    assert isinstance(answer, HttpResponse)
    assert [row["number"] for row in json.loads(answer.content)["rows"]] == [1, 2, 3, 4, 5]
