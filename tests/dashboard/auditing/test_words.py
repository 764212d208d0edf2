from __future__ import annotations

import pytest
from django.utils.translation import override

from dashboard.auditing.words import action_words, detail_words
from dashboard.demo import orders as demo
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.plans.operations import VERB
from tests.house.messages import DONE


@pytest.mark.parametrize(
    ("verb", "language", "words"),
    [
        ("group.recompute", "en", "Recompute now"),
        (VERB, "en", "Keep a by-config version"),
        (VERB, "zh-hans", "保存按配置分配的版本"),
        ("grant a role", "zh-hans", "授予角色"),
        ("cluster.unheard-of", "en", "cluster.unheard-of"),
    ],
)
def test_actions_have_words_in_the_readers_language(verb: str, language: str, words: str) -> None:
    with override(language):
        assert action_words(verb) == words


def test_whatever_can_be_ordered_or_is_done_has_chinese_words() -> None:
    with override("zh-hans"):
        english = [verb for verb in (VERB, RECOMPUTE, *demo.VERBS, *DONE) if action_words(verb) == verb]

    assert english == []


def test_details_have_names_in_the_readers_language_and_others_stay() -> None:
    with override("zh-hans"):
        assert [detail_words(name) for name in ("command", "reason", "sha256")] == ["指令", "理由", "sha256"]
