"""The catalogues: every word that a page can show is in them and translated, nothing else; none is out of reach."""

from __future__ import annotations

import ast
import re
from collections import Counter
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message

from tests.house.literals import literals_of
from tests.house.messages import FINDERS, SAYINGS, is_translated, kept, words_of
from tests.house.project import ROOT, files, is_vendored
from tests.house.sayings import operations_in, sayings_of

DOMAINS = list(FINDERS)
HOLES = {
    "django": re.compile(r"%\((\w+)\)s|%(?![(%\s])\w"),
    "djangojs": re.compile(r"%\((\w+)\)s"),
    "sayings": re.compile(r"\{(\w+)\}"),
}
TAGS = re.compile(r"</?\w+[^>]*>")


@pytest.fixture(scope="module")
def found() -> dict[str, Catalog]:
    return {domain: words_of(domain) for domain in DOMAINS}


def ids(catalog: Catalog) -> set[tuple[object, object]]:
    return {(message.id, message.context) for message in catalog if message.id}


def messages(domain: str) -> list[Message]:
    return [message for message in kept(domain) if message.id]


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_catalogue_has_the_words_of_the_code_and_no_others(domain: str, found: dict[str, Catalog]) -> None:
    told = ids(kept(domain))

    assert len(told) > 100
    assert ids(found[domain]) - told == set(), "new words: make messages finds them, then they need a translation"
    assert told - ids(found[domain]) == set(), "words that nobody says any more: make messages drops them"


@pytest.mark.parametrize("domain", DOMAINS)
def test_every_word_is_translated_and_none_is_guessed(domain: str) -> None:
    assert [message.id for message in messages(domain) if not is_translated(message.string)] == []
    assert [message.id for message in messages(domain) if message.fuzzy] == []


def forms(message: Message) -> tuple[str, str]:
    """Give a word with its number in it, where it has one, and its translation."""
    assert message.id and message.string
    english = message.id if isinstance(message.id, str) else message.id[-1]
    chinese = message.string if isinstance(message.string, str) else message.string[0]
    return english, chinese


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_translation_puts_in_what_the_word_puts_in(domain: str) -> None:
    wrong = [
        forms(message)
        for message in messages(domain)
        if len({frozenset(Counter(HOLES[domain].findall(text)).items()) for text in forms(message)}) > 1
    ]

    assert wrong == []


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_translation_has_the_markup_of_the_word(domain: str) -> None:
    assert [forms(m) for m in messages(domain) if len({tuple(TAGS.findall(text)) for text in forms(m)}) > 1] == []


@pytest.mark.parametrize("domain", DOMAINS)
def test_a_translation_ends_as_the_word_ends(domain: str) -> None:
    ends = {".": "。", ":": "\uff1a", ",": "\uff0c", "?": "\uff1f"}

    wrong = [(a, b) for a, b in map(forms, messages(domain)) if a[-1] in ends and b[-1] not in {a[-1], ends[a[-1]]}]

    assert wrong == []


def test_nothing_in_a_template_is_out_of_the_catalogues_reach() -> None:
    templates = [path for path in files("templates/*.html", "templates/**/*.html") if not is_vendored(path)]

    out_of_reach = {str(path): literals_of((ROOT / path).read_text()) for path in templates}

    assert len(templates) > 30
    assert {path: texts for path, texts in out_of_reach.items() if texts} == {}


@pytest.mark.parametrize(
    ("template", "found"),
    [
        ("<p>{% translate 'late' %}</p>", []),
        ("<p>late</p>", ["late"]),
        ("<p>{{ n }} late</p>", ["late"]),
        ("{% blocktranslate %}<p>late</p>{% endblocktranslate %}", []),
        ('<p title="late"></p>', ["late"]),
        ('<p title="{% translate \'late\' %}" class="late"></p>', []),
        ("<p>{# late #}{% comment %}late{% endcomment %}</p>", []),
        ("<kbd>Enter</kbd><code>make run</code> JSON", []),
        ('<p translate="no">make run</p><p>late</p>', ["late"]),
        ("{% block view %}group{% endblock view %}", []),
        ("{% block title %}late{% endblock title %}", ["late"]),
    ],
)
def test_a_text_without_a_mark_is_found(template: str, found: list[str]) -> None:
    assert literals_of(template) == found


def test_no_word_stands_inside_an_f_string_where_it_is_not_found() -> None:
    assert [
        where for path in files("dashboard/*.py") for where in hidden_in((ROOT / path).read_text(), str(path))
    ] == []
    assert hidden_in("f\"{note}; {_('unknown')}\"", "a.py") == ["a.py:1"]


def hidden_in(code: str, where: str) -> list[str]:
    """Name the lines of f-strings that translate a word inside: nothing that finds words looks there."""
    inside = (each for node in ast.walk(ast.parse(code)) if isinstance(node, ast.JoinedStr) for each in ast.walk(node))
    calls = (each.func for each in inside if isinstance(each, ast.Call))
    names = {"_", "gettext", "ngettext", "pgettext"}
    return [f"{where}:{each.lineno}" for each in calls if isinstance(each, ast.Name) and each.id in names]


def test_every_call_of_gettext_in_javascript_is_found(found: dict[str, Catalog]) -> None:
    every = {word for word, _context in ids(found["djangojs"])}
    known = {form for word in every for form in ([word] if isinstance(word, str) else list(word))}  # type: ignore[call-overload]
    sources = "\n".join((ROOT / path).read_text() for path in files("static/js/*.js", "static/js/**/*.js"))

    called = set(re.findall(r'\bn?gettext\("((?:[^"\\]|\\.)*)"', sources))

    assert len(called) > 100
    assert called - known == set()


@pytest.mark.parametrize(
    ("code", "sayings"),
    [
        ('def f():\n    """A docstring."""\n    return f"{n} members hold {queue.name}"', ["{n} members hold {name}"]),
        ('x = f"{a.client} and {b.client}"', ["{client} and {client2}"]),
        ('x = f"{len(owners)} hold it"', ["{owners} hold it"]),
        ('x = "topic/broker"; y = f"{a}/{b}"; z = {"one_key": 1}', []),
        ('logger.info("it is late")', []),
        ('x = count_of(n, "queue", "queues")', ["{n} queue", "{n} queues"]),
        ('x = "needed is {a}"', ["needed is {{a}}"]),
        ('create_task(it, name=f"order {n}")', []),
    ],
)
def test_a_composed_sentence_is_found_as_a_template(code: str, sayings: list[str]) -> None:
    assert sayings_of(code) == sayings


def test_what_an_operation_of_the_api_says_is_found() -> None:
    code = '@reads("/x")\ndef x():\n    """List ``x``.\n\n    More.\n    """\n\ndef y():\n    """No operation."""\n'

    assert operations_in(code) == ["List x."]


def test_every_file_with_sayings_is_there() -> None:
    assert [name for name in SAYINGS if not list(Path(ROOT).glob(name))] == []


@pytest.mark.parametrize("domain", DOMAINS)
def test_readers_are_addressed_by_one_word(domain: str) -> None:
    assert [str(each.id) for each in kept(domain) if "您" in str(each.string)] == []
