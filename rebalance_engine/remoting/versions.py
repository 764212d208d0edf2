"""Which release a peer's version number stands for.

Source: ``common/.../MQVersion.java``, an enum whose ordinals travel. Each release takes two, first its snapshot. From
4.0.0 on the numbers follow one rule; of the releases before it only whole lines matter to anybody, so they keep the
plain number.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

Release = tuple[int, int, int]

V4_0_0_SNAPSHOT = 212  # every minor version has ten patches, every patch two numbers
HIGHER_VERSION = 612  # what ``MQVersion.value2Version`` makes of anything above 5.9.9

V3_1_8_SNAPSHOT = 62  # from here on brokers relay GET_CONSUMER_RUNNING_INFO to a client
V4_9_4 = 401  # from here on a NameServer answers routes in standard JSON
ANNOUNCED = 441  # 5.1.4: everything a broker offers by version, and no duty to obey GO_AWAY (after 441, or 475)


def version_name(number: int) -> str:
    """Name the release: ``5.1.4``, ``5.1.4-SNAPSHOT``; a number without a rule is shown as it is.

    >>> version_name(407)
    '4.9.7'
    """
    if not V4_0_0_SNAPSHOT <= number < HIGHER_VERSION:
        return str(number)
    minors, rest = divmod(number - V4_0_0_SNAPSHOT, 20)
    patch, is_release = divmod(rest, 2)
    return f"{4 + minors // 10}.{minors % 10}.{patch}{'' if is_release else '-SNAPSHOT'}"


def version_number(name: str) -> int:
    """Give the number of a release from 4.0.0 on.

    Raises:
        ValueError: it is no release from 4.0.0 to 5.9.9.
    """
    try:
        major, minor, patch = map(int, name.split("."))
    except ValueError:
        raise ValueError(f"version {name!r}; it needs to be like 5.1.4") from None
    if major not in {4, 5} or not (0 <= minor <= 9 and 0 <= patch <= 9):
        raise ValueError(f"version {name!r}; it needs to be from 4.0.0 to 5.9.9")
    return V4_0_0_SNAPSHOT + 20 * (10 * (major - 4) + minor) + 2 * patch + 1


def release(text: str, what: str) -> Release:
    """Read a release such as ``5.3.1``, ``5.3`` or ``5.3.4-SNAPSHOT``; a snapshot counts as its release.

    Args:
        what: names it in the message of an error.

    Raises:
        ValueError: it is none.
    """
    found = re.match(r"(\d{1,4})\.(\d{1,4})(?:\.(\d{1,4}))?(?:$|-)", text)
    if found is None:
        raise ValueError(f"{what} is {text!r}; needed is a version such as '5.3.0'")
    major, minor, patch = (int(part or 0) for part in found.groups())
    return major, minor, patch


def changed_until(version: str, first: str, changes: Mapping[str, Mapping[str, Any]], what: str) -> dict[str, Any]:
    """Put together what has changed from one release to another.

    Args:
        first: the earliest release that is known.
        changes: release -> what it changed; in order.

    Raises:
        ValueError: it is no release from the first on.
    """
    asked = release(version, what)
    if asked < release(first, what):
        raise ValueError(f"{what} is {version!r}; known is {first} and later")
    changed: dict[str, Any] = {}
    for since, values in changes.items():
        if release(since, what) <= asked:
            changed |= values
    return changed
