from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from dashboard.api.shapes import LARGEST_TABLE, Paging, Refusal, representable


def test_half_a_surrogate_pair_is_written_out_once() -> None:
    once = representable("a\ud800\udc00\0")

    assert once == "a\\ud800\\udc00\0"
    assert representable(once) == once
    assert Refusal(problem="\udfff").problem == "\\udfff"


def test_a_page_is_cut_where_it_is_asked_and_a_table_is_bounded() -> None:
    assert Paging(page=3, size=10).span == slice(20, 30)
    assert Paging(page=3, size=10, format="csv").span == slice(0, LARGEST_TABLE)
    assert Paging(page=3, size=10, format="all").span == slice(0, LARGEST_TABLE)


@pytest.mark.parametrize("wrong", [{"page": 0}, {"size": 0}, {"size": 1_001}, {"format": "xml"}], ids=str)
def test_a_page_that_makes_no_sense_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Paging(**wrong)
