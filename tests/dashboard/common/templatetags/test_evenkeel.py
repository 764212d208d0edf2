from __future__ import annotations

import re

import pytest
from django.template import Context, Template
from django.utils import translation

from dashboard.common.fields import printable
from dashboard.common.templatetags import evenkeel


def render(text: str, **values: object) -> str:
    return Template("{% load evenkeel %}" + text).render(Context(values))


def test_figures_say_where_they_come_from() -> None:
    assert 'data-mark="exact"' in render("{% figure 3 %}")
    assert render("{% figure n %}", n=None) == render('{% figure n "bound" %}', n=None)
    assert 'data-mark="unknown"' in render("{% figure n %}", n=None)
    assert "≤\u00a05\u00a0ms" in render("{% between 0 5 %}")
    assert 'data-mark="unknown"' in render("{% between a a %}", a=None)


def test_a_strangers_text_stays_text() -> None:
    assert "<b>" not in render("{% figure name %}", name="<b>")


def test_what_no_database_takes_is_written_alike_in_a_name_and_in_a_stored_sentence() -> None:
    name = "a\0b\ud800"

    assert render("{{ sentence|said|shown }}", sentence=printable(f"{name} joined")) == "a⟨U+0000⟩b⟨U+D800⟩ joined"
    assert "a⟨U+0000⟩b⟨U+D800⟩" in render("{% ident name %}", name=name)


def test_instants_are_whole_for_machines() -> None:
    at = 1_700_000_000_007

    assert 'datetime="2023-11-14T22:13:20.007Z"' in render("{% moment at %}", at=at)
    assert "–" in render("{% moment at %}", at=None)
    assert render("{{ at|clock }} {{ at|clock_s }} {{ at|day }}", at=at) == "22:13:20.007 22:13:20 2023-11-14"
    assert render("{{ 1500|span }} {{ 0|until:1500 }}") == "1.5\u00a0s 1.5\u00a0s"


def test_what_lasts_says_for_how_long() -> None:
    at = 1_700_000_000_007

    assert render("{% lasts at now %}", at=at, now=at + 181_000) == (
        f'<span class="lasts" data-lasts="{at}">for 3\u00a0min\u00a001\u00a0s</span>'
    )
    assert ">for 44\u00a0s<" in render("{% lasts at now %}", at=at, now=at + 44_900)


def test_instants_say_how_exactly_they_are_known() -> None:
    at = 1_700_000_000_007

    assert 'data-mark="exact"' in render("{% instant at at at %}", at=at)
    assert render("{% instant at none at %}", at=at, none=None).startswith("≤")
    assert render("{% instant at at none %}", at=at, none=None).startswith("≥")
    assert render("{% instant at none none %}", at=at, none=None).startswith("~")
    assert "22:13:19.007</time> – <time" in render("{% instant at low at %}", at=at, low=at - 1_000)
    assert 'data-mark="unknown"' in render("{% instant none none none %}", none=None)


@pytest.mark.parametrize(
    ("low", "high", "words"),
    [
        (0, 0, "22:13:20.007"),
        (-129_000, 0, "≤\u202f22:13:20.007"),
        (-129_000, 500, "≤\u202f22:13:20.507"),
        (-129_000, None, "≤\u202f22:13:20.007"),
        (None, 0, "≤\u202f22:13:20.007"),
        (0, None, "≥\u202f22:13:20.007"),
        (None, None, "~\u202f22:13:20.007"),
    ],
)
def test_in_a_table_an_instant_is_bare_only_where_it_is_exact(low: int | None, high: int | None, words: str) -> None:
    at = 1_700_000_000_007
    bounds = {name: None if each is None else at + each for name, each in (("low", low), ("high", high))}

    told = render("{% seen_by at low high %}", at=at, **bounds)

    assert re.sub("<[^>]*>", "", told) == words
    assert ("22:11:11.007 UTC at the earliest" in told) is (low == -129_000)
    assert "–" in render("{% seen_by none none none %}", none=None)


def test_stylesheets_are_found() -> None:
    assert render('{% for n in "a b"|split_words %}{% stylesheet n %} {% endfor %}').split() == [
        "/static/css/a.css",
        "/static/css/b.css",
    ]


def test_names_are_written_out_and_cut_ones_open_to_the_whole() -> None:
    long = "a" * 100 + "\u202e"

    assert render("{{ n|shown }}", n="a\u202e<b>") == "a⟨U+202E⟩&lt;b&gt;"
    assert render("{{ n|shown:5 }}", n="abcdefgh") == "ab…gh"
    assert render("{{ n|shown }}", n=None) == ""
    assert render('{{ n|shown_joined:"; " }}', n=["a\u200b", "b"]) == "a⟨U+200B⟩; b"
    assert render("{% ident n %}", n="abc") == '<bdi class="id">abc</bdi>'
    assert "–" in render("{% ident n %}", n=None)
    assert f'title="{"a" * 100}⟨U+202E⟩"' in render("{% ident n 20 %}", n=long)
    assert render("{% whole_ident n 20 %}", n="abc") == '<bdi class="id">abc</bdi>'
    assert f"{'a' * 100}⟨U+202E⟩</bdi></details>" in render("{% whole_ident n 20 %}", n=long)


def test_why_a_server_does_not_answer_is_a_sentence_without_what_the_system_spells() -> None:
    raw = "the connection could not be made ([Errno 111] Connect call failed ('192.0.2.1', 9876))"

    assert evenkeel.as_sentence(raw) == "The connection could not be made (connection refused)."
    assert evenkeel.as_sentence("no answer in time") == "No answer in time."
    with translation.override("zh-hans"):
        said = evenkeel.as_sentence(raw)
    assert said.startswith("无法建立连接")
    assert "连接被拒绝" in said
    assert "Errno" not in said
