"""A group, a member and a queue as the API gives them. ``unknown`` stands last: a table leaves it out."""

from __future__ import annotations

from collections.abc import Mapping

from ninja import Schema

from dashboard.api.fared import fared, why_not_fared
from dashboard.api.shapes import Instant, Text, Unknown
from dashboard.api.unknown import NOT_YET, PROXIED, in_part, why_of_row
from dashboard.groups.lately import Lately
from dashboard.groups.listing import Listed
from dashboard.groups.models import Member
from dashboard.push.messages import Cell
from dashboard.push.runs import count
from rebalance_engine.model import MessageModel


class GroupRow(Schema):
    """A group as the overview has it; ``state`` is the gravest thing that is known, ``says`` the same in words.

    ``silent`` members do not tell what they hold, of whom ``unasked`` were not asked yet, and ``proxied`` seem to come
    through a proxy, where they own no queues and cannot be asked; ``popping`` members take messages by POP, from queues
    that nobody owns; ``partial`` ones, none of them silent, have several connections, of which only one can be asked,
    so that they may hold more than they tell; ``untold`` brokers tell not who is a member; ``orphans`` are queues that
    no member holds (who is lost may have them still), ``doubles`` those that two do; ``perhaps_twice`` those that two
    said to hold, by answers too far apart to tell whether they did at one time; ``disputed`` those that not every
    NameServer has in its route, never among ``orphans``; nobody is known to hold ``perhaps_orphans`` of them: with any,
    ``orphans`` are at least so many. ``is_converged``: held equals target; false also where queues certainly have no
    owner, or two, as of members that disagree; null where it is unknown, or there is nothing to hold and nobody.

    A group that broadcasts has neither ``orphans`` nor ``doubles``: they are null.

    ``round`` is its latest round, null: it had none. In one that is over ``round_moves`` queues changed owner, and
    ``round_left`` lost theirs because all members had left; in one that is open ``round_to_move`` are to change owner,
    and the round's own row tells how many did so far.

    ``lag`` is how many messages were not consumed yet, as of ``lag_at``, in queues that some route has: not what waits
    on a broker that is gone. ``lag_low`` so many at least, of the queues of which it is known; none of them came before
    ``waits_since``. ``duplicate_messages`` how many were consumed twice, at least, in handoffs of which both members
    reported. From ``lately_since`` until ``lately_until`` its queues, added up, had no owner and two for ``unowned_ms``
    and ``overlap_ms``: at least and at most. That are 10 min, or as long as the group is looked at.
    """

    id: int
    cluster: Text
    name: Text
    state: str
    says: Text
    model: str | None
    strategy: Text | None
    members: int | None
    queues: int | None
    silent: int | None
    unasked: int
    proxied: int
    popping: int
    partial: int
    untold: int
    orphans: int | None
    doubles: int | None
    perhaps_twice: int
    disputed: int
    perhaps_orphans: int
    is_converged: bool | None
    round: int | None
    round_cause: str | None
    round_opened_at: Instant | None
    round_closed_at: Instant | None
    round_moves: int | None
    round_left: int | None
    round_to_move: int | None
    rebalanced_at: Instant | None
    lag: int | None
    lag_low: int | None
    lag_at: Instant | None
    waits_since: Instant | None
    duplicate_messages: int | None
    lately_since: Instant | None
    lately_until: Instant | None
    unowned_ms_low: int | None
    unowned_ms_high: int | None
    overlap_ms_low: int | None
    overlap_ms_high: int | None
    unknown: Unknown


class GroupOut(GroupRow):
    """One group. ``seq`` numbers its states, ``state_at`` is when the newest one came to be.

    ``gone_at``: since then no broker names it, and nobody is a member; null while it is there.

    ``dead_letters`` is how many messages were given up so far, as of ``dead_letters_at``;
    ``strays`` are queues that somebody holds though no route has them.
    """

    at: Instant
    gone_at: Instant | None = None
    state_at: Instant | None
    seq: int | None
    are_members_known: bool
    untold_brokers: list[Text]
    is_target_known: bool
    waits_for: Text | None
    findings: int
    dead_letters: int | None = None
    dead_letters_at: Instant | None = None
    strays: list[Text]


