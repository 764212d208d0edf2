from __future__ import annotations

import pytest
from django.utils.translation import override

from dashboard.common.naming.columns import COLUMNS
from dashboard.common.naming.giving import columns_of, key_of, our_tables
from tests.dashboard.test_chinese import english_in

OURS = [column for model in our_tables() for column in columns_of(model)]


def test_every_column_has_a_name_and_no_name_is_without_a_column() -> None:
    used = {key_of(column) for column in OURS}

    assert len(used) > 200
    assert used - COLUMNS.keys() == set(), "name it in dashboard/common/naming/columns.py"
    assert COLUMNS.keys() - used == set(), "no column has this name any more"


@pytest.mark.usefixtures("catalogues")
def test_columns_are_called_by_it_in_both_languages() -> None:
    with override("zh-hans"):
        assert [str(words) for words in COLUMNS.values() if english_in(str(words))] == []
        assert [column for column in OURS if column.verbose_name != COLUMNS[key_of(column)]] == []
    with override("en"):
        assert {str(column.verbose_name) for column in OURS if column.name == "client_id"} == {"client id"}
