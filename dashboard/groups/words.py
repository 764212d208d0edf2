"""A group's state in words, and how grave it is. ``static/js/lib/state.js`` says the same of pushed rows.

``tests/words/*.json`` hold both to it. Unknown is said, never shown as fine.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from dashboard.groups.models.rounds import RoundState
from dashboard.push.messages import Row
from rebalance_engine.events import Cause, Departure
from rebalance_engine.model import MessageModel

GRAVE = ("two", "none", "unknown", "moving", "quiet")  # gravest first


@dataclass(frozen=True, slots=True)
class State:
    """How a group stands: one of ``GRAVE``, and the words."""

    kind: str
    words: str


def state_of(row: Row) -> State:
    """Say how a group stands: the gravest thing that is known, else what is not known."""
    figures = {"queues": row.queues}
    if row.rebalanced_at is None or row.queues is None:
        return State("unknown", _("not looked at yet"))
    if row.members is None:
        return State("unknown", _("unknown who is a member"))
    if row.doubles:
        return State("two", _two_owners_and_none(row))
    if row.members == 0:
        return State("none" if row.queues else "unknown", _("no members"))
    if row.orphans:
        return State("none", _no_owner(row.orphans, is_bound=bool(row.perhaps_orphans)) % {"n": row.orphans, **figures})
    return _by_answers(row)


def is_bound(row: Row) -> bool:
    """Whether the row's figures are what is known at least: somebody does not tell all, or has not told again."""
    return bool((row.silent or 0) > row.proxied or row.partial or row.untold or row.perhaps_twice)


def _no_owner(n: int, *, is_bound: bool) -> str:
    if is_bound:
        return ngettext(
            "at least %(n)s of %(queues)s queues without owner", "at least %(n)s of %(queues)s queues without owner", n
        )
    return ngettext("%(n)s of %(queues)s queues without owner", "%(n)s of %(queues)s queues without owner", n)


def _two_owners_and_none(row: Row) -> str:
    """Say of how many queues there are two owners, and of how many none: what stands still is no less grave."""
    assert row.doubles is not None
    two = _two_owners(row.doubles, is_bound=is_bound(row)) % {"n": row.doubles, "queues": row.queues}
    if not row.orphans:
        return two
    words = _("%(two)s, at least %(n)s without owner") if row.perhaps_orphans else _("%(two)s, %(n)s without owner")
    return words % {"two": two, "n": row.orphans}


def _two_owners(n: int, *, is_bound: bool) -> str:
    if is_bound:
        return ngettext(
            "at least %(n)s of %(queues)s queues with two owners",
            "at least %(n)s of %(queues)s queues with two owners",
            n,
        )
    return ngettext("%(n)s of %(queues)s queues with two owners", "%(n)s of %(queues)s queues with two owners", n)


def _by_answers(row: Row) -> State:
    if row.perhaps_twice:
        words = ngettext(
            "%(n)s of %(queues)s queues perhaps with two owners: not all have answered since",
            "%(n)s of %(queues)s queues perhaps with two owners: not all have answered since",
            row.perhaps_twice,
        )
        return State("unknown", words % {"n": row.perhaps_twice, "queues": row.queues})
    if words := _not_told(row):
        return State("unknown", words)
    if row.untold:
        return State("unknown", _("unknown whether others are members"))
    if row.disputed:
        words = ngettext(
            "NameServers disagree on %(n)s of %(queues)s queues",
            "NameServers disagree on %(n)s of %(queues)s queues",
            row.disputed,
        )
        return State("unknown", words % {"n": row.disputed, "queues": row.queues})
    return _by_target(row)


def _not_told(row: Row) -> str:
    """Say which members have not told all that they hold; empty: there is none, or all come through a proxy."""
    if row.silent and row.silent > row.proxied:
        return _silent(row.silent - row.proxied - row.unasked, row.unasked, row.members)
    if row.partial:
        return _partial(row)
    return _proxied(row) if row.proxied and row.proxied != row.members else ""


