"""What truly happened in one group of a simulated cluster: holds, moves and rounds, told by the simulator's facts."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations

from rebalance_engine.events import (
    Departure,
    LockRefused,
    PresenceGone,
    PresenceSeen,
    PullRefused,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.pipeline.overheard import Route, Saying, Told

ANSWERED_MS = 100  # a pull that is refused is refused soon
TOLD_AT_ONCE_MS = 3_000  # a cause that comes later than this after the last one is of another round


@dataclass
class TrueHold:
    """A client truly held a queue: when, when it first pulled it, and when its listener got which message."""

    client: str
    from_ms: int
    until_ms: int | None = None
    pulls: list[int] = field(default_factory=list)
    is_refused: bool = False
    got: dict[int, int] = field(default_factory=dict)
    waited_since_ms: int | None = None


@dataclass
class Move:
    """A queue's true way from one member to another."""

    giver: TrueHold
    taker: TrueHold

    @property
    def pause_ms(self) -> int | None:
        """How long nobody pulled; None where the taker never did."""
        assert self.giver.until_ms is not None
        return max(0, self.taker.pulls[0] - self.giver.until_ms) if self.taker.pulls else None

    @property
    def twice(self) -> int:
        """How many messages both got."""
        return len(self.giver.got.keys() & self.taker.got.keys())

    @property
    def silence_ms(self) -> int | None:
        """From the last message that the giver got to the taker's first; None where one of them got none."""
        if not self.giver.got or not self.taker.got:
            return None
        return max(0, min(self.taker.got.values()) - max(self.giver.got.values()))


class Truth:
    """What truly happened in one group, told by the simulator's own facts."""

    def __init__(self, told: list[Told], group: str, *, tells_routes: bool) -> None:
        self.holds: dict[MessageQueue, list[TrueHold]] = defaultdict(list)
        self.waiting: dict[tuple[str, MessageQueue], int] = {}
        causes = [one for one in map(_cause, told) if one and one[2] in (group, None)]
        self.causes = [one for one in causes if one[2] or tells_routes]
        self.end_ms = told[-1].at
        for one in told:
            if getattr(one, "group", None) == group:
                self._learn(one)

    def _learn(self, one: Told) -> None:
        if isinstance(one, QueueTaken):
            since = self.waiting.pop((one.client, one.queue), None)
            self.holds[one.queue].append(TrueHold(one.client, one.at, waited_since_ms=since))
        elif isinstance(one, LockRefused):
            self.waiting.setdefault((one.client, one.queue), one.at)
        elif isinstance(one, QueueDropped):
            self._held(one).until_ms = one.at
        elif isinstance(one, QueuePulled):
            self._held(one).pulls.append(one.at)
        elif isinstance(one, PullRefused):
            hold = self._held(one)
            if len(hold.pulls) == 1 and one.at - hold.pulls[0] <= ANSWERED_MS:
                hold.pulls.clear()
                hold.is_refused = True
        elif isinstance(one, Saying) and one.what == "given":
            self._held(one).got |= dict.fromkeys(one.offsets, one.at)

    def _held(self, one: QueueDropped | QueuePulled | PullRefused | Saying) -> TrueHold:
        return next(hold for hold in reversed(self.holds[one.queue]) if hold.client == one.client)

    @cached_property
    def moves(self) -> dict[MessageQueue, list[Move]]:
        """Give the moves of each queue that had any, in order."""
        found: dict[MessageQueue, list[Move]] = {}
        for queue, those in self.holds.items():
            owner = those[0]
            for hold in those[1:]:
                if hold.client != owner.client:
                    found.setdefault(queue, []).append(Move(owner, hold))
                owner = hold
        return found

    def owners_at(self, end: int) -> dict[MessageQueue, str]:
        """Name the one owner of each queue that has one, when a time ends."""
        owners = {
            queue: [one.client for one in those if one.from_ms < end and (one.until_ms is None or one.until_ms >= end)]
            for queue, those in self.holds.items()
        }
        assert all(len(those) < 2 for those in owners.values())
        return {queue: those[0] for queue, those in owners.items() if those}

    @cached_property
    def openings(self) -> list[tuple[int, list[str], list[str]]]:
        """Say when each round began, why, and who came or went; routes that moved nothing are no round."""
        found: list[tuple[int, list[str], list[str]]] = []
        last, seen = 0, set[tuple[str, str]]()
        for at, cause, _, client in sorted(self.causes, key=lambda one: one[0]):
            if client and (cause, client) in seen:  # of two brokers
                continue
            seen.add((cause, client))
            if not found or at - last > TOLD_AT_ONCE_MS:
                found.append((at, [], []))
            found[-1][1].append(cause)
            found[-1][2].extend([client] if client else [])
            last = at
        return [one for one, counted in zip(found, self._figures(found), strict=True) if counted[0] or one[2]]

    def figures(self) -> list[tuple[int, int, int]]:
        """Count moves, handoffs and those above the fewest of each round."""
        return self._figures(self.openings)

    def _figures(self, openings: list[tuple[int, list[str], list[str]]]) -> list[tuple[int, int, int]]:
        bounds = [at // 1000 * 1000 if who else at for at, _, who in openings]  # brokers tell seconds
        figures, before = [], self.owners_at(bounds[0])
        for end in (*bounds[1:], self.end_ms + 1):
            after = self.owners_at(end)
            both = [queue for queue in before.keys() & after.keys() if before[queue] and after[queue]]
            moved = [queue for queue in before.keys() | after.keys() if before.get(queue) != after.get(queue)]
            handed = [queue for queue in both if before[queue] != after[queue]]
            figures.append((len(moved), len(handed), max(0, len(handed) - fewest(before, after, both))))
            before = after
        return figures


def _cause(one: Told) -> tuple[int, str, str | None, str] | None:
    """Give when something made groups divide anew, what, of which group (None: of all), and whose coming or going."""
    if isinstance(one, PresenceSeen):
        return one.at, "member joined", one.group, one.client
    if isinstance(one, PresenceGone):
        causes = {Departure.UNREGISTERED: "member left", Departure.CONNECTION_CLOSED: "connection closed"}
        return one.at, causes[one.departure], one.group, one.client
    if isinstance(one, Route) and one.before is not None:
        return one.at, "route changed", None, ""
    return None


def fewest(before: dict[MessageQueue, str], after: dict[MessageQueue, str], both: list[MessageQueue]) -> int:
    """Try every way to give the loads that members have after to them: how few queues change hands at least."""
    members, least = sorted({*after.values()}), 0
    for topic in {queue.topic for queue in both}:
        had = Counter(before[queue] for queue in both if queue.topic == topic)
        gets = Counter(owner for queue, owner in after.items() if queue.topic == topic)
        loads = [gets[member] for member in members]
        ways = permutations(loads)
        kept = max(sum(min(had[member], load) for member, load in zip(members, way, strict=True)) for way in ways)
        least += had.total() - kept
    return least
