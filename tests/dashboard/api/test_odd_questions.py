"""Odd questions: whatever stands in an address, a page or the API answers or refuses, and never fails.

The addresses are all that the site has for GET, from its own table, but those of Django's administration. The names of
parameters are those of the API's description and those that pages read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote_from_bytes

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.api.site import description
from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.people.roles import Role
from dashboard.plans.parameters import TAKEN
from rebalance_engine.allocation import STRATEGIES
from tests.dashboard.persons import person
from tests.house.project import ROOT, files

EACH = 6  # questions for each address
READ = re.compile(r"GET(?:\.get(?:list)?\(|\[)\"(\w+)\"")
OF_PAGES = {"add", "remove", "rename", "queues", "broker", "strategy", "params", "person", "action", "object", "since"}
HOLE = re.compile(r"<(?:(\w+):)?(\w+)>")
NUMBERS = ("1", "0", "2147483648", "9223372036854775807", "9223372036854775808", "9" * 40)

ODD_NUMBERS = (
    "-1",
    "0",
    "-0",
    "1.5",
    "1_000",
    " 1 ",
    "0x10",
    "1e309",
    "nan",
    "inf",
    "\u0663",
    "\u00b2",
    "\uff11",
    "9" * 400,
)
ODD_WORDS = (
    "",
    "\0",
    "a\0b",
    "null",
    "true",
    "[]",
    "{}",
    "%s",
    "'",
    '"',
    "..",
    "/",
    "a>b",
    "*",
    "-",
    "-1:x",
    ",,",
    "a" * 9_000,
)
numbers = st.sampled_from(ODD_NUMBERS) | st.integers(-(2**70), 2**70).map(str)
words = st.sampled_from(ODD_WORDS) | st.text(st.characters(codec="utf-8"), max_size=12)
days = st.sampled_from(("2026-02-30", "0000-00-00", "0001-01-01", "9999-12-31", "99999-01-01", "2026-11-23T25:61Z"))
raw = st.sampled_from((b"\xff", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xc0\x80")) | st.binary(max_size=6)
things = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 2**64)
    | st.floats()
    | st.sampled_from(("", "AVG", "-", "\ud800", "a\0b")),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from(("rule", "separator", "table")), inner),
    max_leaves=5,
)
given_to_strategies = st.dictionaries(st.sampled_from((*TAKEN, "\ud800", "else")), things, min_size=1, max_size=3)
values = st.one_of(numbers, words, days).map(lambda text: text.encode()) | raw


def addresses() -> list[str]:
    """Give every address of the site, with holes for what stands in it."""
    found = {where for where in _within(get_resolver().url_patterns, "") if not where.startswith("admin/")}
    return sorted(found)


def _within(patterns: Iterable[URLPattern | URLResolver], before: str) -> Iterator[str]:
    for each in patterns:
        where = before + str(each.pattern)
        if isinstance(each, URLResolver):
            yield from _within(each.url_patterns, where)
        else:
            yield where


def names() -> dict[str, list[str]]:
    """Give the parameters of each address of the API; under "" those that pages read, anywhere."""
    told = {
        _in_one_way(where): [one["name"] for one in methods["get"].get("parameters", []) if one["in"] == "query"]
        for where, methods in json.loads(description())["paths"].items()
        if "get" in methods
    }
    read = {name for path in files("dashboard/*.py") for name in READ.findall((ROOT / path).read_text())}
    return {**{where: each for where, each in told.items() if each}, "": sorted(read | OF_PAGES)}


def _in_one_way(where: str) -> str:
    """Write an address without the names of its holes, as the API's description and the table of addresses have it."""
    return re.sub(r"<[^>]+>|{[^}]+}", "<>", where).strip("/")


def of_the_name(name: str) -> st.SearchStrategy[tuple[str, bytes]]:
    """Give a parameter and what it may be: whatever there is, or something that is read one step further."""
    near = {
        "params": given_to_strategies.map(json.dumps),
        "strategy": st.sampled_from(sorted(STRATEGIES)),
        "format": st.sampled_from(("json", "csv", "all")),
    }
    told = near[name].map(str.encode) | values if name in near else values
    return st.tuples(st.just(name), told)


@st.composite
def questions(draw: st.DrawFn, names: list[str]) -> str:
    """Give what stands after the question mark."""
    pairs = draw(st.lists(st.sampled_from(names).flatmap(of_the_name), min_size=1, max_size=4))
    return "&".join(f"{name}={quote_from_bytes(value)}" for name, value in pairs)


def filled(where: str, group: Group, number: str) -> str:
    """Put a number into each hole; there a group's own."""
    return "/" + HOLE.sub(lambda _: str(group.pk) if number == "1" else number, where)


@pytest.mark.django_db
def test_no_odd_question_makes_a_page_or_the_api_fail(client: Client, cluster: Cluster, group: Group) -> None:
    Cluster.objects.filter(pk=cluster.pk).update(is_demo=True)
    client.force_login(person(Role.ADMIN, name="ada"))
    everywhere, asked = addresses(), []  # first: the API describes itself once its operations are loaded
    all_names = names()

    def is_answered(where: str, number: str, question: str) -> None:
        answer = client.get(filled(where, group, number), QUERY_STRING=question)

        assert answer.status_code < 500, (where, number, question)
        asked.append(where)

    for where in everywhere:
        mine = all_names.get(_in_one_way(where), all_names[""])
        numbered = st.sampled_from(NUMBERS) if HOLE.search(where) else st.just("1")
        settings(max_examples=EACH, database=None)(given(st.just(where), numbered, questions(mine))(is_answered))()

    assert len(set(asked)) == len(everywhere) > 50
