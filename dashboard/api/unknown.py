"""Why a figure is unknown, in words for whoever reads the API. Pure: values in, reasons out."""

from __future__ import annotations

from collections.abc import Mapping

from dashboard.groups.rules import not_known, unknown_in
from dashboard.groups.showing import count_partial
from dashboard.push.messages import GroupState, Row
from rebalance_engine.model import MessageModel

NOT_ALL = "not all of what is held, or of what should be, is known"
NOT_SINCE = "not every member has told what it holds since the last change"
NOT_YET = "the group was not looked at yet"
PROXIED = "it comes through a proxy: it owns no queues, and cannot be asked"
NO_LAG = "the broker has not told its offsets"
NO_OFFSETS = "only members that send reports tell where they went on"
NOT_DIVIDED = "there are no queues that members own: nothing is divided"
NOT_KEPT = "it is not kept of past instants"
NO_PAST_LAG = "it is not kept of that instant"
SHARED = "broadcasting: every member has every queue"
NOTHING = "nobody is a member, and there is nothing to hold"


def why_of_row(row: Row) -> dict[str, str]:
    """Say why figures of a group's row are unknown, or do not apply to it."""
    figures: Mapping[str, object] = {
        "members": row.members,
        "queues": row.queues,
        "silent": row.silent,
        "orphans": row.orphans,
        "doubles": row.doubles,
        "is_converged": row.is_converged,
    }
    why = _reason(row)
    reasons = {name: why for name, figure in figures.items() if figure is None}
    if "is_converged" in reasons and (name := unknown_in(row.strategy)):
        reasons["is_converged"] = not_known(name)
    if row.model == MessageModel.BROADCASTING.value:
        reasons |= dict.fromkeys(("orphans", "doubles"), SHARED)
    if not row.strategy:
        is_moot = row.members and row.queues == 0 and row.is_converged
        reasons["strategy"] = NOT_DIVIDED if is_moot else "not every member has told by which strategy it divides"
    return reasons


def why_disputed(topic: str) -> str:
    """Say why it is unknown whether anybody lacks a queue that not every NameServer has in its route."""
    return f"NameServers disagree whether {topic} has it"


def in_part(registrations: int) -> str:
    """Say why it is unknown how much a member holds that told."""
    return f"{registrations} connections have its client id, of which only one can be asked"


def why_no_owner(state: GroupState) -> str:
    """Say why it is not known of all members what they hold: nobody may hold a queue, or others too; empty: it is."""
    head, silent = state.head, sum(cell.held is None for cell in state.members)
    partial = count_partial(state.members)
    if head.untold:
        return f"who is a member is not known of {', '.join(head.untold)}"
    if silent or partial:
        return _not_told(silent, partial, len(state.members))
    return "" if head.are_members_known else "nobody has told who is a member"


def _reason(row: Row) -> str:
    if row.rebalanced_at is None:
        return NOT_YET
    if row.members is None:
        return "no broker has told who is a member"
    if row.silent or row.partial:
        return _not_told(row.silent, row.partial, row.members)
    if row.untold:
        return f"{row.untold} brokers did not tell who is a member"
    if row.perhaps_twice or row.disputed:
        return _in_doubt(row)
    return "something changed that no rebalance has seen yet" if row.is_behind else _though_all_told(row)


def _though_all_told(row: Row) -> str:
    if row.members and None in {row.orphans, row.doubles}:
        return NOT_SINCE
    return NOTHING if row.members == 0 and row.orphans == 0 else NOT_ALL


def _not_told(silent: int | None, partial: int, members: int) -> str:
    if silent:
        return f"{silent} of {members} members do not tell what they hold"
    return f"{partial} of {members} members have several connections each, of which only one can be asked"


def _in_doubt(row: Row) -> str:
    if row.perhaps_twice:
        return f"of {row.perhaps_twice} queues two members said to hold them, and not both have answered since"
    return f"NameServers disagree on {row.disputed} of {row.queues} queues"
