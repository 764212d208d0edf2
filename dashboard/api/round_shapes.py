"""A round, what proves it, what moved in it, and handoffs, as the API gives them."""

from __future__ import annotations

from collections.abc import Mapping

from ninja import Schema

from dashboard.api.shapes import Bounds, Instant, Text, Unknown, When
from dashboard.groups.beyond import Beyond
from dashboard.groups.ending import moved_so_far
from dashboard.groups.lane import Lane
from dashboard.groups.lasting import Lasting
from dashboard.groups.models import Handoff, Round, RoundCause
from dashboard.groups.pictured import Load
from dashboard.groups.twice import Twice

WAITS = "it has not ended yet"
OVER = "it has ended"
UNCOUNTED = "not everybody had told what they hold, or it is not told yet"
NOT_SEEN = "nobody saw it, and no member reported it"
NOT_DROPPED = "it handed nothing over: it had the queue beside the other one"
NO_OFFSETS = "not both members report offsets: stock clients report none"
KEPT_STILL = "its old owner has not let it go: it tells how far it got when it does"
NOT_THEN = "it is not told of past instants"


class RoundRow(Schema):
    """A round. It began between ``opened_low`` (null: unknown) and ``opened_at``, when that was seen.

    It took ``took_low`` ms at least, from its first to its last change that are certain (members let go before they say
    that they leave: that is before ``opened_at``), and ``took_high`` at most, from ``opened_low`` to ``closed_at``.

    ``wave`` is the first round of a chain in which each superseded the one before.

    ``moves`` is how many queues changed owner in it; null while it is open: then as many as ``moved_so_far`` did,
    those of earlier rounds among them, and the target gave ``to_move`` to another member than before it. One that
    passed several hands (1 to 5, 5 to 3) counts once, and has as many handoffs (``/moves``); one that somebody took
    beside its owner and let go again has a handoff, and does not count, nor does one that came with the round and
    was nobody's before. In a round that all members left nobody took any: ``moves`` is 0, and ``left`` how many
    queues lost their owner. In any other that is over ``left`` is 0.
    """

    number: int
    state: str
    cause: str
    opened_at: Instant
    opened_low: Instant | None
    last_cause_at: Instant
    closed_at: Instant | None
    not_converged_at: Instant | None
    superseded_by: int | None
    wave: int
    moves: int | None
    left: int | None
    moved_so_far: int | None
    to_move: int | None
    took_low: int | None
    took_high: int | None
    unknown: Unknown


class CauseOut(Schema):
    """One change of the group, with what proves it."""

    cause: str
    client_id: Text | None
    evidence: Text
    at: When
    origin: str
    observed_at: Instant
    observed_by: Text


class LoadOut(Schema):
    """How many queues a member had, and has after the round; null: it was or is not there, or it is unknown."""

    client_id: Text
    before: int | None
    after: int | None


class BeyondOut(Schema):
    """A queue of a round's figures of which no handoff tells: how long nobody had it, and two; ``why`` none does.

    Where the ``low`` of a time is 0 it is only possible.
    """

    topic: Text
    broker: Text
    queue_id: int
    unowned: Bounds
    overlap: Bounds
    why: list[Text]


class RoundOut(RoundRow):
    """One round as its page has it; ``sentence`` can be pasted into a report.

    ``longest_unowned`` and ``longest_overlap`` are of queues that had no owner, or two, for certain, in its time; each
    lasts while ``is_unowned_lasting``, ``is_overlap_lasting``. What two had beyond it is told with all of that;
    ``overlap_older_queues`` had two since before it, and ``overlap_perhaps_older_queues`` perhaps, which no longest
    tells. In as many as ``unowned_perhaps_queues``
    and ``overlap_perhaps_queues`` besides it is possible and not known, for so many ms at most, or nobody knows how
    many. ``longest_unowned`` or ``longest_overlap`` null: of none it is known for certain, and where
    ``unowned_perhaps_queues`` or ``overlap_perhaps_queues`` is 0 too, none was seen.
    What an earlier round let go, and nobody had taken when this one began, is told by that one alone, to its end.
    Of the queues without owner ``unowned_unmoved_queues`` had none before it either, as far as is known: they are not
    among its ``handoffs``, the number of rows of ``/moves``. Of ``beyond_count`` of the queues of these figures
    no handoff tells: ``beyond`` are the longest 200 of them, each with the reason.

    While it is open ``left_open`` queues besides those ``to_move`` are still to change owner by earlier rounds that it
    superseded.

    ``longest_pause`` is from letting go to the first pull, of all queues that were let go; where no first pull is
    known, at least as long as nobody had it, and so where nobody had a queue that has no handoff in it. 0 to 0: there
    was none; null is unknown, and ``unknown`` says why. It is known of ``pause_queues`` that nobody pulled them for a
    while; of ``pause_unknown`` handoffs the end is not known.

    ``twice`` messages at least were consumed twice; ``twice_unknown`` is the number of handoffs of which it is unknown.
    """

    at: Instant
    sentence: Text
    waits_for: Text | None
    members_before: list[Text] | None
    members_after: list[Text] | None
    left_open: int | None
    unsettled: list[Text]
    unknown_members: list[Text]
    causes: list[CauseOut]
    loads: list[LoadOut]
    longest_unowned: Bounds | None
    unowned_queues: int
    unowned_unmoved_queues: int | None
    is_unowned_lasting: bool
    unowned_perhaps_queues: int
    unowned_perhaps_most: int | None
    longest_overlap: Bounds | None
    overlap_queues: int
    overlap_older_queues: int
    overlap_perhaps_older_queues: int
    is_overlap_lasting: bool
    overlap_perhaps_queues: int
    overlap_perhaps_most: int | None
    longest_pause: Bounds | None
    pause_queues: int
    pause_unknown: int
    handoffs: int
    beyond_count: int
    beyond: list[BeyondOut]
    twice: int | None
    twice_unknown: int | None
    previous: int | None
    next: int | None


