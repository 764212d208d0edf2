"""What a cluster may be called: it stands before each line of its watcher, in addresses, figures and roles. Pure."""

from __future__ import annotations

LONGEST_NAME = 100  # characters


class BadName(ValueError):
    """No cluster can be called so; the message says what was seen and what is needed."""


def check_name(name: str) -> str:
    r"""Give a name back that a cluster can have.

    Raises:
        BadName: it is empty or long, begins or ends with a blank, or has a character that cannot be seen.

    >>> check_name("orders east")
    'orders east'
    >>> check_name("a\nb")
    Traceback (most recent call last):
    dashboard.clusters.calling.BadName: the name has U+000A, which cannot be seen: leave it out
    """
    if not 0 < len(name) <= LONGEST_NAME:
        raise BadName(f"the name has {len(name)} characters; needed are 1 to {LONGEST_NAME}")
    unseen = next((each for each in name if not each.isprintable()), None)
    if unseen is not None:
        raise BadName(f"the name has U+{ord(unseen):04X}, which cannot be seen: leave it out")
    if name != name.strip():
        raise BadName("the name begins or ends with a blank; needed is one without")
    return name
