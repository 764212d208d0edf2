from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from django.contrib.admin import site
from django.utils.translation import override

from dashboard.audit.audited import Audited
from dashboard.auditing.words import action_words, detail_words, value_words
from dashboard.config.home import ROOT
from dashboard.demo import orders as demo
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.plans.operations import VERB
from tests.house.messages import DONE

TELLING = {"detail", "asked"}  # names of what is told
NOTING = {"append", "note", "_note", "note_end"}
PARAMETERS = {"how"}  # of orders: see dashboard/demo/orders.py


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
        assert [detail_words(name) for name in ("command", "reason", "unheard-of")] == ["指令", "理由", "unheard-of"]


def test_whatever_is_ever_told_in_the_log_has_a_name() -> None:
    names = {*told_by_code(), *told_by_tables(), *PARAMETERS}

    with override("zh-hans"):
        english = sorted(name for name in names if detail_words(name) == name)

    assert {"acknowledged", "namesrv", "read only", "sha256", "makes its topic", "outcome", "is_staff"} <= names
    assert english == []


def told_by_code() -> set[str]:
    """Give the keys of whatever is called a detail, or goes to what notes, in modules that append to the log."""
    found: set[str] = set()
    for path in sorted((ROOT / "dashboard").rglob("*.py")):
        source = path.read_text()
        if "audit.operations import append" in source or "audit.audited import" in source:
            found |= {key for node in ast.walk(ast.parse(source)) for key in _keys(node)}
    return found


def _keys(node: ast.AST) -> Iterator[str]:
    values: list[ast.expr] = []
    if isinstance(node, ast.Assign) and any(isinstance(to, ast.Name) and to.id in TELLING for to in node.targets):
        values = [node.value]
    elif isinstance(node, ast.Call):
        called = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        values = [*node.args, *(each.value for each in node.keywords)] if called in NOTING else []
    for each in values:
        if isinstance(each, ast.Dict):
            yield from (key.value for key in each.keys if isinstance(key, ast.Constant) and isinstance(key.value, str))


def told_by_tables() -> set[str]:
    """Give the columns that forms of the Django admin write, of tables of which each change stands in the log."""
    found: set[str] = set()
    for model, table in site._registry.items():  # there is no other list of them
        if isinstance(table, Audited):
            forms = (table.form, getattr(table, "add_form", table.form))
            columns = {column.name for column in (*model._meta.fields, *model._meta.many_to_many)}
            found |= set(table.told) | {name for form in forms for name in form.base_fields if name in columns}
    return found


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("read only", False, "no"),
        ("read only", {"before": True, "after": False}, "yes → no"),
        ("email", {"before": "", "after": "a@b"}, "nothing → a@b"),
        ("outcome", "done", "done"),
        ("command", 7, "7"),
        ("password", "changed", "changed"),
        ("reason", "changed", "changed"),
        ("parameters", {"how": "silent"}, "how: falls silent"),
        ("permissions", ["a", "b"], "a, b"),
        ("note", None, "nothing"),
        ("acknowledged", ["1 queue has no owner"], "1 queue has no owner"),
        (
            "acknowledged",
            [{"kind": "without owner", "key": "x", "count": 1, "subjects": ["orders/east/0"]}],
            "1 queue has no owner: its messages would wait (orders/east/0)",
        ),
    ],
)
def test_values_are_told_in_words(name: str, value: object, words: str) -> None:
    assert value_words(name, value) == words


def test_values_are_told_in_the_readers_language_and_reasons_as_they_were_written() -> None:
    told = [("read only", False), ("outcome", "done"), ("role", "admin"), ("password", "changed"), ("how", "crash")]
    risk = {"kind": "retry left out", "key": "x", "count": 1, "subjects": ["%RETRY%g/east/0"]}

    with override("zh-hans"):
        words = [value_words(name, value) for name, value in (*told, ("acknowledged", [risk]))]
        assert value_words("reason", "changed") == "changed"

    assert [each for each in words[:-1] if each.isascii()] == []
    assert words[-1].endswith("(%RETRY%g/east/0)") and "left out" not in words[-1]