class MoveOut(Schema):
    """One queue's handoff in a round, worst first; no client is nobody, unless ``unknown`` names it.

    A queue that passed several hands has a row for each. A ``from_client`` without ``dropped_at`` handed nothing over:
    it had the queue beside the other one, who let it go again, or has it too.

    ``is_waiting``: nobody has taken it yet. ``is_shared``: two have it so far. ``is_unknown``: somebody who does not
    answer may have it. ``is_older``: the other had taken it in an earlier round, and two had it since. ``is_gone``: it
    left the route before anybody took it, as was seen ``gone_at``. ``is_back``: it is in one again. That nobody had it,
    or two, is known where ``unowned_low``, or ``overlap_low``, is more than 0, and else only possible. At least
    ``twice`` messages were consumed twice, those from the offset ``twice_first`` on: by what both members report.
    """

    topic: Text
    broker: Text
    queue_id: int
    from_client: Text | None
    to_client: Text | None
    dropped_at: Instant | None
    taken_at: Instant | None
    first_pull_at: Instant | None
    unowned_low: int | None
    unowned_high: int | None
    overlap_low: int | None
    overlap_high: int | None
    pause_low: int | None
    pause_high: int | None
    is_waiting: bool
    is_shared: bool
    is_unknown: bool
    is_older: bool
    is_gone: bool
    gone_at: Instant | None
    is_back: bool
    twice: int | None
    twice_first: int | None
    unknown: Unknown


class HandoffOut(Schema):
    """One moved queue's story as it was stored when its round had ended, each instant with its bounds.

    No client is nobody of whom it is known. A ``from_client`` without ``dropped_at`` handed nothing over: it had the
    queue beside the other one, who let it go again, or has it too.

    ``dropped_high`` null beside ``dropped_at``: who had it was lost without a word, and may pull it still; it was its
    owner until ``dropped_at`` at most, when it was a member no more, and ``overlap_high`` is told by that. Of what
    nobody had taken when the round ended ``unowned_low`` and ``unowned_high`` are until somebody took it, until it left
    the route (``is_gone``, as was seen ``gone_at``), or until now, as ``/moves`` of the round tells it.
    """

    round: int
    topic: Text
    broker: Text
    queue_id: int
    from_client: Text | None
    to_client: Text | None
    dropped_at: Instant | None
    dropped_low: Instant | None
    dropped_high: Instant | None
    taken_at: Instant | None
    taken_low: Instant | None
    taken_high: Instant | None
    first_pull_at: Instant | None
    unowned_low: int | None
    unowned_high: int | None
    overlap_low: int | None
    overlap_high: int | None
    pause_low: int | None
    pause_high: int | None
    is_gone: bool
    gone_at: Instant | None
    unknown: Unknown


FIRST_SEEN = "it was first seen with who has it, who may have had it all the time"
NOT_HANDED = "it did not go from one member to another"
BACK = "it is back in the route, and when it had left is not kept"
OF_HANDOFF = frozenset({"round", "unknown", "from_client", "to_client", "is_gone", "gone_at"})
LEFT = "it left the route, and nobody waits for it any more"
SPANS = ("unowned", "overlap", "pause")
COUNTS = {"moves": "changed_count", "left": "left_count"}


def round_row(row: Round, now: int) -> RoundRow:
    """Shape a round for a list; ``now`` is when it stands so."""
    is_open, moved = row.closed_at is None, moved_so_far(row, now=now)
    why = WAITS if row.closed_at is None else "nobody knows since when it may have been under way"
    reasons = {name: why for name in ("took_low", "took_high") if getattr(row, name) is None}
    if row.opened_low is None:
        reasons["opened_low"] = "nothing is known of the time before its first cause was seen"
    if is_open:
        reasons |= dict.fromkeys(("closed_at", "moves", "left"), WAITS)
        reasons |= {name: UNCOUNTED for name, n in (("moved_so_far", moved), ("to_move", row.move_count)) if n is None}
    else:
        reasons |= dict.fromkeys(("moved_so_far", "to_move"), OVER)
        reasons |= {name: UNCOUNTED for name in ("moves", "left") if getattr(row, COUNTS[name]) is None}
    return RoundRow(
        number=row.number,
        state=row.state,
        cause=row.cause,
        opened_at=row.opened_at,
        opened_low=row.opened_low,
        last_cause_at=row.last_cause_at,
        closed_at=row.closed_at,
        not_converged_at=row.not_converged_at,
        superseded_by=row.superseded_by,
        wave=row.wave,
        moves=row.changed_count,
        left=row.left_count,
        moved_so_far=moved,
        to_move=row.move_count if is_open else None,
        took_low=row.took_low,
        took_high=row.took_high,
        unknown=reasons,
    )


