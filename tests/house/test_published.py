"""Nothing that is published ties the project to a registry or to somebody's machine."""

import re
from collections.abc import Iterator

import pytest

from tests.house.project import ROOT, files, is_vendored

# Written in pieces, so that this file passes its own test.
REGISTRIES = [
    ".".join(pieces)
    for pieces in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("npmjs", "org"),
        ("npmjs", "com"),
        ("yarnpkg", "com"),
        ("repo", "maven", "apache", "org"),
        ("repo1", "maven", "org"),
        ("deb", "debian", "org"),
        ("crates", "io"),
        ("golang", "org"),
        ("rubygems", "org"),
    )
]
MACHINE_PATHS = [f"/{folder}/" for folder in ("work", "root")]
FORBIDDEN = re.compile(
    "|".join(
        [rf"(?<![\w-]){re.escape(host)}(?![\w-])" for host in REGISTRIES]
        + [rf"(?<![\w.)}}-]){path}" for path in MACHINE_PATHS]
    )
)


def test_the_lock_has_no_addresses() -> None:
    lock = (ROOT / "requirements.lock").read_text()

    assert "--hash=sha256:" in lock
    assert "://" not in lock


def test_no_file_names_a_registry_or_a_path_of_one_machine() -> None:
    assert list(forbidden_lines()) == []


def forbidden_lines() -> Iterator[str]:
    for path in files():
        if path.name == "LICENSE" or is_vendored(path):
            continue
        text = (ROOT / path).read_text(errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if found := FORBIDDEN.search(line):
                yield f"{path}:{number}: {found[0]}"


@pytest.mark.parametrize("host", REGISTRIES)
def test_a_registry_is_found(host: str) -> None:
    assert FORBIDDEN.search(f"fetch it from files.{host}/simple")


@pytest.mark.parametrize("path", MACHINE_PATHS)
def test_a_path_of_one_machine_is_found(path: str) -> None:
    assert FORBIDDEN.search(f'"{path}main"')
    assert not FORBIDDEN.search(f"somewhere{path}main")


@pytest.mark.parametrize("namespace", ["http://www.w3.org/2000/svg", "https://www.apache.org/licenses/LICENSE-2.0"])
def test_a_namespace_is_no_registry(namespace: str) -> None:
    assert not FORBIDDEN.search(namespace)
