"""Find the sentences that Python code composes for people, as templates: what stands in braces is put in.

``f"{len(owners)} members hold {queue}"`` is ``{owners} members hold {queue}``. Read from the code's tree, so that a
sentence that somebody adds cannot be forgotten.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

WORDS = re.compile(r"[A-Za-z]{2,}[,:;]? +[A-Za-z{(]|[A-Za-z}):,;] +[A-Za-z]{2,}")  # two words, or one beside a value


def sayings_of(source: str) -> list[str]:
    """Give all templates of a module in the order of the code; docstrings, names and what is for logs are none."""
    tree = ast.parse(source)
    return list(dict.fromkeys(_sayings(tree, _left_out(tree))))


def operations_in(source: str) -> list[str]:
    """Give the first line that each operation of the API says of itself, as the page of the API shows it."""
    functions = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]
    described = [node for node in functions if any(map(_is_operation, node.decorator_list))]
    return [_quoted((ast.get_docstring(node) or "").splitlines()[0].replace("``", "")) for node in described]


def _is_operation(decorator: ast.expr) -> bool:
    """See ``dashboard/api/site.py``."""
    called = decorator.func if isinstance(decorator, ast.Call) else decorator
    return isinstance(called, ast.Name) and called.id in {"reads", "reads_as", "does", "ends"}


def _sayings(tree: ast.AST, left_out: set[int]) -> Iterator[str]:
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "count_of":
            yield from (
                f"{{n}} {noun.value}"
                for noun in node.args[1:]
                if isinstance(noun, ast.Constant) and isinstance(noun.value, str)
            )
        if id(node) in left_out:
            continue
        if isinstance(node, ast.JoinedStr):
            inside.update(id(part) for part in node.values if isinstance(part, ast.Constant))
            template = _template(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            template = _quoted(node.value)
        else:
            continue
        if WORDS.search(template.replace("UTC", "")):
            yield template


def _left_out(tree: ast.AST) -> set[int]:
    """Give what is for no reader of a page: docstrings, and what is no text but the name of something."""
    found = set[int]()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
        if isinstance(node, ast.Call):
            found.update(id(each) for part in _names_in(node) for each in ast.walk(part))
    return found


def _names_in(call: ast.Call) -> list[ast.AST]:
    """Give what of a call is for logs, is a list of names, or names a task."""
    named: list[ast.AST] = [each.value for each in call.keywords if each.arg == "name"]
    if isinstance(call.func, ast.Attribute):
        if isinstance(call.func.value, ast.Name) and call.func.value.id == "logger":
            return [call]
        if call.func.attr == "split":
            named.append(call.func.value)
    if isinstance(call.func, ast.Name) and call.func.id in {"Kind", "_kind"}:
        return [call]  # what strategies are stands in no page
    if isinstance(call.func, ast.Name) and call.func.id == "count_of":
        named += call.args[1:]  # a noun is nothing without its number
    return named


def _template(node: ast.JoinedStr) -> str:
    taken: dict[str, int] = {}
    parts = []
    for part in node.values:
        if isinstance(part, ast.Constant):
            parts.append(_quoted(str(part.value)))
        elif isinstance(part, ast.FormattedValue):
            name = _name(part.value)
            taken[name] = taken.get(name, 0) + 1
            parts.append(f"{{{name}{taken[name] if taken[name] > 1 else ''}}}")
    return "".join(parts)


def _name(value: ast.expr) -> str:
    """Name a value after the first name in its expression that is its own."""
    if isinstance(value, ast.Name):
        return value.id.strip("_")
    if isinstance(value, ast.Attribute):
        return value.attr.strip("_")
    if isinstance(value, ast.Call) and value.args:
        return _name(value.args[0])
    if isinstance(value, ast.Subscript):
        return _name(value.value)
    if isinstance(value, ast.IfExp):
        return _name(value.test)
    inner = next((each for each in ast.walk(value) if isinstance(each, ast.Name)), None)
    return inner.id.strip("_") if inner else "value"


def _quoted(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
