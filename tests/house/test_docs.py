"""The documents name what there is, and what they point to is there."""

import ast
import os
import re
import subprocess
from pathlib import Path

import pytest

from rebalance_engine.allocation import STRATEGIES
from tests.house.project import ROOT, files

DOCS = "\n".join((ROOT / path).read_text() for path in files("docs/*.md"))
COMMANDS = "\n".join((ROOT / name).read_text() for name in ("README.md", "docs/contributing.md"))
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")  # a colon would be another site's


def verbs() -> list[str]:
    """Ask make, without what an outer make hands down."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    listed = subprocess.run(["make"], cwd=ROOT, env=environment, check=True, capture_output=True, text=True).stdout
    return re.findall(r"^ +make (\S+)", listed, re.MULTILINE)


def test_make_lists_every_verb() -> None:
    declared = re.findall(r"^\.PHONY: (\S+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)

    assert {"run", "test", "check"} <= set(declared)
    assert verbs() == declared


def test_the_docs_name_every_verb() -> None:
    unnamed = [verb for verb in verbs() if not re.search(rf"\bmake {verb}(?![\w-])", COMMANDS)]

    assert unnamed == []


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_docs_name_every_strategy(strategy: str) -> None:
    assert f"`{strategy}`" in DOCS


def test_the_page_of_strategies_names_every_parameter() -> None:
    page = (ROOT / "docs" / "strategies.md").read_text()
    parameters = {name for kind in STRATEGIES.values() for name in kind.takes}

    assert "virtual_nodes" in parameters
    assert [name for name in sorted(parameters) if f"`{name}`" not in page] == []


def test_the_architecture_names_every_room_of_the_engine() -> None:
    architecture = (ROOT / "docs" / "architecture.md").read_text()
    rooms = {path.parts[1] + "/" * (len(path.parts) > 2) for path in files("rebalance_engine/*.py")}

    unnamed = [room for room in sorted(rooms - {"__init__.py"}) if f"`{room}`" not in architecture]

    named = set(re.findall(r"^\| .*`([a-z_]+(?:\.py|/))`", architecture.partition("### The floors")[0], re.MULTILINE))

    assert "model.py" in rooms
    assert unnamed == []
    assert sorted(named - rooms) == []


def test_the_settings_page_names_every_variable_that_is_read_and_no_other() -> None:
    rows = re.findall(r"^\|(.*?)\|", (ROOT / "docs" / "settings.md").read_text(), re.MULTILINE)
    told = {name for row in rows for name in re.findall(r"`([A-Z_]+)`", row)}
    read = {name for path in files("dashboard/**/*.py", "rebalance_engine/**/*.py") for name in variables_in(path)}

    assert {"EVENKEEL_HOME", "REDIS_URL", "EVENKEEL_REPORT_TOKEN", "EVENKEEL_TLS"} < read
    assert told == read - {"PATH"}


def variables_in(path: Path) -> set[str]:
    """Give the variables that a module reads: by ``env.get(NAME)``, ``environ[NAME]`` or ``read_x(env, NAME)``."""
    tree = ast.parse((ROOT / path).read_text())
    constants = {
        target.id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
        for target in node.targets
        if isinstance(target, ast.Name)
    }
    names = (name for node in ast.walk(tree) if (name := _read_by(node)) is not None)
    given = (constants.get(name.id) if isinstance(name, ast.Name) else getattr(name, "value", None) for name in names)
    return {name for name in given if isinstance(name, str)}


def _read_by(node: ast.AST) -> ast.expr | None:
    """Give the name that an expression reads from the environment; None where it reads none."""
    match node:
        case ast.Call(func=ast.Attribute(value=place, attr="get"), args=[name, *_]) if _is_environment(place):
            return name
        case ast.Call(func=ast.Name(id=reader), args=[place, name, *_]) if reader.startswith("read_"):
            return name if _is_environment(place) else None
        case ast.Subscript(value=place, slice=name, ctx=ast.Load()) if _is_environment(place):
            return name
    return None


def _is_environment(place: ast.expr) -> bool:
    return ast.unparse(place) in {"env", "environ", "environment", "os.environ"}


def test_links_lead_somewhere() -> None:
    links = [(path, target) for path in files("*.md") for target in LINK.findall((ROOT / path).read_text())]

    dead = [f"{path}: {target}" for path, target in links if not (ROOT / path.parent / target).exists()]

    assert links
    assert dead == []


def test_the_articles_page_says_what_every_transcript_holds() -> None:
    page = (ROOT / "docs" / "articles.md").read_text()
    transcripts = {path.name for path in files("tests/scenarios/**/*.txt")}

    assert "self_not_in_list.txt" in transcripts
    assert transcripts == set(re.findall(r"`(\w+\.txt)`", page))
