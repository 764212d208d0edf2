from __future__ import annotations

from dashboard.common.tables import attached, write_csv


def test_a_table_is_written_so_that_no_text_is_computed() -> None:
    text = write_csv(["a", "b"], [["=1+1", None], [["x", "y"], True], ["a,b\0\ud800", -1]])

    assert text.splitlines() == ["a,b", "'=1+1,", "x y,true", '"a,b\\u0000\\ud800",-1']


def test_a_file_is_named_by_what_a_file_name_may_have() -> None:
    answer = attached("a", 'members-"../%RETRY%')

    assert answer["Content-Disposition"] == 'attachment; filename="members-_.._RETRY_.csv"'.replace("_.._", "_..__")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
