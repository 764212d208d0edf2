from __future__ import annotations

import json
from typing import Any

import pytest
from django.urls import get_resolver

from dashboard.api.nulls import TOLD, may_be_null
from dashboard.api.site import description
from dashboard.groups.models import Group
from tests.dashboard.api.conftest import Get

ASKED = ("Asked", "Within")  # what is asked for: there, null is not to ask
OF_GROUP = ("", "/rounds", "/rounds/1", "/rounds/1/moves", "/handoffs", "/members", "/queues")
PLACES = ("/groups", "/clusters", *(f"/groups/{{}}{each}" for each in OF_GROUP))


def fields_by_schema() -> dict[str, dict[str, Any]]:
    assert get_resolver().url_patterns  # all operations are declared by then
    schemas = json.loads(description())["components"]["schemas"]
    return {name: each.get("properties", {}) for name, each in schemas.items() if not name.endswith(ASKED)}


def test_every_field_that_may_be_null_says_what_null_means() -> None:
    schemas = fields_by_schema()
    may = [(name, field) for name, fields in schemas.items() for field, each in fields.items() if may_be_null(each)]
    said = {(name, field): schemas[name][field].get("description", "") for name, field in may}

    assert len(may) > 100
    assert [each for each, words in said.items() if "null: " not in words] == []
    assert [each for each, words in said.items() if TOLD in words and "unknown" not in schemas[each[0]]] == []


@pytest.mark.parametrize("where", PLACES)
def test_of_what_unknown_is_said_to_tell_it_tells(get: Get, group: Group, where: str) -> None:
    answer = get(where.format(group.pk))
    rows = answer.get("rows", [answer])
    fields = next(each for each in fields_by_schema().values() if each.keys() == rows[0].keys())

    nulls = {(name, name in row["unknown"]) for row in rows for name, value in row.items() if value is None}

    assert rows
    assert {name for name, is_told in nulls if fields[name]["description"] == TOLD and not is_told} == set()
