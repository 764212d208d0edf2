"""Which groups consume on which cluster: the cells of the matrix."""

from __future__ import annotations

from tests.cluster.rocketmq import ALL_RELEASES
from tests.matrix.groups import PYTHON, Group


def of_java(release: str) -> list[Group]:
    """Groups of stock clients alone: the reference."""
    kinds = (release, release, release)
    return [
        Group(name=f"java-{release.replace('.', '_')}", kinds=kinds),
        Group(name=f"java-{release.replace('.', '_')}-orderly", kinds=kinds, orderly=True),
    ]


def of_python() -> list[Group]:
    kinds = (PYTHON, PYTHON, PYTHON)
    return [Group(name="python", kinds=kinds), Group(name="python-orderly", kinds=kinds, orderly=True)]


def mixed(release: str) -> list[Group]:
    """Groups of both; before and after each change, and when one takes over from the other."""
    return [
        Group(name="mixed-avg", kinds=(release, PYTHON, PYTHON)),
        Group(name="mixed-circle", kinds=(PYTHON, release, release), strategy="AVG_BY_CIRCLE"),
        Group(name="mixed-hash", kinds=(release, PYTHON, release), strategy="CONSISTENT_HASH"),
        Group(name="mixed-orderly", kinds=(PYTHON, release, release), orderly=True),
    ]


GROUPS = {release: [*of_java(release), *of_python(), *mixed(release)] for release in ALL_RELEASES}
GROUPS["embedded"] = [
    *of_java("5.5.0"),
    *of_java("4.9.7"),
    *of_python(),
    *mixed("5.5.0"),
    Group(name="mixed-releases", kinds=("4.9.7", PYTHON, "5.5.0")),
]
