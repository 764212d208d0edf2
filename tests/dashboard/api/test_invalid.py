from __future__ import annotations

import pytest
from django.test import Client

from dashboard.api.invalid import words_of
from dashboard.api.site import description
from dashboard.groups.models import Group
from tests.dashboard.api.conftest import Get


@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("rounds?since=", "query.since is empty; needed is a whole number"),
        ("rounds?since=soon", "query.since: needed is a whole number"),
        ("rounds?page=0", "query.page: needed is at least 1"),
        ("rounds?size=5000", "query.size: needed is at most 1000"),
        ("rounds?format=xml", "query.format: needed is one of 'json', 'csv' or 'all'"),
        (f"rounds/1/moves?at={'9' * 50}", "query.at has 50 characters; needed is at most 40 characters"),
        ("rounds?since=9&until=5", "since is 9, after until, 5; needed is a since that is not after until"),
        ("lag?since=9&until=5", "since is 9, after until, 5; needed is a since that is not after until"),
    ],
)
def test_what_was_seen_and_what_is_needed_is_said_in_plain_words(
    get: Get, client: Client, group: Group, question: str, words: str
) -> None:
    assert get("/clusters")

    answer = client.get(f"/api/v1/groups/{group.pk}/{question}")

    assert (answer.status_code, answer.json()["problem"]) == (422, words)


def test_of_a_body_nothing_is_sent_back() -> None:
    error = {"type": "string_type", "loc": ("body", "asked", "reason"), "msg": "Input should be a valid string"}

    assert words_of(error, {"reason": "secret"}) == "body.reason: needed is a text"


def test_what_a_body_has_is_named_as_who_sends_it_names_it() -> None:
    lacks = {"type": "missing", "loc": ("body", "draft", "assignment"), "msg": "Field required"}
    odd = {"type": "extra_forbidden", "loc": ("body", "draft", "lists", 0, "clients"), "msg": "Extra inputs"}
    broken = {"type": "json_invalid", "loc": ("body",), "msg": "JSON decode error"}

    assert words_of(lacks, {}) == "body.assignment: needed is a value, and there is none"
    assert words_of(odd, {}) == "there is no field body.lists.0.clients; nothing was done"
    assert words_of(broken, {}) == "body: needed is JSON"


def test_what_is_not_known_here_keeps_its_own_words() -> None:
    assert words_of({"type": "url_type", "loc": ("query", "at"), "msg": "URL"}, {}) == "query.at: URL"
    error = {"type": "value_error", "loc": ("query",), "msg": "Value error, it is odd"}

    assert words_of(error, {}) == "it is odd"


def test_times_that_may_be_left_out_say_what_null_means() -> None:
    assert b"UTC epoch ms; null, as without it: until now" in description()
    assert b"UTC epoch ms; null, as without it: from a day before its end" in description()
