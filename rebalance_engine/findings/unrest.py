"""Groups that do not come to rest: change upon change, and members that come and go."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.events import Cause
from rebalance_engine.findings.finding import Finding, FindingKind, clock, first_rows
from rebalance_engine.group import GroupView

STORM_ROUNDS = 5  # of members, each of which began before the one before it had settled
REST_MS = 30_000  # members divide every 20 s, and are asked what they hold every 10 s
CALM_MS = 120_000  # after that a round that is open still is said not to converge, which is no storm
UNREST_MS = 600_000
COMINGS = 3
SHORT_LIFE_MS = 120_000
APART_MS = 3_000  # what happens within this time is one thing
LEAVING = frozenset({Cause.MEMBER_LEFT, Cause.HEARTBEAT_EXPIRED})
OF_MEMBERS = LEAVING | {Cause.MEMBER_JOINED, Cause.MANY_AT_ONCE}


@dataclass(frozen=True, slots=True)
class Change:
    """A member came or went at ``at``."""

    at: int
    cause: Cause
    client_id: str


@dataclass(frozen=True, slots=True)
class Restless:
    """One round of a chain in which each superseded the one before.

    ``moved_at``: when a queue was last taken or dropped in it; None: none is known to have been.
    """

    number: int
    opened_at: int
    cause: Cause
    moved_at: int | None = None

    @property
    def is_of_members(self) -> bool:
        """Whether it is members that came or went."""
        return self.cause in OF_MEMBERS

    @property
    def rests_since(self) -> int:
        """Since when nothing has changed in it."""
        return max(self.opened_at, self.moved_at or 0)


def storm(view: GroupView, chain: Sequence[Restless], now: int) -> Iterator[Finding]:
    """Find that members come and go so fast that their group does not settle.

    That a round is superseded does not say so: where no member takes what it should have, as one by-config list says
    and its program does not, no round ever closes, however long all queues have stayed where they are. So what counts
    is how members' changes follow each other, and what moves. Brokers that are started again are no storm.

    Args:
        chain: the rounds of the open wave, the open one last; empty where none is open.
    """
    run = _unsettled([each for each in chain if each.is_of_members])
    if len(run) < STORM_ROUNDS or (not view.silent and all(each.moved_at is None for each in run)):
        return
    first, last = run[0], run[-1]
    over_at = last.rests_since + CALM_MS
    if now > over_at:
        return
    sentence = (
        f"{len(run)} rounds in a row began before the one before them had settled, since {clock(first.opened_at)}:"
        " the group never comes to rest."
    )
    rows = (f"round {each.number} at {clock(each.opened_at)}: {each.cause.value}" for each in run)
    subject = f"from round {first.number}"
    yield Finding(FindingKind.STORM, view.group, subject, sentence, first_rows(rows), last.opened_at, over_at=over_at)


def _unsettled(rounds: Sequence[Restless]) -> list[Restless]:
    """Give the last rounds of which each began before the one before it had come to rest."""
    run: list[Restless] = []
    for each in rounds:
        if run and each.opened_at - min(run[-1].rests_since, each.opened_at) > REST_MS:
            run = []
        run.append(each)
    return run


def flapping(group: str, changes: Iterable[Change], now: int) -> Iterator[Finding]:
    """Find client ids that come back again and again, and hosts whose members live for a moment only.

    An id has its process's number and start time in it by default: a process that crashes and is started again has
    another one each time. What comes before the ``@`` stays.
    """
    lately = sorted((each for each in changes if now - each.at <= UNREST_MS), key=lambda each: each.at)
    by_client: dict[str, list[Change]] = {}
    for each in lately:
        by_client.setdefault(each.client_id, []).append(each)
    told = set[str]()
    for client, mine in sorted(by_client.items()):
        leavings = _leavings(mine)
        comings = [each for each in mine if each.cause is Cause.MEMBER_JOINED]
        if len(leavings) >= COMINGS and len(comings) >= COMINGS - 1:
            told.add(client)
            sentence = f"{client} left {len(leavings)} times since {clock(mine[0].at)}, and came back."
            yield _flaps(group, client, sentence, mine)
    yield from _hosts(group, {client: mine for client, mine in by_client.items() if client not in told})


def _hosts(group: str, by_client: Mapping[str, list[Change]]) -> Iterator[Finding]:
    short: dict[str, list[Change]] = {}
    for client, mine in sorted(by_client.items()):
        host, at, _ = client.partition("@")
        came = next((each for each in mine if each.cause is Cause.MEMBER_JOINED), None)
        went = next((each for each in mine if each.cause in LEAVING and came and each.at >= came.at), None)
        if at and came is not None and went is not None and went.at - came.at <= SHORT_LIFE_MS:
            short.setdefault(host, []).extend((came, went))
    for host, unsorted in sorted(short.items()):
        mine = sorted(unsorted, key=lambda each: each.at)
        ended = _apart([each.at for each in mine if each.cause in LEAVING])
        if len(ended) >= COMINGS:
            sentence = (
                f"{len(ended)} times since {clock(mine[0].at)} a member on {host} came and was gone again within"
                f" {SHORT_LIFE_MS // 1_000} s."
            )
            yield _flaps(group, host, sentence, mine)


def _flaps(group: str, subject: str, sentence: str, mine: Sequence[Change]) -> Finding:
    rows = (f"{each.client_id} {_verb(each.cause)} at {clock(each.at)}" for each in mine)
    last = mine[-1].at
    return Finding(
        FindingKind.FLAPPING, group, subject, sentence, first_rows(rows), proven_at=last, over_at=last + UNREST_MS
    )


def _verb(cause: Cause) -> str:
    return "joined" if cause is Cause.MEMBER_JOINED else "left"


def _leavings(mine: Sequence[Change]) -> list[int]:
    """Give when a client left; what is told twice within a moment is one leaving, unless it came back between."""
    kept: list[int] = []
    is_back = True
    for each in mine:
        if each.cause not in LEAVING:
            is_back = True
        elif is_back or each.at - kept[-1] > APART_MS:
            kept.append(each.at)
            is_back = False
    return kept


def _apart(times: Sequence[int]) -> list[int]:
    """Give the times that are more than a moment after the one before them."""
    kept: list[int] = []
    for at in sorted(times):
        if not kept or at - kept[-1] > APART_MS:
            kept.append(at)
    return kept
