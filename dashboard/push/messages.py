"""Every shape that a browser can get, declared once, closed. ``tests/diffs/*.json`` hold Python and JavaScript to it.

A stream begins with a snapshot; each step after it has the next ``seq``. A gap, or a message that is not understood,
means: ask again with the last ``seq`` that was applied; the answer is the missing steps, or a snapshot.

    GroupSnapshot     a group, whole; also a step, when its queues are others: their numbers change then
    GroupDiff         what changed of it
    OverviewSnapshot  all groups of a cluster, a row each
    OverviewDiff      rows that changed, and that are gone
    Pulse             not a step: when members were last looked at, and the ``seq`` that is the newest
"""

from __future__ import annotations

import json
import zlib
from dataclasses import dataclass
from typing import Final, Literal

from dashboard.push.runs import Runs
from dashboard.push.shapes import BadMessage, from_json, to_json

VERSION: Final = 1
DIFF_VERSION: Final = 2  # of a group's diffs: those of 1 named members by their ids
Version = Literal[1]
DiffVersion = Literal[2]
Standing = Literal["watched", "aside", "gone"]
DEFLATE_ABOVE = 1_000  # bytes; shorter ones do not gain
LONGEST = 64 * 2**20  # inflated: a million queues are a tenth of it


@dataclass(frozen=True, slots=True)
class Queues:
    """Queues of one topic on one broker, as runs of their ids. Numbered through, in the order of the list."""

    topic: str
    broker: str
    ids: Runs


@dataclass(frozen=True, slots=True)
class Cell:
    """One member: what it is, which queue numbers it should have and has; ``held`` null is unknown.

    With ``registrations`` above 1 it may hold more: only one of the processes that have its id is asked.
    """

    client: str
    registrations: int
    language: str
    version: str
    strategy: str
    is_orderly: bool | None
    since: int
    since_low: int | None
    missing: str | None
    target: Runs
    held: Runs | None

    @property
    def is_partial(self) -> bool:
        """Whether it told what it holds, but perhaps not all: of several connections of one id only one is asked."""
        return self.registrations > 1 and self.held is not None


@dataclass(frozen=True, slots=True)
class Stray:
    """A queue that a member holds though no route has it."""

    client: str
    topic: str
    broker: str
    queue_id: int


@dataclass(frozen=True, slots=True)
class RoundCell:
    """The latest round; ``evidence`` are the first of its causes, in words.

    ``unknown_members`` are the first of those of which it is not known all that they hold: all of them are the members
    whose ``held`` is null, and those with several ``registrations``.
    It began between ``opened_low`` (null: unknown) and ``opened_at``. ``waits_for`` says why it cannot be said whether
    it is over; empty where it can. ``moves`` (null: unknown) are queues that are to move; once it is over, that did.
    """

    number: int
    state: str
    cause: str
    opened_at: int
    closed_at: int | None
    wave: int
    moves: int | None
    unsettled: int | None
    evidence: tuple[str, ...]
    unknown_members: tuple[str, ...]
    opened_low: int | None = None
    waits_for: str = ""


@dataclass(frozen=True, slots=True)
class Fault:
    """A finding; ``confirmed_at`` null is suspected. ``is_explained``: a round that is young explains it, for now."""

    kind: str
    subject: str
    sentence: str
    proof: tuple[str, ...]
    suspected_at: int
    confirmed_at: int | None
    ends_at: int | None
    is_explained: bool = False


@dataclass(frozen=True, slots=True)
class Head:
    """What there is once for a group. ``strategy`` empty is unknown; null figures are unknown, never zero.

    ``untold`` are the brokers that did not tell who is a member; there may be others then. ``perhaps_twice`` are the
    queues that two said to hold, by answers too far apart to tell whether they did at one time: not among ``doubles``.
    ``disputed`` are those that not every NameServer has in its route: perhaps they are not there, and one
    that nobody holds is not among ``orphans``, which are at least so many then. ``popping`` members say that they take
    messages by POP, from queues that nobody owns.
    """

    cluster: str
    group: str
    model: str | None
    strategy: str
    is_strategy_assumed: bool
    is_target_known: bool
    is_converged: bool | None
    orphans: int | None
    doubles: int | None
    fault_count: int
    round: RoundCell | None
    are_members_known: bool = True
    untold: tuple[str, ...] = ()
    perhaps_twice: Runs = ()
    disputed: Runs = ()
    popping: int = 0


@dataclass(frozen=True, slots=True)
class GroupState:
    """A group as it is now; members in the order in which RocketMQ's clients sort them."""

    head: Head
    queues: tuple[Queues, ...]
    members: tuple[Cell, ...]
    strays: tuple[Stray, ...]
    faults: tuple[Fault, ...]


@dataclass(frozen=True, slots=True)
class Owners:
    """How queues change owners, in one of two ways; the other one is empty. ``shifts.py`` writes and reads both.

    One by one: ``queues`` are, for each of ``members`` (by number, after the change), those that it has and had not, or
    had and has not. Or runs: after each of ``gaps`` queues the next of ``lengths`` ones go to the owner who stands
    the next of ``shifts`` places further on among everybody: places from 1 up, 0 is nobody.
    """

    members: tuple[int, ...]
    queues: tuple[Runs, ...]
    gaps: tuple[int, ...]
    lengths: tuple[int, ...]
    shifts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class GroupSnapshot:
    """A group, whole."""

    v: Version
    kind: Literal["group.snapshot"]
    stream: str
    seq: int
    at: int
    state: GroupState


