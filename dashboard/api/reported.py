"""The door of reports as the API's description has it: it is another room's, and takes tokens of groups alone. Pure."""

from __future__ import annotations

WHERE = "/reports"
ABOUT = """Take a report: facts that a client, or a command, states of itself, exactly, as lines of the event log.

It comes with the token of a group (page `/tokens/`), never with one of a person. The same `report` is the same report,
and is stored once. It has at most 1 MiB and 1,000 facts. `docs/reports.md` says which facts a report states."""

NEEDED = "token of the group"  # no role of a person
_ID = {"type": "string", "minLength": 1, "maxLength": 255}
_REPORT = {
    "type": "object",
    "required": ["v", "report", "group", "facts"],
    "properties": {
        "v": {"const": 1, "description": "the version of this shape"},
        "report": {**_ID, "description": "the report's own id"},
        "group": {**_ID, "description": "the group that every fact is about"},
        "facts": {"type": "array", "maxItems": 1_000, "items": {"type": "object"}},
    },
}
_TAKEN = {
    "type": "object",
    "required": ["report", "facts", "stored", "was_there"],
    "properties": {
        "report": {"type": "string"},
        "facts": {"type": "integer"},
        "stored": {"type": "integer", "description": "how many told anything new"},
        "was_there": {"type": "boolean", "description": "whether the same report was taken before"},
    },
}
_REFUSED = {"type": "object", "required": ["problem"], "properties": {"problem": {"type": "string"}}}
_STATUSES = {
    200: "the same report was taken before",
    201: "taken",
    401: "there is no token of a group that is good",
    403: "it is about another group, or somebody else, than the token is for",
    404: "there is no such address",
    409: "another report was taken under this id",
    413: "it is too large: send two",
    415: "the body is no application/json",
    422: "it is no report, or has a fact that no report states",
    503: "brokers do not list this client yet; Retry-After says when to try again",
}


def described() -> dict[str, object]:
    """Give the address's description, as OpenAPI 3.1 has it."""
    return {
        "post": {
            "operationId": "take_report",
            "summary": "Report",
            "description": ABOUT,
            "x-needs-role": NEEDED,
            "security": [{"group_token": []}],
            "requestBody": {"required": True, "content": {"application/json": {"schema": _REPORT}}},
            "responses": {str(status): _answer(status, words) for status, words in _STATUSES.items()},
        }
    }


def _answer(status: int, words: str) -> dict[str, object]:
    schema = _TAKEN if status < 400 else _REFUSED
    return {"description": words, "content": {"application/json": {"schema": schema}}}
