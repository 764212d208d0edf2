"""Client ids of several connections: a broker asks one of these processes, and what the others hold nobody knows."""

from __future__ import annotations

from collections.abc import Sequence

from dashboard.groups.models import Member


def told_in_part(members: Sequence[Member]) -> str:
    """Say why it is not known of these members all that they hold."""
    first, rest = members[0], len(members) - 1
    if rest:
        return f"{first.client_id} and {rest} more have several connections each, of which only one can be asked"
    return f"{first.client_id} has {first.registrations} connections, of which only one can be asked"
