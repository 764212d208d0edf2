from __future__ import annotations

import pytest
from django.utils.translation import override

from dashboard.auditing.words import action_words, detail_words
from dashboard.plans.operations import VERB


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


def test_details_have_names_in_the_readers_language_and_others_stay() -> None:
    with override("zh-hans"):
        assert [detail_words(name) for name in ("command", "reason", "sha256")] == ["指令", "理由", "sha256"]
