"""What a rebalance writes, all in one transaction: target, rounds, findings, the group's figures, history, push."""

from __future__ import annotations

import numpy as np
from django.db.models import QuerySet

from dashboard.clusters import outbox
from dashboard.clusters.models import Queue
from dashboard.common.fields import printable
from dashboard.groups.before import known_before
from dashboard.groups.belated import keep_belated, round_of
from dashboard.groups.beside import BESIDES, known_beside
from dashboard.groups.deciding import Decision
from dashboard.groups.faults import keep_faults
from dashboard.groups.gone import publish_row
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.models.rounds import RoundState
from dashboard.groups.queries import Look, target_of
from dashboard.groups.round_facts import fact_of_end, fact_of_not_converging, fact_of_opening
from dashboard.groups.showing import (
    MOST_EVIDENCE,
    as_of_the_last_change,
    count_orphans,
    count_popping,
    held_twice,
    show,
    strategy_of,
)
from dashboard.groups.targets import Read, store_target
from dashboard.groups.young import explained_until
from dashboard.push.messages import RoundCell
from dashboard.push.publish import publish_group, state_in, stored_state
from rebalance_engine.diff import diff
from rebalance_engine.events import Cause, Fact, Origin
from rebalance_engine.findings import spell
from rebalance_engine.findings.seers import ROUTES_AGAIN_MS
from rebalance_engine.model import MessageModel
from rebalance_engine.ownership import UNOWNED
from rebalance_engine.rounds import MEMBERS_CHANGE, Ended, OpenRound

Groups = QuerySet[Group]
MOST_UNSETTLED = 200
MOST_DISPUTES = 64  # of a group, that are kept
SPLIT_MS = 20_000  # NameServers that said different things may cease to answer, or answer again, without a fact
SEEN_BY_EFFECT = frozenset({Cause.HELD_CHANGED.value, Cause.ROUTE_CHANGED.value})  # what they come from is told later


def store(*, read_group: Group, read: Read, decision: Decision, now: int) -> None:
    """Write what a rebalance came to. ``read_group`` is the group's row, locked under the rebalance's fence."""
    group, look = read_group, read.look
    group.cluster = read.group.cluster
    store_target(read=read, decision=decision)
    keep_belated(group=group, belated=decision.belated)
    facts = _store_rounds(group, read, decision, now)
    caused_at = max([each.last_cause_at for each in _rounds_of(decision)], default=0)
    faults, due_at, changed = keep_faults(group=group, look=look, found=decision.findings, now=now, caused_at=caused_at)
    facts += changed
    latest = _latest(group)
    state = show(look, decision, group=group, faults=faults, latest=_cell(latest, look, decision), now=now)
    _figure(group, read, decision, latest, now)
    opened_at, closed_at = (latest.opened_at, latest.closed_at) if latest else (None, None)
    quiet_until = explained_until(faults, opened_at=opened_at, closed_at=closed_at, now=now)
    again_at = now + SPLIT_MS if look.is_split else None
    overdue_at = None if look.view.disputed else decision.rounds.due_at
    due = (overdue_at, decision.waits_until, due_at, quiet_until, again_at)
    group.due_at = min((at for at in due if at is not None), default=None)
    group.save()
    outbox.append(cluster=group.cluster, lines=_new_lines(group, facts), now=now)
    publish_group(group=group.pk, state=state, at=now)
    if latest is not None and (decision.rounds.open is not None or decision.rounds.ended):
        Round.objects.filter(pk=latest.pk).update(after=stored_state(group=group.pk), last_look_at=now)
    publish_row(group=group, is_behind=False, at=now)


