"""When brokers heard last of clients (328), by our own clock; and when they are to be asked, so that time can tell.

Every Java client sends ``CLIENT_INNER_PRODUCER`` with its consumers, in one heartbeat, so that a broker tells of who
consumes alone, too. It tells it by its own clock: how far that is ahead follows from its figures (28), to a second, and
is at least as much as what it heard last is later than its answer. Pure; times are ms since 1970.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection
from dataclasses import replace

from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.system_groups import INNER_PRODUCER
from rebalance_engine.network.watcher.bounds import EXPIRES_AFTER_MS, LATE_MS, SCAN_EVERY_MS
from rebalance_engine.network.watcher.known import Beat
from rebalance_engine.remoting.bodies.clients import ProducerTableInfo

SECOND_MS = 1_000  # a broker tells how long it runs in whole seconds
CLOCK_LOOKS = 5  # the figures come once a minute, in which clocks hardly drift
BEFORE_MS = 3_000  # planning takes its time
KEPT_MS = 600_000  # of who is gone; a broker's member list may come late
RESTS_MS = 10_000  # a broker that did not tell is left alone


class Beats:
    """The last heartbeats that brokers told; ``expires_after_ms`` is how long each waits, where it said so."""

    def __init__(self) -> None:
        self.expires_after_ms: dict[str, int] = {}
        self._ahead: dict[str, deque[tuple[int, int]]] = {}
        self._beats: dict[str, dict[str, Beat]] = {}
        self._missed_at: dict[str, int] = {}

    def expiry_heard(self, broker: str, expiry_ms: int | None) -> None:
        """Take in how long a broker waits for heartbeats (26); None: it does not tell."""
        self.expires_after_ms.pop(broker, None)
        if expiry_ms is not None:
            self.expires_after_ms[broker] = expiry_ms

    def clock_heard(self, broker: str, shown: int | None, by: Answerer) -> None:
        """Take in what a broker's clock showed when it answered, in whole seconds; None: it does not tell."""
        if shown is None:
            self._ahead.pop(broker, None)
            return
        looks = self._ahead.setdefault(broker, deque(maxlen=CLOCK_LOOKS))
        looks.append((shown - by.at, shown + SECOND_MS - by.since))
        low, high = _meet(looks)
        if low > high:  # its clock was set, or ours
            while len(looks) > 1:
                looks.popleft()

    def heard(self, broker: str, table: ProducerTableInfo | None, by: Answerer) -> None:
        """Take in when a broker heard of each client last (328); None: it is too old to tell."""
        self._missed_at.pop(broker, None)
        told: dict[str, int] = {}
        for one in () if table is None else table.data.get(INNER_PRODUCER, ()):
            if one.client_id and one.last_update_timestamp > 0:  # of two under one id that which was heard last
                told[one.client_id] = max(one.last_update_timestamp, told.get(one.client_id, 0))
        low, high = self._bounds(broker, max(told.values()) - by.at if told else None)
        before = self._beats.get(broker, {})
        gone = {client: beat for client, beat in before.items() if client not in told}
        self._beats[broker] = {
            client: beat if beat.gone_at is not None else replace(beat, gone_at=by.at)
            for client, beat in gone.items()
            if beat.gone_at is None or by.at - beat.gone_at < KEPT_MS
        }
        for client, at in told.items():
            earliest = None if high is None else at - high
            self._beats[broker][client] = Beat(earliest, at - low, by.since)

    def missed(self, broker: str, at: int) -> None:
        """Take in that a broker did not tell."""
        self._missed_at[broker] = at

    def of(self, client: str) -> dict[str, Beat]:
        """Give the last heartbeat of a client at each broker that told it."""
        return {broker: beats[client] for broker, beats in self._beats.items() if client in beats}

    def due(self, clients: Collection[str], at: int) -> frozenset[str]:
        """Name the brokers at which a heartbeat of one of these clients is about to expire, or has."""
        return frozenset(
            broker
            for broker, beats in self._beats.items()
            if at - self._missed_at.get(broker, -RESTS_MS) >= RESTS_MS
            and any(client in beats and self._is_due(broker, beats[client], at) for client in clients)
        )

    def _is_due(self, broker: str, beat: Beat, at: int) -> bool:
        """Whether to look often: until the broker has let go of it, or was heard to do so no more."""
        wait = min(self.expires_after_ms.get(broker, EXPIRES_AFTER_MS), EXPIRES_AFTER_MS)
        begins = (beat.latest if beat.earliest is None else beat.earliest) + wait - BEFORE_MS
        ends = beat.latest + wait + SCAN_EVERY_MS + LATE_MS
        return beat.gone_at is None and begins <= at and beat.told_at <= ends

    def _bounds(self, broker: str, least: int | None) -> tuple[int, int | None]:
        """Say by how much a broker's clock is ahead at least and at most; ``least`` is what its answer proves.

        Without either nothing was told, and the bounds do not matter.
        """
        looks = self._ahead.get(broker)
        if not looks:
            return least or 0, None
        low, high = _meet(looks)
        if least is None or least <= high:
            return max(low, low if least is None else least), high
        looks.clear()  # its clock was set ahead since
        return least, None


def _meet(looks: Collection[tuple[int, int]]) -> tuple[int, int]:
    return max(low for low, _ in looks), min(high for _, high in looks)
