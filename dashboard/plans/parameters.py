"""Parameters of a strategy as somebody wrote them into a URL: JSON, bounded, and nothing that could run long.

A rule by pattern is left out: it is a regular expression, and whoever may only look could let one run without end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.plans.questions import BadQuestion, short

TAKEN = ("inner", "broker_room", "client_room", "consumer_idcs", "virtual_nodes", "budget", "tolerance")
MOST_NODES = 1_000
RULES = ("prefix", "table")


def read_params(text: str) -> dict[str, object]:
    """Read parameters; the strategy itself checks what they mean.

    Raises:
        BadQuestion: they are no JSON object, or some of them cannot be asked for here.
    """
    params = _object_of(text) if text else {}
    if problems := list(_problems(params)):
        raise BadQuestion(problems)
    rooms = params.get("consumer_idcs")
    return params if rooms is None else {**params, "consumer_idcs": frozenset(rooms)}


def _problems(params: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted(params.keys() - set(TAKEN)):
        yield f"{short(name)} is no parameter of a dry run; there are {', '.join(TAKEN)}."
    nodes = params.get("virtual_nodes", 0)
    if not isinstance(nodes, int) or not 0 <= nodes <= MOST_NODES:
        yield f"virtual_nodes is {short(json.dumps(nodes))}; a dry run takes 0 to {MOST_NODES:,}."
    for name in ("broker_room", "client_room"):
        rule = params.get(name)
        if rule is not None and (not isinstance(rule, Mapping) or rule.get("rule") not in RULES):
            yield f"{name} is no rule by {' or '.join(RULES)}, such as {_EXAMPLE}."
    rooms = params.get("consumer_idcs")
    if rooms is not None and (not isinstance(rooms, list) or not all(isinstance(room, str) for room in rooms)):
        yield "consumer_idcs is no list of rooms."


def _object_of(text: str) -> dict[str, Any]:
    """Read a JSON object that can be told again."""
    try:
        params = json.loads(text)
        json.dumps(params, ensure_ascii=False).encode()  # "\\ud800" is JSON, and no text that an answer can have
    except UnicodeEncodeError:
        raise BadQuestion(["The parameters have half a character, as \\ud800 is; needed are whole ones."]) from None
    except json.JSONDecodeError as error:
        where = f"they make no sense from character {error.pos + 1:,} on"
        raise BadQuestion(
            [f"The parameters are no JSON: {where}; needed is {_EXAMPLE_PARAMS}, or the like."]
        ) from error
    except (ValueError, RecursionError) as error:
        raise BadQuestion(
            [f"The parameters are too much to read; needed is {_EXAMPLE_PARAMS}, or the like."]
        ) from error
    if not isinstance(params, dict):
        raise BadQuestion([f"The parameters are no JSON object; needed is {_EXAMPLE_PARAMS}, or the like."])
    return params


_EXAMPLE = '{"rule": "prefix", "separator": "-"}'
_EXAMPLE_PARAMS = '{"virtual_nodes": 20}'
