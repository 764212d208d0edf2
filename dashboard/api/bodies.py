"""Reading the body of a request: JSON as its RFC has it, in which no object says a thing twice."""

from __future__ import annotations

import json
from typing import NoReturn

from django.http import HttpRequest
from ninja.parser import Parser
from ninja.types import DictStrAny

from dashboard.api.errors import Problem
from dashboard.common.shown import shown

LONGEST_NAME = 40  # letters of a name that a refusal tells


class Strict(Parser):
    """Refuses with 400 what is no JSON, and with 422 an object that has a name twice: half of it would be lost."""

    def parse_body(self, request: HttpRequest) -> DictStrAny:
        """Read it.

        Raises:
            Problem: it cannot be read, or not in one way alone.
        """
        try:
            read: DictStrAny = json.loads(request.body, object_pairs_hook=_object, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            where = f"line {error.lineno}, column {error.colno}" if isinstance(error, json.JSONDecodeError) else "UTF-8"
            raise Problem(400, f"the body is no JSON ({where}): needed is one JSON object") from error
        return read


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    read: dict[str, object] = {}
    for name, value in pairs:
        if name in read:
            raise Problem(422, f"{shown(name, LONGEST_NAME)!r} stands twice in one object: needed is each name once")
        read[name] = value
    return read


def _refuse_constant(name: str) -> NoReturn:
    raise Problem(400, f"the body is no JSON: it has {name}, which JSON has not")
