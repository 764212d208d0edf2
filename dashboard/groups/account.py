"""A round's account: its handoffs, the time of its queues without owner and with two, and what no handoff tells of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dashboard.clusters.silences import told_until
from dashboard.groups import beyond, owned, past_story, story
from dashboard.groups.elsewhere import Own, own_of
from dashboard.groups.lane import Lane
from dashboard.groups.lanes import lanes_of
from dashboard.groups.left_open import left_open
from dashboard.groups.models import Round
from dashboard.groups.shares import Share
from dashboard.groups.twice import Totals


@dataclass(frozen=True, slots=True)
class Account:
    """What a round's page, the live page and the API tell of it: ``lanes`` and ``rest``, each worst first."""

    lanes: list[Lane]
    own: Own
    rest: list[beyond.Beyond]


NOTHING = Account([], Own({}), [])


def account_of(*, row: Round | None, now: int) -> Account:
    """Give the account of a round; of none an empty one. What lasts ends with what is told of its cluster."""
    if row is None:
        return NOTHING
    now = told_until(row.group.cluster, now)
    shares = owned.shares_in(row=row, now=now)
    return _account(row, lanes_of(row, now=now, shares=shares), shares, now)


def account_at(*, row: Round | None, at: int, now: int) -> Account:
    """Give the account of a round as far as it had come at an instant; of none an empty one."""
    if row is None:
        return NOTHING
    lanes = past_story.lanes_at(row=row, at=at, now=now)
    return _account(row, lanes, past_story.shares_at(row=row, at=at), at)


def _account(row: Round, lanes: list[Lane], shares: Mapping[int, Share], now: int) -> Account:
    own = own_of(row=row, shares=shares, lanes=lanes, now=now)
    return Account(lanes, own, beyond.beyond(shares=own.shares, lanes=lanes))


def figures_of(*, row: Round, account: Account, twice: Totals | None) -> dict[str, object]:
    """Give the worst of a round and what its paragraph says besides; ``twice``: what came so, if known."""
    return {
        **story.worst(account.lanes, account.own.shares, is_untold=row.is_left_untold),
        **account.own.figures,
        "has_outlasted": beyond.has_outlasted(row, account.lanes),
        "twice": None if twice is None else twice.count,
        "twice_awaited": 0 if twice is None else len(twice.awaited),
        "twice_keepers": "" if twice is None else twice.keepers,
        **beyond.count_unmoved(account.rest),
        "left_open": left_open(row),
    }
