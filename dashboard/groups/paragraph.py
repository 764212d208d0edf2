"""A round in a paragraph that a person can paste into an incident report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.common.sayings import in_words, together
from dashboard.common.spans import plain_between as between
from dashboard.common.spans import plain_span as span
from dashboard.groups.elsewhere import told_by_others
from dashboard.groups.models import Round
from dashboard.groups.rounds import MOST_COUNTED
from dashboard.groups.whose import cause_with_names, words_of
from dashboard.groups.words import cause_words
from rebalance_engine.events import Cause
from rebalance_engine.rounds import MEMBERS_CHANGE

WENT = frozenset(cause.value for cause in MEMBERS_CHANGE - {Cause.MEMBER_JOINED})
MEMBER = frozenset(cause.value for cause in MEMBERS_CHANGE)


def sentence_of(row: Round, found: Mapping[str, object], *, now: int) -> str:
    """Say a round in a paragraph that a person can paste into a report; ``found`` is the worst of it."""
    told, more = _causes_told(row)
    parts = [_("%(sentence)s.") % {"sentence": each[:1].upper() + each[1:].rstrip(".。")} for each in told]
    if more:
        parts.append(ngettext("And %(n)s more change.", "And %(n)s more changes.", more) % {"n": more})
    parts.append(_duration(row, now))
    if row.closed_at is not None and row.move_count == 0 and (taken := _whole(found.get("from_nobody"))):
        parts.append(
            ngettext("%(n)s queue that had no owner was taken.", "%(n)s queues that had no owner were taken.", taken)
            % {"n": taken}
        )
    if left := _whole(found.get("left_open")):
        parts.append(
            ngettext(
                "%(n)s queue more is still to change owner by an earlier round, which this one superseded.",
                "%(n)s queues more are still to change owner by an earlier round, which this one superseded.",
                left,
            )
            % {"n": left}
        )
    if gone := _whole(found.get("gone_queues")):
        parts.append(
            ngettext(
                "%(n)s queue left its route, and nobody had taken it.",
                "%(n)s queues left their routes, and nobody had taken them.",
                gone,
            )
            % {"n": gone}
        )
    if back := _whole(found.get("back_queues")):
        parts.append(
            ngettext("%(n)s of them is in a route again.", "%(n)s of them are in a route again.", back) % {"n": back}
        )
    parts += [*_with_two(found), *_without_owner(found), *told_by_others(found)]
    if row.closed_at is not None and (found["is_shared"] or found["is_waiting"]):
        parts.append(_("That lasts beyond the end of the round."))
    elif found.get("has_outlasted"):
        parts.append(_("Queues that it let go had no owner beyond its end, until somebody took them."))
    parts += _consumed_twice(found)
    if row.unknown_members:
        parts.append(_("Unknown: what %(who)s holds.") % {"who": ", ".join(row.unknown_members[:5])})
    return together(parts)


def more_changes_of(row: Round) -> int:
    """Count the changes of a round that its paragraph only counts."""
    return _causes_told(row)[1]


def _consumed_twice(found: Mapping[str, object]) -> Iterator[str]:
    """Say how many messages came twice at least, and that it may grow where an old owner has yet to let go."""
    if twice := _whole(found.get("twice")):
        yield (
            ngettext(
                "At least %(n)s message was consumed twice.", "At least %(n)s messages were consumed twice.", twice
            )
            % {"n": twice}
        )
    if awaited := _whole(found.get("twice_awaited")):
        yield (
            ngettext(
                "It may be more: of %(n)s queue that is not known until %(who)s lets go.",
                "It may be more: of %(n)s queues that is not known until %(who)s lets go.",
                awaited,
            )
            if twice
            else ngettext(
                "Whether messages of %(n)s queue were consumed twice is not known until %(who)s lets go.",
                "Whether messages of %(n)s queues were consumed twice is not known until %(who)s lets go.",
                awaited,
            )
        ) % {"n": awaited, "who": found["twice_keepers"]}


def _causes_told(row: Round) -> tuple[list[str], int]:
    """Say what a round came of, and how many more changes there were; who came and who went is never one of those."""
    causes = list(row.causes.order_by("at", "pk").values_list("cause", "client_id", "evidence")[:MOST_COUNTED])
    if row.cause == Cause.MANY_AT_ONCE.value:
        came, went = _came_and_went(causes)
        if came or went:
            return [cause_with_names(cause_words(row.cause), _many(came, went))], len(causes) - len(came) - len(went)
    place = next((i for i, (cause, _client, _evidence) in enumerate(causes) if cause == row.cause), None)
    first = in_words(cause_words(row.cause) if place is None else causes[place][2])
    came, went = _came_and_went([each for i, each in enumerate(causes) if i != place])
    more = len(causes) - len(came) - len(went) - 1
    if not came and not went:
        return [first], max(0, more)
    who = _many(came, went)
    return [first, who] if row.cause in MEMBER else [who, first], max(0, more)


def _came_and_went(causes: Iterable[tuple[str, str | None, str]]) -> tuple[list[str], list[str]]:
    told = [(cause, client) for cause, client, _evidence in causes if client]
    came = [client for cause, client in told if cause == Cause.MEMBER_JOINED.value]
    return came, [client for cause, client in told if cause in WENT]


def _many(several_came: Sequence[str], several_went: Sequence[str]) -> str:
    """Say who came and who went, each once."""
    told, came, went = [], list(dict.fromkeys(several_came)), list(dict.fromkeys(several_went))
    if came:
        figures = {"n": len(came), "names": words_of(came)}
        told.append(
            ngettext("%(n)s member joined (%(names)s)", "%(n)s members joined (%(names)s)", len(came)) % figures
        )
    if went:
        figures = {"n": len(went), "names": words_of(went)}
        told.append(ngettext("%(n)s member left (%(names)s)", "%(n)s members left (%(names)s)", len(went)) % figures)
    return ", ".join(told)


def _with_two(found: Mapping[str, object]) -> Iterator[str]:
    """Say in how many queues two were for certain, and in how many perhaps."""
    known, perhaps = int(str(found["overlap_queues"])), int(str(found["overlap_perhaps_queues"]))
    if isinstance(bounds := found["overlap"], tuple):
        figures = {"n": known, "span": between(*bounds)[0]}
        if found["is_shared"]:
            yield (
                ngettext(
                    "%(n)s queue had two owners, the longest for %(span)s so far.",
                    "%(n)s queues had two owners, the longest for %(span)s so far.",
                    known,
                )
                % figures
            )
        else:
            yield (
                ngettext(
                    "%(n)s queue had two owners, the longest for %(span)s.",
                    "%(n)s queues had two owners, the longest for %(span)s.",
                    known,
                )
                % figures
            )
    if older := _whole(found.get("overlap_older_queues")):
        yield (
            ngettext(
                "%(n)s queue had two owners since before it.", "%(n)s queues had two owners since before it.", older
            )
            % {"n": older}
        )
    if perhaps and found["overlap_perhaps"] is None:
        yield (
            ngettext(
                "Perhaps %(n)s queue had two owners; since when is unknown.",
                "Perhaps %(n)s queues had two owners; since when is unknown.",
                perhaps,
            )
            % {"n": perhaps}
        )
    elif perhaps:
        yield (
            ngettext(
                "Perhaps %(n)s queue had two owners for a while, %(span)s at most.",
                "Perhaps %(n)s queues had two owners for a while, %(span)s at most.",
                perhaps,
            )
            % {"n": perhaps, "span": span(_whole(found["overlap_perhaps"]))}
        )
    if maybe_older := _whole(found.get("overlap_perhaps_older_queues")):
        yield (
            ngettext(
                "Perhaps %(n)s queue had two owners since before it.",
                "Perhaps %(n)s queues had two owners since before it.",
                maybe_older,
            )
            % {"n": maybe_older}
        )


def _without_owner(found: Mapping[str, object]) -> Iterator[str]:
    """Say how many queues had nobody for certain, those that nobody handed over among them, and how many perhaps."""
    known, perhaps = int(str(found["unowned_queues"])), int(str(found["unowned_perhaps_queues"]))
    if isinstance(bounds := found["unowned"], tuple):
        figures = {"n": known, "span": between(*bounds)[0]}
        if found["is_waiting"]:
            yield (
                ngettext(
                    "%(n)s queue had no owner, the longest for %(span)s so far.",
                    "%(n)s queues had no owner, the longest for %(span)s so far.",
                    known,
                )
                % figures
            )
        else:
            yield (
                ngettext(
                    "%(n)s queue had no owner, the longest for %(span)s.",
                    "%(n)s queues had no owner, the longest for %(span)s.",
                    known,
                )
                % figures
            )
        if unmoved := (_whole(found.get("unowned_unmoved")) or 0) + (_whole(found.get("unowned_untold")) or 0):
            yield _no_handoff(unmoved, known)
    if perhaps:
        yield (
            ngettext(
                "Perhaps %(n)s queue had no owner for a while, %(span)s at most.",
                "Perhaps %(n)s queues had no owner for a while, %(span)s at most.",
                perhaps,
            )
            % {"n": perhaps, "span": span(_whole(found["unowned_perhaps"]))}
        )
    if lost := _whole(found.get("lost_queues")):
        yield (
            ngettext(
                "No member has %(n)s of them now: who had it last is lost, and may have it still.",
                "No member has %(n)s of them now: who had them last is lost, and may have them still.",
                lost,
            )
            % {"n": lost}
        )


def _no_handoff(unmoved: int, known: int) -> str:
    """Say how many of the queues without owner were handed over by nobody in the round."""
    if unmoved >= known:
        return ngettext("It has no handoff in this round.", "None of them has a handoff in this round.", known)
    words = ngettext(
        "%(n)s of them has no handoff in this round.", "%(n)s of them have no handoff in this round.", unmoved
    )
    return words % {"n": unmoved}


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None


def _duration(row: Round, now: int) -> str:
    return _so_far(row, now) if row.closed_at is None else _took(row)


def _so_far(row: Round, now: int) -> str:
    figures: dict[str, object] = {"n": row.move_count, "span": span(now - row.opened_at)}
    if row.move_count is None:
        return _("How many queues are to change owner is unknown; still open after %(span)s.") % figures
    return (
        ngettext(
            "%(n)s queue is to change owner; still open after %(span)s.",
            "%(n)s queues are to change owner; still open after %(span)s.",
            row.move_count,
        )
        % figures
    )


def _took(row: Round) -> str:
    figures: dict[str, object] = {"n": row.move_count, "span": between(row.took_low, row.took_high)[0]}
    if row.is_left_by_all:
        return _all_left(row, figures)
    if row.move_count is None or (row.move_count == 0 and row.superseded_by is None):
        none, unknown = _("No queue changed owner."), _("How many queues changed owner is unknown.")
        return unknown if row.move_count is None else none
    if row.took_low is None:
        return (
            ngettext(
                "%(n)s queue changed owner; how long that took is unknown.",
                "%(n)s queues changed owner; how long that took is unknown.",
                row.move_count,
            )
            % figures
        )
    if row.superseded_by is not None:
        figures["by"] = row.superseded_by
        return (
            ngettext(
                "%(n)s queue changed owner; round %(by)s took over after %(span)s.",
                "%(n)s queues changed owner; round %(by)s took over after %(span)s.",
                row.move_count,
            )
            % figures
        )
    if row.is_begin_late:
        return (
            ngettext(
                "%(n)s queue changed owner in %(span)s, from the first let go or taken to the last; "
                "the begin was seen later.",
                "%(n)s queues changed owner in %(span)s, from the first let go or taken to the last; "
                "the begin was seen later.",
                row.move_count,
            )
            % figures
        )
    return (
        ngettext("%(n)s queue changed owner in %(span)s.", "%(n)s queues changed owner in %(span)s.", row.move_count)
        % figures
    )


def _all_left(row: Round, figures: Mapping[str, object]) -> str:
    """Say of a round after which nobody was a member what became of the queues: nobody took them."""
    if row.is_left_untold:
        return _("All members had left; how many queues lost their owners is unknown.")
    if not row.move_count:
        return _("All members had left.")
    return (
        ngettext(
            "All members had left; %(n)s queue lost its owner.",
            "All members had left; %(n)s queues lost their owners.",
            row.move_count,
        )
        % figures
    )
