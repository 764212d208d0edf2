"""How the names of our fields become the names of Java's.

``consumer_group`` is ``consumerGroup`` unless the class says otherwise. What Java misspelt stays misspelt on the wire
(``droped``, ``spentTimeMills``, ``proxyFrowardClientId``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from typing import Annotated, ClassVar

Int32 = Annotated[int, "int32"]  # Java's ``int``; where a class says ``int``, an int64 is read


class JavaObject:
    """A value that travels in the place of a Java object.

    Attributes:
        NAMES: our field -> Java's name, where the rule does not give it.
        ALIASES: a further name that some client writes -> our field. They are read, never written.
    """

    __slots__ = ()

    NAMES: ClassVar[Mapping[str, str]] = {}
    ALIASES: ClassVar[Mapping[str, str]] = {}


def java_names(kind: type[JavaObject]) -> dict[str, str]:
    """Give Java's name of each field, in the order of the fields."""
    return {name: kind.NAMES.get(name) or camel_case(name) for name in _field_names(kind)}


def camel_case(name: str) -> str:
    """Spell ``queue_id`` as ``queueId``."""
    first, *others = name.split("_")
    return first + "".join(map(str.capitalize, others))


def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in fields(kind))
