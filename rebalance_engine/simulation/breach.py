"""A promise that was broken, and the times in which some promises do not hold because of the faults themselves."""

from __future__ import annotations

from dataclasses import dataclass, field


class Breach(AssertionError):
    """Something that must always hold does not."""


def hold(condition: object, message: str) -> None:
    """Insist that something holds."""
    if not condition:
        raise Breach(message)


@dataclass(frozen=True, slots=True)
class _Storm:
    begins: int
    ends: int
    names: frozenset[str]


@dataclass(slots=True)
class Weather:
    """When which processes could not hear each other as usual; no names: all of them."""

    _storms: list[_Storm] = field(default_factory=list)

    def turns_foul(self, begins: int, ends: int, *names: str) -> None:
        """Note a fault."""
        self._storms.append(_Storm(begins, ends, frozenset(names)))

    def was_fair(self, since: int, until: int, *names: str) -> bool:
        """Say whether no fault touched any of these processes in this time."""
        return not any(
            storm.begins <= until and storm.ends >= since and (not storm.names or storm.names.intersection(names))
            for storm in self._storms
        )