def _store_rounds(group: Group, read: Read, decision: Decision, now: int) -> list[Fact]:
    """Write the rounds that opened, went on or ended; give them as facts.

    That one opened is told once: what is only seen by what it did waits for its cause, until it ends or is late.
    """
    before = Round.objects.filter(group=group, closed_at=None).first()
    rows = {before.number: before} if before else {}
    ended = {end.round.number: end for end in decision.rounds.ended}
    current = _rounds_of(decision)
    shown = read.past.stored
    RoundCause.objects.filter(group=group, pk__in=decision.moot, round=None).delete()
    members = _members_by_end(read, current, ended)
    _open_earlier(group, current, read)
    facts: list[Fact] = []
    for each in current:
        row = rows.get(each.number) or Round(
            group=group,
            number=each.number,
            opened_at=each.opened_at,
            wave=each.wave,
            before=shown,
            members_before=members.get(each.number - 1, known_before(read.look, read.past.state, each)),
        )
        was_late = row.not_converged_at is not None
        was_told = not row._state.adding and (was_late or row.cause not in SEEN_BY_EFFECT)
        row.cause, row.opened_at, row.last_cause_at = each.cause.value, each.opened_at, each.last_cause_at
        row.opened_low = min(each.began_low, row.opened_at) or None
        row.not_converged_at = each.not_converged_at
        row.state = RoundState.NOT_CONVERGED.value if each.not_converged_at else RoundState.OPEN.value
        row.move_count = _to_move(row, decision) if each is current[-1] else None  # until its handoffs are told
        _unsettle(row, read.look, decision)
        if each.number in ended:
            end = ended[each.number]
            row.after = b"" if row._state.adding else shown  # what was shown before it came is not what it came to
            row.state = RoundState.SUPERSEDED.value if end.superseded_by else RoundState.CLOSED.value
            row.closed_at, row.superseded_by = end.at, end.superseded_by
            row.settled_at = max(end.at, read.look.moved_at) if end.superseded_by is None else None
            row.members_after = members[each.number]
        row.save()
        _keep_causes(group, row, each, read.look.moves.queues, decision, now)
        if row.cause not in SEEN_BY_EFFECT or each.number in ended or row.not_converged_at is not None:
            facts += [] if was_told else [fact_of_opening(row)]
        if row.not_converged_at is not None and not was_late:
            facts.append(fact_of_not_converging(row))
        if row.superseded_by is not None:  # that one closed is told with its handoffs, as they count its moves
            facts.append(fact_of_end(row))
    return facts


def _open_earlier(group: Group, rounds: list[OpenRound], read: Read) -> None:
    """Let the first round of a wave, that was superseded before all that it did was seen, have opened by that."""
    moved_at = read.look.moves.at
    if not rounds or rounds[0].number == rounds[0].wave or not moved_at:
        return
    for row in Round.objects.filter(group=group, number=rounds[0].wave, opened_at__gt=moved_at):
        earlier = round_of(row).seen_by(moved_at)
        row.opened_at, row.opened_low = earlier.opened_at, min(earlier.began_low, earlier.opened_at) or None
        row.save(update_fields=["opened_at", "opened_low"])


def _members_by_end(read: Read, rounds: list[OpenRound], ended: dict[int, Ended]) -> dict[int, list[str]]:
    """Give who was a member when each round ended: a superseded one ended before what is seen now was all there."""
    news = {cause.pk for cause in read.causes}
    here, at_end = set(_shown_members(read)), dict[int, list[str]]()
    for each in rounds:
        for change in each.happenings:
            if change.key not in news or change.client is None:
                continue
            if change.cause is Cause.MEMBER_JOINED:
                here.add(change.client)
            elif change.cause in MEMBERS_CHANGE:
                here.discard(change.client)
        if each.number not in ended:
            continue
        end = ended[each.number]
        if end.superseded_by is None:
            at_end[each.number] = [member.client_id for member in read.look.members]
        else:
            came = {member.client_id for member in read.look.members if member.at < end.at}
            later = {member.client_id for member in read.look.members if member.at >= end.at}
            at_end[each.number] = sorted((here | came) - later)
    return at_end


def _shown_members(read: Read) -> list[str]:
    return [cell.client for cell in read.past.state.members] if read.past.state else []


def _rounds_of(decision: Decision) -> list[OpenRound]:
    """Give the rounds that a rebalance is about, the latest last."""
    ended = [end.round for end in decision.rounds.ended]
    return [*ended, decision.rounds.open] if decision.rounds.open else ended


def _keep_causes(group: Group, row: Round, each: OpenRound, queues: int, decision: Decision, now: int) -> None:
    """Give the round its causes; a change of what is held is one where nothing explains it, as the looks prove.

    When a cause is found later, it was what that came from: the same as if it had been seen first.
    """
    keys = [happening.key for happening in each.happenings if happening.key is not None]
    mine = RoundCause.objects.filter(group=group, pk__in=keys)
    mine.exclude(round=row).update(round=row)  # also from one that was told otherwise
    by_itself = row.causes.filter(cause=Cause.HELD_CHANGED.value, origin=Origin.DERIVED.value)
    if not each.is_unexplained:
        by_itself.delete()
    elif queues:
        told = by_itself.first() or RoundCause(
            group=group, round=row, cause=Cause.HELD_CHANGED.value, origin=Origin.DERIVED.value
        )
        when = {"at": row.opened_at, "at_low": row.opened_low, "at_high": row.opened_at, "observed_at": now}
        for name, value in {**when, "evidence": printable(_unexplained(row, queues, decision, told.evidence))}.items():
            setattr(told, name, value)
        told.save()


def _unexplained(row: Round, queues: int, decision: Decision, before: str) -> str:
    """Say that no change is known by which queues changed hands; or what else was seen to change, or to differ."""
    beside = known_beside(row, decision.findings, before)
    if beside:
        return BESIDES.join([_changed(queues), beside])
    return f"{_changed(queues)}, and nothing else that is known changed"


def _changed(queues: int) -> str:
    return "1 queue was taken or dropped" if queues == 1 else f"{queues} queues were taken or dropped"