def cause_out(row: RoundCause) -> CauseOut:
    """Shape a cause."""
    return CauseOut(
        cause=row.cause,
        client_id=row.client_id,
        evidence=row.evidence,
        at=When(at=row.at, low=row.at_low, high=row.at_high),
        origin=row.origin,
        observed_at=row.observed_at,
        observed_by=row.observed_by,
    )


def beyond_out(each: Beyond) -> BeyondOut:
    """Shape a queue that a round's figures count, and none of its handoffs tells of."""
    return BeyondOut(
        topic=each.topic,
        broker=each.broker,
        queue_id=each.queue_id,
        unowned=Bounds(low=each.unowned[0], high=each.unowned[1]),
        overlap=Bounds(low=each.overlap[0], high=each.overlap[1]),
        why=list(each.why),
    )


def load_out(load: Load) -> LoadOut:
    """Shape a load."""
    return LoadOut(client_id=load.client, before=load.before, after=load.after)


def move_out(lane: Lane, known: Mapping[Lane, Twice], why_not_twice: str = NO_OFFSETS) -> MoveOut:
    """Shape a handoff of a round that may be under way."""
    twice = known.get(lane)
    out = MoveOut(
        topic=lane.topic,
        broker=lane.broker,
        queue_id=lane.queue_id,
        from_client=lane.from_client or None,
        to_client=lane.to_client or None,
        dropped_at=lane.dropped_at,
        taken_at=lane.taken_at,
        first_pull_at=lane.first_pull_at,
        unowned_low=lane.unowned[0],
        unowned_high=lane.unowned[1],
        overlap_low=lane.overlap[0],
        overlap_high=lane.overlap[1],
        pause_low=lane.pause[0],
        pause_high=lane.pause[1],
        is_waiting=lane.is_waiting,
        is_shared=lane.is_shared,
        is_unknown=lane.is_unknown,
        is_older=lane.is_older,
        is_gone=lane.is_gone,
        gone_at=lane.gone_at,
        is_back=lane.is_back,
        twice=twice.count if twice is not None else None,
        twice_first=twice.first if twice is not None and twice.count else None,
        unknown={},
    )
    out.unknown = _why(out, "it is waited for still" if lane.is_waiting else LEFT if lane.is_gone else "")
    if lane.is_gone and lane.gone_at is None:
        out.unknown["gone_at"] = BACK
    if lane.is_first_seen:
        out.unknown["from_client"] = FIRST_SEEN
    if twice is None:
        is_handed = bool(lane.from_client and lane.to_client)
        out.unknown |= dict.fromkeys(("twice", "twice_first"), why_not_twice if is_handed else NOT_HANDED)
    return out


def handoff_out(row: Handoff, lasting: Lasting | None = None) -> HandoffOut:
    """Shape a stored handoff; its round is selected with it. ``lasting``: of what nobody had taken in its round."""
    names = [name for name in HandoffOut.model_fields if name not in OF_HANDOFF]
    end = lasting.end if lasting is not None else None
    out = HandoffOut(
        round=row.round.number,
        from_client=row.from_client or None,
        to_client=row.to_client or None,
        is_gone=end is not None,
        gone_at=end.gone_at if end is not None else None,
        unknown={},
        **{name: getattr(row, name) for name in names},
    )
    if lasting is not None:
        out.unowned_low, out.unowned_high = lasting.low, lasting.high
    out.unknown = _why(out, LEFT if out.is_gone else "")
    if out.is_gone and out.gone_at is None:
        out.unknown["gone_at"] = BACK
    if out.from_client is None and out.taken_low is None:
        out.unknown["from_client"] = FIRST_SEEN
    return out


def _why(out: MoveOut | HandoffOut, waits: str) -> dict[str, str]:
    reasons = {
        name: waits or NOT_SEEN
        for name in ("dropped_at", "taken_at", "first_pull_at")
        if getattr(out, name) is None and not (name == "dropped_at" and out.from_client is None)
    }
    if out.from_client is None and out.dropped_at is None:
        reasons["dropped_at"] = "nobody is known to have had it before"
    elif out.dropped_at is None and not waits:
        reasons["dropped_at"] = NOT_DROPPED
    for span in SPANS:
        for name in (f"{span}_low", f"{span}_high"):
            if getattr(out, name) is None:
                reasons[name] = _why_span(span, out, waits)
    return reasons


def _why_span(span: str, out: MoveOut | HandoffOut, waits: str) -> str:
    if waits:
        return waits
    if span == "pause" and out.first_pull_at is None:
        return "its first pull is not known: members report it, brokers do not"
    return "when it was let go, or taken, is not known closely enough"