def _silent(silent: int, unasked: int, members: int | None) -> str:
    """Say how many were asked and do not answer, and how many nobody has asked yet."""
    if not silent:
        words = ngettext(
            "%(unasked)s of %(members)s members not asked yet",
            "%(unasked)s of %(members)s members not asked yet",
            unasked,
        )
    elif not unasked:
        words = ngettext(
            "%(silent)s of %(members)s members does not answer",
            "%(silent)s of %(members)s members do not answer",
            silent,
        )
    else:
        words = ngettext(
            "%(silent)s of %(members)s members does not answer, %(unasked)s not asked yet",
            "%(silent)s of %(members)s members do not answer, %(unasked)s not asked yet",
            silent,
        )
    return words % {"silent": silent, "unasked": unasked, "members": members}


def _partial(row: Row) -> str:
    """Say how many client ids several connections have: of each a broker asks one, and what others hold is unknown."""
    words = ngettext(
        "%(n)s of %(members)s members has several connections, of which only one can be asked",
        "%(n)s of %(members)s members have several connections each, of which only one can be asked",
        row.partial,
    )
    return words % {"n": row.partial, "members": row.members}


def _proxied(row: Row) -> str:
    """Say how many own no queues and cannot be asked, beside others who can: who has the queues is not known then."""
    words = ngettext(
        "%(n)s of %(members)s members comes through a proxy, and cannot be asked",
        "%(n)s of %(members)s members come through a proxy, and cannot be asked",
        row.proxied,
    )
    return words % {"n": row.proxied, "members": row.members}


def _by_target(row: Row) -> State:
    if row.orphans is None or row.doubles is None:
        return State("unknown", _("unknown who holds what since the last change"))
    if row.model == MessageModel.BROADCASTING.value:
        return State("quiet", _("each member has all queues"))
    if row.is_behind:
        return State("unknown", _("a newer change is being computed"))
    if row.is_converged is None:
        return State("unknown", _("unknown who should have what"))
    return State("quiet", _as_wanted(row)) if row.is_converged else State("moving", _("rebalancing"))


def _as_wanted(row: Row) -> str:
    if row.queues and row.popping:
        words = _("held as wanted; POP: %(popping)s of %(members)s members")
        return words % {"popping": row.popping, "members": row.members}
    if row.queues:
        return _("held as wanted")
    if row.popping and row.proxied:
        return _("POP and through a proxy: no queues that members own")
    if row.popping:
        return _("POP: no queues that members own")
    if row.proxied:
        return _("no queues that members own: all come through a proxy")
    return _("no queues that members own")


def cause_words(cause: str | None) -> str:
    """Translate a round's cause."""
    words = {
        Cause.MEMBER_JOINED.value: _("member joined"),
        Cause.MEMBER_LEFT.value: _("member left"),
        Cause.HEARTBEAT_EXPIRED.value: _("heartbeat expired"),
        Cause.SUBSCRIPTION_CHANGED.value: _("subscription changed"),
        Cause.ROUTE_CHANGED.value: _("route changed"),
        Cause.BROKER_GONE.value: _("broker gone"),
        Cause.BROKER_BACK.value: _("broker back"),
        Cause.STRATEGY_CHANGED.value: _("strategy changed"),
        Cause.CONFIG_CHANGED.value: _("config changed"),
        Cause.PLAN_CHANGED.value: _("plan changed"),
        Cause.HELD_CHANGED.value: _("held changed"),
        Cause.MANUAL.value: _("manual"),
        Cause.MANY_AT_ONCE.value: _("several members at once"),
        Cause.UNKNOWN.value: _("unknown"),
    }
    return words.get(cause or "", _("unknown"))


def departure_words(departure: str | None) -> str:
    """Translate how a member left."""
    words = {
        Departure.UNREGISTERED.value: _("left"),
        Departure.CONNECTION_CLOSED.value: _("connection closed"),
        Departure.HEARTBEAT_EXPIRED.value: _("heartbeat expired"),
        Departure.UNKNOWN.value: _("gone"),
    }
    return words.get(departure or "", _("gone"))


def round_state_words(state: str) -> str:
    """Translate how a round stands."""
    words = {
        RoundState.OPEN.value: _("open"),
        RoundState.NOT_CONVERGED.value: _("not converged"),
        RoundState.CLOSED.value: _("closed"),
        RoundState.SUPERSEDED.value: _("superseded"),
    }
    return words.get(state, state)
