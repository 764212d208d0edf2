"""What is wrong with what was asked of the API, in words: what was seen where, and what is needed. Pure.

A value itself is not sent back: where it is empty, or how long it is, is said of an address alone.
"""

from __future__ import annotations

from collections.abc import Mapping

LONG = 30  # characters
OF_ADDRESS, OF_BODY = "query", "body"
OURS, UNKNOWN = "value_error", "extra_forbidden"

# by the kind of the error, as pydantic names it; what stands in braces it says too
NEEDED: Mapping[str, str] = {
    **dict.fromkeys(("int_parsing", "int_type", "int_from_float", "int_parsing_size"), "a whole number"),
    **dict.fromkeys(("float_parsing", "float_type", "finite_number"), "a number"),
    **dict.fromkeys(("bool_parsing", "bool_type"), "true or false"),
    "string_type": "a text",
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "a list"),
    **dict.fromkeys(("dict_type", "mapping_type", "model_type", "model_attributes_type"), "an object"),
    "greater_than_equal": "at least {ge}",
    "greater_than": "more than {gt}",
    "less_than_equal": "at most {le}",
    "less_than": "less than {lt}",
    "string_too_long": "at most {max_length} characters",
    "string_too_short": "at least {min_length} characters",
    "too_long": "at most {max_length} of them",
    "too_short": "at least {min_length} of them",
    **dict.fromkeys(("literal_error", "enum"), "one of {expected}"),
    "missing": "a value, and there is none",
    "json_invalid": "JSON",
}


def words_of(error: Mapping[str, object], asked: Mapping[str, str]) -> str:
    """Say one error.

    Args:
        error: as pydantic tells it.
        asked: the address's parameters.
    """
    place, more = error["loc"], error.get("ctx")
    assert isinstance(place, tuple | list)
    named = [place[0], *place[2:]] if place[0] == OF_BODY else place  # what is second is our name for all of it
    where, name = ".".join(map(str, named)), str(place[-1])
    template = NEEDED.get(str(error["type"]))
    if error["type"] == OURS:
        return str(error["msg"]).removeprefix("Value error, ")
    if error["type"] == UNKNOWN:
        return f"there is no field {where}; nothing was done"
    if template is None:
        return f"{where}: {error['msg']}"
    needed = template.format_map(more if isinstance(more, dict) else {})
    if place[0] != OF_ADDRESS or name not in asked:
        return f"{where}: needed is {needed}"
    if not asked[name]:
        return f"{where} is empty; needed is {needed}"
    is_long = len(asked[name]) > LONG
    return (
        f"{where} has {len(asked[name])} characters; needed is {needed}" if is_long else f"{where}: needed is {needed}"
    )
