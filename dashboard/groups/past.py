"""A group as it was shown at a past instant: the steps that browsers got are kept, and lead to the state of then.

Steps are kept for a day. What was before is put together from what is kept longer: the states before and after each
round, and the times in which members held queues (``past_spans.py``); it says so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from django.utils.translation import gettext as _

from dashboard.groups.models import Group, Round
from dashboard.groups.past_spans import put_together
from dashboard.push.group_diffs import apply
from dashboard.push.messages import GroupDiff, GroupSnapshot, GroupState, decode
from dashboard.push.models import Step, Stream
from dashboard.push.publish import group_stream, state_in

MOST_STEPS = 4_000
MOST_BASES = 4  # rounds whose states are tried
LONGEST = 40  # characters of an instant
DIGITS = 15  # of the latest instant that is read, in ms: some 30,000 years on
PLUS_AS_SPACE = re.compile(r"(T\S*) (\d\d:?\d\d)$")  # a plus sign in an address means a space


class BadInstant(ValueError):
    """What was asked for is no instant, or is still to come. Its text is for whoever asked."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The state of a group at an instant, and since when it was shown; not exact: put together from stored spans.

    ``told_last``: when members that were silent then had told last what they hold (``past_silent.py``).
    """

    state: GroupState
    since: int
    is_exact: bool
    told_last: Mapping[str, int] = field(default_factory=dict)


def instant_of(text: str, *, now: int) -> int:
    """Read an instant: ms since 1970, or ISO 8601, in UTC where it does not say otherwise.

    Raises:
        BadInstant: with what was seen and what was needed.
    """
    text = text.strip()
    if text.isascii() and text.isdecimal() and len(text) > DIGITS:
        words = _("“%(text)s” has %(n)s digits. Needed are ms since 1970, until now: it is %(now)s.")
        shown = text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
        raise BadInstant(words % {"text": shown, "n": len(text), "now": now})
    at = int(text) if text.isascii() and text.isdecimal() else _iso(text[:LONGEST])
    if at > now:
        raise BadInstant(
            _("%(at)s is still to come: it is %(now)s now.") % {"at": spell_instant(at), "now": spell_instant(now)}
        )
    return at


def _iso(text: str) -> int:
    try:
        read = datetime.fromisoformat(PLUS_AS_SPACE.sub(r"\1+\2", text) if text.isprintable() else "")
        return max(0, round((read if read.tzinfo else read.replace(tzinfo=UTC)).timestamp() * 1_000))
    except (ValueError, OverflowError):
        words = _("“%(text)s” is no instant. Needed are ms since 1970, or a time such as 2026-01-31T08:14:08.924Z.")
        raise BadInstant(words % {"text": text}) from None


def spell_instant(at: int) -> str:
    """Write an instant in ISO 8601, to the ms.

    >>> spell_instant(1_700_000_000_123)
    '2023-11-14T22:13:20.123Z'
    """
    seconds, ms = divmod(at, 1_000)
    try:
        return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%dT%H:%M:%S}.{ms:03}Z"
    except (ValueError, OverflowError, OSError):
        return f"{at} ms"


def shown_at(*, group: Group, at: int) -> Shown | None:
    """Give what was shown of a group at an instant; None where nothing is kept of it."""
    stream = Stream.objects.filter(name=group_stream(group.pk), seq__gt=0).first()
    if stream is None:
        return None
    if at >= stream.at:
        state = state_in(bytes(stream.state))
        return None if state is None else Shown(state, stream.at, is_exact=True)
    replayed = _replayed(stream, group, at)
    if replayed is not None:
        return replayed
    base = _base(group, at=at)
    return None if base is None else Shown(put_together(group=group, base=base, at=at), at, is_exact=False)


def _replayed(stream: Stream, group: Group, at: int) -> Shown | None:
    """Apply the kept steps to the newest state before them that is whole: a snapshot, or one that a round keeps."""
    last = Step.objects.filter(stream=stream, at__lte=at).order_by("-seq").values_list("seq", "at").first()
    if last is None:
        return None
    number, since = last
    base = _base(group, at=at, seq=number)
    if base is not None and base.seq == number:
        return Shown(base.state, since, is_exact=True)
    diffs: list[GroupDiff] = []
    rows = Step.objects.filter(stream=stream, seq__lte=number).order_by("-seq").values_list("seq", "body")
    for place, (seq, body) in enumerate(rows[:MOST_STEPS]):
        if seq != number - place:
            return None  # one is not kept
        message = decode(bytes(body))
        if isinstance(message, GroupSnapshot):
            return Shown(_applied(message.state, diffs), since, is_exact=True)
        assert isinstance(message, GroupDiff)
        diffs.append(message)
        if base is not None and base.seq == seq - 1:
            return Shown(_applied(base.state, diffs), since, is_exact=True)
    return None


def _applied(state: GroupState, newest_first: list[GroupDiff]) -> GroupState:
    for diff in reversed(newest_first):
        state = apply(state, diff)
    return state


def _base(group: Group, *, at: int, seq: int | None = None) -> GroupSnapshot | None:
    """Give the newest whole state that a round keeps, of this time (and number of the step) at the latest."""
    rows = Round.objects.filter(group=group, opened_at__lte=at).order_by("-number")
    found: GroupSnapshot | None = None
    for each in _snapshots(rows.values_list("after", "before")[:MOST_BASES]):
        is_before = each.at <= at and (seq is None or each.seq <= seq)
        if is_before and (found is None or each.seq > found.seq):
            found = each
    return found


def _snapshots(rows: object) -> Iterator[GroupSnapshot]:
    assert hasattr(rows, "__iter__")
    for stored in (part for row in rows for part in row if part):
        message = decode(bytes(stored))
        if isinstance(message, GroupSnapshot):
            yield message
