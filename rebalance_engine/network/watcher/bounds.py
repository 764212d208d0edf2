"""Within which time something happened that two looks tell, and what time alone tells. Times are ms since 1970."""

from __future__ import annotations

from collections.abc import Iterable

from rebalance_engine.events import Exactness
from rebalance_engine.network.watcher.known import KnownMember

# ``ClientManagerConfig``/``ClientConfig``: a heartbeat every 30 s; ``ConsumerManager.scanNotActiveChannel``: a broker
# lets go of who sent none for 120 s, or for its ``channelExpiredTimeout`` from 5.0 on, looking every 10 s.
HEARTBEAT_EVERY_MS = 30_000
EXPIRES_AFTER_MS = 120_000
SOONEST_EXPIRY_MS, LATEST_EXPIRY_MS = 10_000, 3_600_000  # a setting outside of these is not believed
SCAN_EVERY_MS = 10_000
LATE_MS = 15_000  # until a broker that looks every 10 s really did, and we looked too


def between(low: int | None, at: int) -> Exactness:
    """Say that it happened between the last look that showed the old and the first that showed the new, at ``at``.

    None: nobody knows when there was a look before, so that only the upper bound is known.
    """
    return Exactness.at_most(at) if low is None else Exactness.between(min(low, at), at)


def left_since(member: KnownMember) -> int | None:
    """Say since when a member that nobody lists any more may have been leaving: since the first broker lost it.

    Brokers let go of who does not answer one after the other, each at its next look; members divide anew from the first
    on. A broker that lost it long before the last one that listed it did so for another reason.
    """
    if member.seen_at is None:
        return None
    lows = (low for low, at in member.lost.values() if at >= member.seen_at - SCAN_EVERY_MS - LATE_MS)
    return min([member.seen_at, *lows])


def read_expiry(setting: str | None) -> int | None:
    """Read a broker's ``channelExpiredTimeout`` (BrokerConfig.java, ms); None: none that can be believed."""
    if setting is None or not (setting.isascii() and setting.isdecimal()) or len(setting) > len(str(LATEST_EXPIRY_MS)):
        return None
    expiry = int(setting)
    return expiry if SOONEST_EXPIRY_MS <= expiry <= LATEST_EXPIRY_MS else None


def expired_by_time(member: KnownMember, at: int, expiries: Iterable[int] = ()) -> str | None:
    """Say why a member that is listed no more, seen at ``at``, must have been let go for want of a heartbeat.

    It hung: questions to it ran into their time, while brokers listed it as long as they wait for a heartbeat, and no
    longer. Who is killed is listed no more at once. None: time alone does not tell. ``expiries`` are how long the
    brokers that may have listed it wait, in ms; none given is ``EXPIRES_AFTER_MS``.
    """
    waits = list(expiries) or [EXPIRES_AFTER_MS]
    if member.hung_at is None or member.held_at is None or member.seen_at is None:
        return None
    # it hung from some moment between its last answer and the first question that it did not answer
    earliest = member.held_at + min(waits) - HEARTBEAT_EVERY_MS
    latest = member.hung_at + max(waits) + SCAN_EVERY_MS + LATE_MS
    if not (earliest <= at and member.seen_at <= latest and at - member.seen_at <= HEARTBEAT_EVERY_MS):
        return None
    return f"it had answered nothing for {(at - member.held_at) / 1_000:.0f} s, and was listed all the time"
