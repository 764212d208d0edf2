"""Which groups each broker has, as it says itself (201), and when it surely did not have one yet.

A broker that makes a group with its first member's heartbeat (``autoCreateSubscriptionGroup``) knew nobody of a group
that it did not have. One that does not may know members before somebody makes the group: its list says nothing of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Set


class Having:
    """What each broker said last. Times are of when it was asked, in ms since 1970."""

    def __init__(self) -> None:
        self._groups: dict[str, frozenset[str]] = {}
        self._told_at: dict[str, int] = {}
        self._missed: set[str] = set()  # did not answer since
        self._lacked_at: dict[str, dict[str, int]] = {}  # of groups that a broker has: its last answer without them
        self._makes: set[str] = set()

    @property
    def brokers(self) -> Set[str]:
        """Name those that have told."""
        return self._groups.keys()

    @property
    def groups(self) -> frozenset[str]:
        """Name every group that some broker has."""
        return frozenset[str]().union(*self._groups.values())

    @property
    def told_at(self) -> int | None:
        """Say when the oldest of the last answers was asked for; None: no time is known."""
        return min(self._told_at.values(), default=None)

    def of(self, group: str) -> set[str]:
        """Name the brokers that have a group."""
        return {name for name, groups in self._groups.items() if group in groups}

    def lacked_at(self, group: str, broker: str) -> int | None:
        """Say when a broker last knew nobody of a group, because it did not have it; None: nobody knows."""
        if broker not in self._makes:
            return None
        if group in self._groups.get(broker, ()):
            return self._lacked_at[broker].get(group)
        return self._answered_at(broker)

    def heard(self, broker: str, groups: Iterable[str], asked_at: int | None) -> bool:
        """Take in all groups of a broker; tell whether they are others than before."""
        named, before, last_at = frozenset(groups), self._groups.get(broker), self._answered_at(broker)
        lacked = {group: at for group, at in self._lacked_at.get(broker, {}).items() if group in named}
        if before is not None and last_at is not None:
            lacked |= dict.fromkeys(named - before, last_at)
        self._groups[broker], self._lacked_at[broker] = named, lacked
        self._missed.discard(broker)
        if asked_at is not None:
            self._told_at[broker] = asked_at
        return named != before

    def missed(self, broker: str) -> None:
        """Take in that a broker did not answer: since when it has what is new in its next answer nobody knows."""
        self._missed.add(broker)

    def makes_heard(self, broker: str, *, is_on: bool) -> None:
        """Take in whether a broker makes a group with a member's first heartbeat, by its settings (26)."""
        if is_on:
            self._makes.add(broker)
        elif broker in self._makes:
            self._makes.discard(broker)
            self._lacked_at[broker] = {}  # what it lacked until then proves nothing once it is on again
            self._missed.add(broker)

    def gone(self, broker: str) -> None:
        """Forget a broker."""
        for kept in (self._groups, self._told_at, self._lacked_at):
            kept.pop(broker, None)
        self._missed.discard(broker)
        self._makes.discard(broker)

    def _answered_at(self, broker: str) -> int | None:
        return None if broker in self._missed else self._told_at.get(broker)
