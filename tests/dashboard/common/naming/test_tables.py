from __future__ import annotations

import pytest
from django.utils.translation import override

from dashboard.common.naming.giving import our_tables
from dashboard.common.naming.tables import TABLES
from tests.dashboard.test_chinese import english_in

OURS = {model._meta.label_lower: model for model in our_tables()}


def test_every_table_has_a_name_and_no_name_is_without_a_table() -> None:
    assert len(OURS) > 40
    assert OURS.keys() - TABLES.keys() == set(), "name it in dashboard/common/naming/tables.py"
    assert TABLES.keys() - OURS.keys() == set(), "no table has this name any more"


@pytest.mark.usefixtures("catalogues")
def test_tables_are_called_by_it_in_both_languages() -> None:
    with override("zh-hans"):
        chinese = [str(words) for names in TABLES.values() for words in names]
        given = [str(OURS["groups.round"]._meta.verbose_name), str(OURS["groups.round"]._meta.verbose_name_plural)]

    assert [words for words in chinese if english_in(words)] == []
    assert given == ["轮次", "轮次"]
    with override("en"):
        assert OURS["groups.round"]._meta.verbose_name_plural == "rounds"
        assert OURS["audit.auditentry"]._meta.verbose_name_plural == "audit entries"
