"""Within which time something happened that two looks tell, and what time alone tells. Times are ms since 1970."""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.events import Departure, Exactness
from rebalance_engine.network.watcher.known import KnownMember

# ``ConsumerManager.scanNotActiveChannel``: a broker lets go of who sent no heartbeat for 120 s, or for its
# ``channelExpiredTimeout`` from 5.0 on, looking every 10 s.
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


def departed(member: KnownMember, at: int, expires_after_ms: Mapping[str, int]) -> tuple[Departure, str | None]:
    """Say how a member that is listed no more, seen at ``at``, has left, and how long it had answered nothing.

    The silence is None where no broker said that it does not answer, or it never told anything.

    Args:
        expires_after_ms: how long brokers wait for a heartbeat, by name; of others it is ``EXPIRES_AFTER_MS``.
    """
    if member.hung_at is None or member.held_at is None:
        return Departure.UNKNOWN, None
    silence = f"it had answered nothing for {(at - member.held_at) / 1_000:.0f} s"
    waits = {broker: expires_after_ms.get(broker, EXPIRES_AFTER_MS) for broker in member.lost}
    if waits and all(_expired_at(member, broker, wait, member.hung_at) for broker, wait in waits.items()):
        return Departure.HEARTBEAT_EXPIRED, f"{silence}, and was listed all the time"
    return Departure.UNKNOWN, silence


def _expired_at(member: KnownMember, broker: str, wait: int, hung_at: int) -> bool:
    """Whether a broker listed a hung member until no heartbeat of it can have been young enough, and not for longer.

    Until it was first asked in vain it may have sent one. Whoever is let go before that one expires may have been
    killed; of whoever is listed for longer heartbeats came.
    """
    last_listed_at, _ = member.lost[broker]
    return hung_at + wait <= last_listed_at <= hung_at + wait + SCAN_EVERY_MS + LATE_MS
