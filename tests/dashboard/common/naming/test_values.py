from __future__ import annotations

import pytest
from django.utils.translation import override

from dashboard.auditing.words import action_words
from dashboard.common.naming.giving import columns_of, our_tables
from dashboard.common.naming.values import ACTIONS, EXPLANATIONS, NAMES, VALUES
from dashboard.demo.orders import VERBS
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.plans.operations import VERB
from tests.dashboard.test_chinese import english_in

OURS = [column for model in our_tables() for column in columns_of(model)]


@pytest.mark.usefixtures("catalogues")
def test_whatever_can_be_chosen_has_words_and_no_word_can_never_be_chosen() -> None:
    values = {str(value) for column in OURS for value, _label in column.flatchoices}

    assert values - VALUES.keys() - NAMES == set(), "say it in dashboard/common/naming/values.py"
    assert (VALUES.keys() | NAMES) - values == set(), "no column has this word any more"
    with override("zh-hans"):
        assert [value for value, words in VALUES.items() if english_in(str(words))] == []


def test_roles_are_names_though_a_source_has_the_name_of_one() -> None:
    of_roles = next(column for column in OURS if column.name == "role")

    with override("zh-hans"):
        assert [str(label) for _value, label in of_roles.flatchoices] == ["viewer", "operator", "admin"]


@pytest.mark.usefixtures("catalogues")
def test_whatever_explains_a_column_has_words_and_no_word_explains_nothing() -> None:
    with override("en"):
        said = {str(column.help_text) for column in OURS if column.help_text}
    with override("zh-hans"):
        explained = {str(column.help_text) for column in OURS if column.help_text}

    assert said - EXPLANATIONS == set(), "mark it in dashboard/common/naming/values.py"
    assert EXPLANATIONS - said == set(), "no column is explained so any more"
    assert explained & said == set()


@pytest.mark.usefixtures("catalogues")
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_actions_are_said_as_the_page_of_the_log_says_them(language: str) -> None:
    assert ACTIONS.keys() == {RECOMPUTE, VERB, *VERBS}
    with override(language):
        assert {key: str(words) for key, words in ACTIONS.items()} == {key: action_words(key) for key in ACTIONS}