class MemberOut(Schema):
    """One member. ``joined_at`` lies within its bounds; ``held_seen_at`` is when it last told what it holds.

    ``held`` and ``target`` count queues. With ``registrations`` above 1 only one of so many connections can be asked.
    """

    client_id: Text
    registrations: int
    language: Text | None
    version: Text | None
    strategy: Text | None
    consume_type: str | None
    is_orderly: bool | None
    addresses: list[Text]
    joined_at: Instant
    joined_low: Instant | None
    joined_high: Instant | None
    started_at: Instant | None
    held: int | None
    target: int | None
    held_seen_at: Instant | None
    missing: str | None
    missing_at: Instant | None
    origin: str
    unknown: Unknown


class QueueOut(Schema):
    """One queue: who holds it, who should, and how far the group is behind there as of ``lag_at``.

    An empty list of owners is nobody, which is known. ``are_all_owners_known`` false: others may hold it as well, or
    one of these no more, as ``unknown`` says. ``is_disputed``: not every NameServer has it in its route of the topic.
    """

    topic: Text
    broker: Text
    queue_id: int
    held_by: list[Text] | None
    are_all_owners_known: bool
    is_disputed: bool
    target: list[Text] | None
    end: int | None
    committed: int | None
    lag: int | None
    consumed_up_to: Instant | None
    lag_at: Instant | None
    unknown: Unknown


def row_out(each: Listed, lately: Lately | None) -> GroupRow:
    """Shape a row of the overview; of a past instant nothing is known of how it fared lately."""
    row, told = each.row, fared(lately)
    is_shared = row.model == MessageModel.BROADCASTING.value
    is_over = row.round_closed_at is not None
    is_left = is_over and row.members == 0  # whoever leaves last opens a round, and whoever comes then another
    return GroupRow(
        id=row.id,
        cluster=each.cluster.name,
        name=row.group,
        state=each.state.kind,
        says=each.state.words,
        model=row.model,
        strategy=row.strategy or None,
        members=row.members,
        queues=row.queues,
        silent=row.silent,
        unasked=row.unasked,
        proxied=row.proxied,
        popping=row.popping,
        partial=row.partial,
        untold=row.untold,
        orphans=None if is_shared else row.orphans,
        doubles=None if is_shared else row.doubles,
        perhaps_twice=row.perhaps_twice,
        disputed=row.disputed,
        perhaps_orphans=row.perhaps_orphans,
        is_converged=row.is_converged,
        round=row.round,
        round_cause=row.round_cause,
        round_opened_at=row.round_opened_at,
        round_closed_at=row.round_closed_at,
        round_moves=None if not is_over else 0 if is_left else row.round_moves,
        round_left=None if not is_over else row.round_moves if is_left else 0,
        round_to_move=None if is_over else row.round_moves,
        rebalanced_at=row.rebalanced_at,
        **told,
        unknown=why_of_row(row) | why_not_fared(lately, told),
    )


def member_out(each: Mapping[str, object], cells: Mapping[str, Cell], *, is_target_known: bool) -> MemberOut:
    """Shape a member: its row, its addresses, and its cell in the state that is shown."""
    member, addresses = each["member"], each["addresses"]
    assert isinstance(member, Member)
    assert isinstance(addresses, list)
    cell = cells.get(member.client_id)
    held = None if cell is None or cell.held is None or cell.is_partial or member.is_silent else count(cell.held)
    target = None if cell is None or not is_target_known else count(cell.target)
    return MemberOut(
        client_id=member.client_id,
        registrations=member.registrations,
        language=member.language or None,
        version=member.version or None,
        strategy=member.strategy or None,
        consume_type=member.consume_type,
        is_orderly=member.is_orderly,
        addresses=addresses,
        joined_at=member.at,
        joined_low=member.at_low,
        joined_high=member.at_high,
        started_at=member.started_at,
        held=held,
        target=target,
        held_seen_at=member.held_seen_at,
        missing=member.missing,
        missing_at=member.missing_at,
        origin=member.origin,
        unknown=_why(member, held, target),
    )


def _why(member: Member, held: int | None, target: int | None) -> dict[str, str]:
    figures = ("language", "version", "strategy", "consume_type", "is_orderly", "started_at")
    reasons = {name: "it has not told, and no broker either" for name in figures if getattr(member, name) in {None, ""}}
    if held is None:
        told = f"it did not answer: {member.missing}" if member.missing else "it never told what it holds"
        reasons["held"] = PROXIED if member.is_proxied else told
        if not member.is_silent:
            reasons["held"] = in_part(member.registrations) if member.is_partial else NOT_YET
    if target is None:
        reasons["target"] = "what it should have cannot be computed"
    return reasons
