"""Viewer, operator, admin: what each may do, and where. Decides from values; knows no request and no database.

A role includes those below it. A grant holds for clusters and groups whose names fit its patterns; what no grant
covers does not exist for that person.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from fnmatch import fnmatchcase


class Role(Enum):
    """What a person may do."""

    VIEWER = "viewer"
    OPERATOR = "operator"
    ADMIN = "admin"

    @property
    def rank(self) -> int:
        """How far it reaches: higher includes lower."""
        return RANKS[self]

    def includes(self, other: Role) -> bool:
        """Ask whether whoever has this role may do what the other one may."""
        return self.rank >= other.rank


RANKS = {Role.VIEWER: 1, Role.OPERATOR: 2, Role.ADMIN: 3}
HIGHEST_FIRST = (Role.ADMIN, Role.OPERATOR, Role.VIEWER)


@dataclass(frozen=True, slots=True)
class Scope:
    """One grant as a value. In patterns ``*`` is any text, ``?`` any one character; nothing else is special."""

    role: Role
    clusters: str = "*"
    groups: str = "*"


@dataclass(frozen=True, slots=True)
class Access:
    """All that one person was given."""

    name: str
    scopes: tuple[Scope, ...]

    def highest(self) -> Role | None:
        """Give the highest role that the person has anywhere; None is none."""
        return max((scope.role for scope in self.scopes), key=lambda role: role.rank, default=None)

    def may(self, role: Role, *, cluster: str, group: str) -> bool:
        """Ask whether the person has this role for this group of this cluster."""
        return any(
            scope.role.includes(role) and fits(cluster, scope.clusters) and fits(group, scope.groups)
            for scope in self.scopes
        )

    def role_of(self, *, cluster: str, group: str) -> Role | None:
        """Give the highest role that the person has for this group of this cluster; None is none."""
        return next((role for role in HIGHEST_FIRST if self.may(role, cluster=cluster, group=group)), None)

    def role_everywhere(self, *, cluster: str) -> Role | None:
        """Give the highest role that the person has for every group of this cluster; None is none."""
        return next((role for role in HIGHEST_FIRST if self.may_everywhere(role, cluster=cluster)), None)

    def may_everywhere(self, role: Role, *, cluster: str) -> bool:
        """Ask whether the person has this role for every group of this cluster, those to come included."""
        return any(
            scope.role.includes(role) and fits(cluster, scope.clusters) and scope.groups == "*" for scope in self.scopes
        )

    def is_admin_of_everything(self) -> bool:
        """Ask whether the person is an admin of every group of every cluster: the audit log is about all of them."""
        return any(
            scope.role.includes(Role.ADMIN) and scope.clusters == "*" and scope.groups == "*" for scope in self.scopes
        )

    def may_see_everything(self) -> bool:
        """Ask whether the person may see every group of every cluster."""
        return any(scope.clusters == "*" and scope.groups == "*" for scope in self.scopes)

    def may_see_cluster(self, cluster: str) -> bool:
        """Ask whether the person may see anything of this cluster."""
        return any(fits(cluster, scope.clusters) for scope in self.scopes)


def scopes_of(grants: Iterable[tuple[str, str, str]]) -> tuple[Scope, ...]:
    """Make scopes of rows: role, pattern of clusters, pattern of groups."""
    return tuple(Scope(Role(role), clusters, groups) for role, clusters, groups in grants)


def fits(name: str, pattern: str) -> bool:
    """Ask whether a name fits a pattern. A bracket is a bracket: names of groups begin with ``%`` and may hold any."""
    return fnmatchcase(name, pattern.replace("[", "[[]"))