@dataclass(frozen=True, slots=True)
class GroupDiff:
    """What changed of a group: ``head``, ``strays`` and ``faults`` whole where they did, members one by one.

    ``gone`` first, by number before the change; then ``put`` (new ones, and changed ones, whole but for their queues),
    each to its number after the change, ascending. Whoever was a member before has its queues of before, a new one
    none, and who is not known to hold any, or was not, holds none; then ``target`` and ``held`` say who has others.
    """

    v: DiffVersion
    kind: Literal["group.diff"]
    stream: str
    seq: int
    at: int
    head: Head | None
    gone: Runs
    put: tuple[Cell, ...]
    places: tuple[int, ...]
    target: Owners | None
    held: Owners | None
    strays: tuple[Stray, ...] | None
    faults: tuple[Fault, ...] | None


@dataclass(frozen=True, slots=True)
class Row:
    """A group in the overview; null is unknown. ``untold`` brokers did not tell who is a member.

    ``is_behind``: something changed that no rebalance has seen yet, so that nobody knows whether held equals target.
    ``perhaps_twice`` queues may have two owners, and are not among ``doubles``. ``unasked``: of the ``silent`` members,
    those that nobody has asked yet; ``proxied``: those that seem to come through a proxy, where they own no queues.
    ``disputed`` queues are not in every NameServer's route: they are among ``queues``, and never among ``orphans``;
    ``perhaps_orphans`` are those of them that nobody is known to hold: with any, ``orphans`` are at least so many.
    ``popping`` members say that they take messages by POP, from queues that nobody owns. ``partial`` ones, none of them
    ``silent``, have several connections under their id, of which only one is asked: they may hold more.
    """

    id: int
    group: str
    model: str | None
    members: int | None
    queues: int | None
    silent: int | None
    orphans: int | None
    doubles: int | None
    is_converged: bool | None
    strategy: str
    round: int | None
    round_opened_at: int | None
    round_closed_at: int | None
    round_cause: str | None
    round_moves: int | None
    rebalanced_at: int | None
    untold: int = 0
    is_behind: bool = False
    perhaps_twice: int = 0
    unasked: int = 0
    proxied: int = 0
    disputed: int = 0
    perhaps_orphans: int = 0
    popping: int = 0
    partial: int = 0


@dataclass(frozen=True, slots=True)
class OverviewSnapshot:
    """All groups of a cluster. Rows may be newer than ``seq``: a row that comes again is put again."""

    v: Version
    kind: Literal["overview.snapshot"]
    stream: str
    seq: int
    at: int
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class OverviewDiff:
    """Rows that are new or changed, whole; and the ids of those that are gone."""

    v: Version
    kind: Literal["overview.diff"]
    stream: str
    seq: int
    at: int
    put: tuple[Row, ...]
    gone: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Seen:
    """When a member last told what it holds; null is never."""

    client: str
    at: int | None


@dataclass(frozen=True, slots=True)
class Pulse:
    """When members were last looked at: no step, not kept. ``seq`` is the newest step, for whoever missed it.

    ``watched_at`` is when anything of the cluster answered its watcher last, up to which all is stored that it told;
    null is never. ``behind`` are the groups of the stream of which something changed that no rebalance has seen yet, by
    number; null says nothing about them. ``standing`` says whether somebody is to watch what the stream shows, or its
    cluster is put aside, or it is there no more; null says nothing about it.
    """

    v: Version
    kind: Literal["pulse"]
    stream: str
    seq: int
    at: int
    watched_at: int | None
    seen: tuple[Seen, ...]
    behind: tuple[int, ...] | None = None
    standing: Standing | None = None


Message = GroupSnapshot | GroupDiff | OverviewSnapshot | OverviewDiff | Pulse
KINDS: dict[str, type[Message]] = {
    "group.snapshot": GroupSnapshot,
    "group.diff": GroupDiff,
    "overview.snapshot": OverviewSnapshot,
    "overview.diff": OverviewDiff,
    "pulse": Pulse,
}


def encode(message: Message) -> bytes:
    """Write a message as a browser gets it: JSON, deflated (zlib) where that is worth it.

    JSON begins with ``{``, which no zlib stream does. It is deflated once for all browsers, instead of by each
    socket.
    """
    plain = json.dumps(to_json(message), separators=(",", ":")).encode()
    return plain if len(plain) <= DEFLATE_ABOVE else zlib.compress(plain, level=6)


def decode(data: bytes) -> Message:
    """Read a message.

    Raises:
        BadMessage: it is none.
    """
    try:
        value = json.loads(data if data[:1] == b"{" else _inflate(data))
    except (ValueError, zlib.error) as error:
        raise BadMessage(f"neither JSON nor deflated JSON: {error}") from None
    kind = value.get("kind") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in KINDS:
        raise BadMessage(f"kind is {kind!r:.60}; it needs one of {', '.join(KINDS)}")
    return from_json(KINDS[kind], value)


def _inflate(data: bytes) -> bytes:
    stream = zlib.decompressobj()
    plain = stream.decompress(data, LONGEST)
    if not stream.eof:
        raise BadMessage(f"cut, or more than {LONGEST} bytes when inflated")
    return plain
