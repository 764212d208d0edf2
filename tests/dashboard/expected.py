"""Who is expected to get in where, as ``access.txt`` says: written by hand, and asked of nothing that decides it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dashboard.people.roles import Role

TABLE = Path(__file__).with_name("access.txt")
COLUMNS = ("GET", "POST", "DELETE")
OPEN, NOBODY = "open", "-"
ROW = ("", "add/", "1/", "1/change/", "1/delete/", "1/history/")  # the addresses of a table in Django's admin
SOCKET = "socket "


@dataclass(frozen=True, slots=True)
class Expected:
    """Who gets in at one address: for each method ``open``, ``-``, or the name of a role."""

    by_method: dict[str, str]

    @property
    def is_open(self) -> bool:
        return OPEN in self.by_method.values()

    def lets_in(self, role: Role | None, method: str) -> bool:
        """Say whether a person of a role passes the gate with a method."""
        return role is not None and role.includes(self.needed(method))

    def has(self, method: str) -> bool | None:
        """Say whether the address has a method; None: the table does not say."""
        word = self.by_method.get(method)
        return None if word is None else word != NOBODY

    def needed(self, method: str) -> Role:
        """Give the role that a method needs; one that there is not needs the lowest of all."""
        if self.has(method):
            return Role(self.by_method[method])
        return min((Role(word) for word in self.by_method.values() if word != NOBODY), key=lambda role: role.rank)


def expected(lines: list[str]) -> dict[str, Expected]:
    """Read the table, by address; a socket's begins with ``socket``.

    Raises:
        ValueError: a line makes no sense, or an address stands there twice.
    """
    found: dict[str, Expected] = {}
    for line in lines:
        if not line.strip() or line.startswith("#"):
            continue
        is_socket = line.startswith(SOCKET)
        address, *words = line.removeprefix(SOCKET).split()
        columns = COLUMNS[:1] if is_socket else COLUMNS
        if len(words) != len(columns) or set(words) - {OPEN, NOBODY, *(role.value for role in Role)}:
            raise ValueError(f"{line!r}; it needs a role, open or - for each of {', '.join(columns)}")
        for each in _spelled_out(address):
            name = f"{SOCKET}{each}" if is_socket else each
            if name in found:
                raise ValueError(f"{name} stands there twice")
            found[name] = Expected(dict(zip(columns, words, strict=True)))
    return found


def _spelled_out(address: str) -> Iterator[str]:
    """Give each address that one with ``{a,b}`` or ``<row>`` stands for."""
    choice = re.search(r"\{([^}]*)\}|<row>", address)
    if choice is None:
        yield address
        return
    for each in ROW if choice[1] is None else choice[1].split(","):
        yield from _spelled_out(address[: choice.start()] + each + address[choice.end() :])


ALL_EXPECTED = expected(TABLE.read_text().splitlines())
