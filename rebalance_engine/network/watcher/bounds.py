"""Within which time something happened that two looks tell, and what time alone tells. Times are ms since 1970."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum

from rebalance_engine.events import Departure, Exactness
from rebalance_engine.network.watcher.known import Beat, KnownMember

# ``ConsumerManager.scanNotActiveChannel``: a broker lets go of who sent no heartbeat for 120 s, or for its
# ``channelExpiredTimeout`` from 5.0 on, looking every 10 s.
EXPIRES_AFTER_MS = 120_000
SOONEST_EXPIRY_MS, LATEST_EXPIRY_MS = 10_000, 3_600_000  # a setting outside of these is not believed
SCAN_EVERY_MS = 10_000
LATE_MS = 15_000  # until a broker that looks every 10 s really did, and we looked too
FRESH_MS = 5_000  # who has not been looked at for longer may have sent a heartbeat, and been killed


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


class Expiry(Enum):
    """Whether a broker let a heartbeat expire."""

    SURE = "sure"
    PERHAPS = "perhaps"
    NO = "no"


def departed(
    member: KnownMember, at: int, expires_after_ms: Mapping[str, int], beats: Mapping[str, Beat] | None = None
) -> tuple[Departure, str | None]:
    """Say how a member that is listed no more, seen at ``at``, has left, and how long it had answered nothing.

    Its heartbeat expired if it surely had at one broker, and no other one lost the member before it may have there:
    who is killed loses all connections at once. The silence is None where no broker said that it does not answer, or
    it never told anything.

    Args:
        expires_after_ms: how long brokers wait for a heartbeat, by name; of others it is ``EXPIRES_AFTER_MS``.
        beats: the last heartbeat at each broker that told it.
    """
    if member.hung_at is None or member.held_at is None:
        return Departure.UNKNOWN, None
    silence, told = f"it had answered nothing for {(at - member.held_at) / 1_000:.0f} s", set[Expiry]()
    for broker, (last_listed_at, lost_at) in member.lost.items():
        wait, beat = expires_after_ms.get(broker, EXPIRES_AFTER_MS), (beats or {}).get(broker)
        by_beat = Expiry.NO if beat is None else expired_by_beat(beat, wait, last_listed_at, lost_at)
        told.add(_expired_by_silence(member.hung_at, beat, wait, last_listed_at) if by_beat is Expiry.NO else by_beat)
    if Expiry.SURE in told and Expiry.NO not in told:
        return Departure.HEARTBEAT_EXPIRED, f"{silence}, and was listed all the time"
    return Departure.UNKNOWN, silence


def expired_by_beat(beat: Beat, wait: int, last_listed_at: int, lost_at: int) -> Expiry:
    """Say whether a broker that told the last heartbeat of a member still had it when that expired.

    It counts only if the broker was asked just before it lost the member: later heartbeats would have been seen. Who is
    lost before it expired was killed; who is listed long after that was heard again.
    """
    wait = min(wait, EXPIRES_AFTER_MS)  # a constant for producers (``ProducerManager``): it closes the connection
    gone_at = lost_at if beat.gone_at is None else min(lost_at, beat.gone_at)
    there_at = max(beat.told_at, min(last_listed_at, gone_at))
    due = beat.latest + wait
    if gone_at - beat.told_at > FRESH_MS or gone_at > due + SCAN_EVERY_MS + LATE_MS:
        return Expiry.NO
    if there_at >= due:
        return Expiry.SURE
    return Expiry.PERHAPS if beat.earliest is not None and gone_at >= beat.earliest + wait else Expiry.NO


def _expired_by_silence(hung_at: int, beat: Beat | None, wait: int, last_listed_at: int) -> Expiry:
    """Say whether a broker listed a hung member until no heartbeat of it can have been young enough, and no longer.

    Until it was first asked in vain it may have sent one, and until the broker says that it did. Whoever is let go
    before that one expires may have been killed; of whoever is listed for longer heartbeats came.
    """
    due = wait + (hung_at if beat is None else max(hung_at, beat.latest))
    return Expiry.SURE if due <= last_listed_at <= due + SCAN_EVERY_MS + LATE_MS else Expiry.NO