def _unsettle(row: Round, look: Look, decision: Decision) -> None:
    """Note which queues are not where they should be, and whose are unknown."""
    outstanding = decision.outcome.outstanding if decision.outcome else None
    row.unsettled = []
    if outstanding is not None:
        numbers = np.unique(outstanding.queue)[:MOST_UNSETTLED]
        row.unsettled = [spell(queue) for queue in outstanding.queues.take(numbers)]
    row.unknown_members = [member.client_id for member in look.members if member.client_id in look.view.silent]
    row.waits_for = printable(decision.waits_for)


def _latest(group: Group) -> Round | None:
    return Round.objects.filter(group=group).order_by("-number").first()


def _cell(latest: Round | None, look: Look, decision: Decision) -> RoundCell | None:
    if latest is None:
        return None
    evidence = latest.causes.order_by("at", "pk").values_list("evidence", flat=True)[:MOST_EVIDENCE]
    outstanding = decision.outcome.outstanding if decision.outcome else None
    silent = [member.client_id for member in look.members if member.client_id in look.view.silent]
    return RoundCell(
        number=latest.number,
        state=latest.state,
        cause=latest.cause,
        opened_at=latest.opened_at,
        closed_at=latest.closed_at,
        wave=latest.wave,
        moves=latest.move_count,
        unsettled=None if outstanding is None else len(outstanding),
        evidence=tuple(evidence),
        unknown_members=tuple(silent[:MOST_EVIDENCE]),
        opened_low=latest.opened_low,
        waits_for=latest.waits_for if latest.closed_at is None else "",
    )


def _to_move(row: Round, decision: Decision) -> int | None:
    """Count the queues that are another one's by the target now than before a round; None where either is not known.

    Where every member has every queue, nobody's becomes another one's; and who gets a queue that was not there before
    takes it from nobody. While nobody was a member no queues were shown, though they were there.
    """
    before = state_in(bytes(row.before))
    if row.group.model == MessageModel.BROADCASTING.value:
        return 0
    if before is None or not before.head.is_target_known or decision.outcome is None:
        return None
    moves = diff(target_of(before), decision.target)
    changes = moves.destination != UNOWNED
    if before.queues:
        changes &= ~np.isin(moves.queue, moves.added)
    return len(np.unique(moves.queue[changes]))


def _figure(group: Group, read: Read, decision: Decision, latest: Round | None, now: int) -> None:
    """Bring the group's row up to date."""
    look = read.look
    group.done_version = read.version
    group.fingerprint = read.fingerprint
    group.strategy = strategy_of(look, decision)
    group.is_strategy_assumed = decision.rule.is_assumed
    group.rebalanced_at = now
    group.member_count = len(look.view.clients.distinct) if look.members or look.is_empty else None
    group.untold_count = len(look.untold)
    group.queue_count = len(look.view.queues)
    group.silent_count = sum(member.is_silent for member in look.members)
    group.unasked_count = sum(member.is_unasked for member in look.members)
    group.proxied_count = sum(member.is_proxied for member in look.members)
    group.popping_count = count_popping(look.members)
    group.partial_count = sum(member.is_partial for member in look.members)
    group.orphan_count = as_of_the_last_change(count_orphans(look), decision)
    twice = held_twice(look, decision)
    group.double_count, group.perhaps_twice_count = twice.known, len(twice.perhaps)
    group.is_converged = decision.converged
    group.perhaps_orphan_count = len(look.view.perhaps_unowned)
    _note_dispute(group, len(look.view.disputed), now)
    if latest is not None:
        group.round_number, group.round_cause = latest.number, latest.cause
        group.round_opened_at, group.round_closed_at = latest.opened_at, latest.closed_at
        group.round_moves = latest.move_count


def _note_dispute(group: Group, count: int, now: int) -> None:
    """Keep since when NameServers disagree on queues of the group, and the times in which they did.

    A member may have known of it before its watcher did: it begins as long before as NameServers are not asked again.
    What was disputed and is in a route still was there all the time; what went was perhaps not.
    """
    if count and group.disputed_since is None:
        group.disputed_since = max(0, now - ROUTES_AGAIN_MS)
    elif not count and group.disputed_since is not None:
        went = Queue.objects.filter(topic__cluster=group.cluster_id, gone_at__range=(group.disputed_since, now))
        has_lost = went.filter(topic__name__in=group.subscriptions.values("topic")).exists()
        group.disputes = [*(group.disputes or ()), [group.disputed_since, now, has_lost]][-MOST_DISPUTES:]
        group.disputed_since = None
    group.disputed_count = count


def _new_lines(group: Group, facts: list[Fact]) -> list[outbox.Line]:
    lines = outbox.lines_of(cluster=group.cluster, facts=facts)
    return outbox.not_yet_stored(cluster=group.cluster, lines=lines)
