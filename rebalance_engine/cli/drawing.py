"""The map of a group for a terminal: a letter for each member, a cell for each queue, held above target.

In a cell ``-`` is a queue that nobody holds, ``#`` one that several hold, ``?`` one of which it is unknown.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from string import ascii_letters, ascii_uppercase

from rebalance_engine.cli.judging import Judgement
from rebalance_engine.cli.terminal import Column, Paper, count, cut, safe, seconds, table, wrapped
from rebalance_engine.findings import spell
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.answers import version_of, why_missing
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.looking import GroupLook, MemberLook

NOBODY, SEVERAL, UNKNOWN, SAME = "-", "#", "?", "."
HUES = ("cyan", "green", "magenta", "blue", "yellow")
MOST_ROWS = 20
NOT_HELD = "Not held as the target says"
LABEL = 16
LONGEST = 300  # of a server's words, which may be a whole exception; ``--json`` has them all


@dataclass(frozen=True, eq=False)
class Drawing:
    """One look and what it comes to, on some paper. ``confirmed`` is by finding (kind, subject)."""

    look: GroupLook
    judgement: Judgement
    paper: Paper
    confirmed: Mapping[tuple[str, str], bool]

    def lines(self) -> Iterator[str]:
        """Draw it."""
        yield from self._head()
        if self.look.members:
            yield ""
            yield from self._members()
        if len(self.look.view.queues) and not self.judgement.owns_nothing:
            yield from self._map()
        yield from self._unlike()
        yield from self._rows("Assigned by members themselves, without a subscription", list(self._assigned()))
        yield from self._findings()
        yield from self._rows("Servers that do not agree", [safe(line) for line in self.look.disagreements()])
        yield from self._rows("Missing", [_missing(one) for one in self.look.troubles()])

    # ---- head and members ----

    def _head(self) -> Iterator[str]:
        look, view, ink = self.look, self.look.view, self.paper.ink
        where = f" on {safe(look.cluster)}" if look.cluster else ""
        at = time.strftime("%H:%M:%S UTC", time.gmtime(look.ended_at / 1000))
        yield f"{ink(safe(look.group, 40), 'bold')}{where}, {at}, looked for {seconds(look.ended_at - look.began_at)}"
        if not look.members:
            yield from self._state()
            return
        waiting = self._waiting(None)
        yield (
            f"{view.model.value.lower()}, {self._strategy()}, {count(len(view.clients.distinct), 'member')}, "
            f"{count(len(view.queues), 'queue')} of {count(len(view.queues.topics), 'topic')}, {waiting} waiting"
        )
        pending = self.judgement.pending
        yield from self._state() if pending is None else wrapped(pending.sentence, self.paper.width)

    def _strategy(self) -> str:
        by = self.judgement.by
        if self.judgement.owns_nothing:
            return "nothing to divide"
        if by is None:
            return self.paper.ink("several strategies", "red")
        return f"{safe(by)} assumed (nobody tells)" if self.judgement.is_assumed else safe(by)

    def _state(self) -> Iterator[str]:
        view, ink, unknown = self.look.view, self.paper.ink, self.judgement.unknown
        if self.look.members and view.model is MessageModel.BROADCASTING:
            yield "Every member has every queue."
        elif unknown:
            yield from (ink(line, *unknown.hues) for line in wrapped(safe(unknown.sentence), self.paper.width))
        elif self.judgement.converged:
            yield ink("Held as the target says.", "green")
        else:
            assert view.held is not None
            orphans, doubles = count(len(view.held.unowned()), "queue"), len(view.held.owned_twice())
            says = "Each member holds what its strategy gives it" if self.judgement.is_each_as_wanted else NOT_HELD
            yield ink(f"{says}: {orphans} without a holder, {doubles} held twice.", "red")

    def _members(self) -> Iterator[str]:
        outcome, view = self.judgement.outcome, self.look.view
        loads = None if outcome is None else outcome.target.loads().tolist()
        rows = []
        for symbol, member in zip(self._symbols(), self.look.members, strict=True):
            number = view.clients.number(member.client_id)
            target = UNKNOWN if loads is None or number is None else str(loads[number])
            if member.assigns_itself or member.is_proxied:
                target = NOBODY  # says what it has, or owns nothing
            held = UNKNOWN if member.held is None else f"{len(member.held)}{_more(member)}"
            held = NOBODY if member.is_proxied else held
            times = f" ({member.registrations} connections)" if member.registrations > 1 else ""
            name = safe(member.client_id, 120) + times
            rows.append([symbol, name, _program(member), held, target, self._waiting(member), self._answered(member)])
        columns = [
            Column(""),
            Column("MEMBER", shrinks=True),
            Column("CLIENT"),
            Column("HELD", is_number=True),
            Column("TARGET", is_number=True),
            Column("WAITING", is_number=True),
            Column("ANSWERED", shrinks=True),
        ]
        yield from table(columns, rows, self.paper)

    def _answered(self, member: MemberLook) -> str:
        running = member.running
        if member.is_proxied:
            return "no: through a proxy"
        if running.value is None:
            return "no" if running.trouble is None else f"no: {why_missing(running.trouble).value}"  # more stands below
        return f"{seconds(self.look.ended_at - running.by.at)} ago"

    def _waiting(self, member: MemberLook | None) -> str:
        """Add up what waits for a member, or for all; what is known at least, where something is not."""
        queues = self.look.lag if member is None else member.held
        if queues is None:
            return UNKNOWN
        lags = [self.look.lag.get(queue) for queue in queues]
        known = [lag for lag in lags if lag is not None]
        more = "" if member is None else _more(member)
        if not known:
            return UNKNOWN if lags else f"0{more}"
        return f"{sum(known):,}" + ("+?" if len(known) < len(lags) else more)

    # ---- the map ----

    def _symbols(self) -> list[str]:
        members = len(self.look.members)
        if members <= len(ascii_letters):
            return list((ascii_uppercase + ascii_letters[:26])[:members])
        width = len(str(members))
        return [str(number + 1).rjust(width) for number in range(members)]

    def _map(self) -> Iterator[str]:
        symbols = dict(zip((member.client_id for member in self.look.members), self._symbols(), strict=True))
        cells = [self._cell(number, symbols) for number in range(len(self.look.view.queues))]
        numbered = list(zip(self.look.view.queues, cells, strict=True))
        for topic, of_topic in groupby(numbered, key=lambda pair: pair[0].topic):
            rows = list(of_topic)
            yield ""
            yield f"{self.paper.ink(safe(topic, self.paper.width - 20), 'bold')}  {count(len(rows), 'queue')}"
            for broker, of_broker in groupby(rows, key=lambda pair: pair[0].broker):
                yield from self._row(broker, list(of_broker))

    def _row(self, broker: str, row: list[tuple[MessageQueue, tuple[str, str]]]) -> Iterator[str]:
        wide = max(len(held) for _, (held, _) in row)
        fits = max(1, (self.paper.width - LABEL - 8) // (wide + 1))
        fits -= fits % 8 if fits >= 8 else 0
        for start in range(0, len(row), fits):
            part = row[start : start + fits]
            name = cut(safe(broker), LABEL - 2) if not start else ""
            first = str(part[0][0].queue_id)
            held = " ".join(self._ink(cell[0].rjust(wide)) for _, cell in part)
            yield f"  {name:<{LABEL - 2}}{first:>5}  {held}"
            if any(target != SAME for _, (_, target) in part):
                below = " ".join(cell[1].rjust(wide) for _, cell in part)
                yield self.paper.ink(f"  {'target':>{LABEL - 2 + 5}}  {below}", "yellow")

    def _cell(self, number: int, symbols: Mapping[str, str]) -> tuple[str, str]:
        """Give what stands for a queue in the held line, and in the target line below it."""
        held, target = self._owners(number)
        if held is None:
            above = UNKNOWN
        elif not held:
            above = NOBODY
        elif len(held) > 1:
            above = "*" if self.look.view.model is MessageModel.BROADCASTING else SEVERAL
        else:
            above = symbols.get(held[0], UNKNOWN)
        if target is None or held is None or held == target:
            return above, SAME
        return above, symbols.get(target[0], UNKNOWN) if target else NOBODY

    def _owners(self, number: int) -> tuple[tuple[str, ...] | None, tuple[str, ...] | None]:
        view, outcome = self.look.view, self.judgement.outcome
        held = None if view.held is None else view.held.owners_of(number)
        if held == () and not view.everybody_answered:
            held = None
        return held, None if outcome is None else outcome.target.owners_of(number)

    def _ink(self, cell: str) -> str:
        symbol = cell.strip()
        if symbol == NOBODY and self.judgement.pending is not None:
            return cell
        if symbol in {NOBODY, SEVERAL} and self.look.assigns_itself:
            return cell  # as they like it
        if symbol in {NOBODY, SEVERAL}:
            return self.paper.ink(cell, "red", "bold")
        if symbol == UNKNOWN:
            return self.paper.ink(cell, "yellow")
        place = ascii_letters.find(symbol.lower()) if len(symbol) == 1 else int(symbol) if symbol.isdigit() else 0
        return self.paper.ink(cell, HUES[place % len(HUES)])

    # ---- below the map ----

    def _unlike(self) -> Iterator[str]:
        pending, rows = self.judgement.pending, list(self._differences())
        if pending is None:
            yield from self._rows("Not as the target says", rows)
            yield from wrapped(safe(self.judgement.doubt), self.paper.width) if self.judgement.doubt else ()
            return
        yield from self._rows("Pending", rows)
        yield from wrapped(safe(pending.why), self.paper.width)

    def _differences(self) -> Iterator[str]:
        for number, queue in enumerate(self.look.view.queues):
            held, target = self._owners(number)
            if held is None or target is None or held == target:
                continue
            yield f"{safe(spell(queue))}: held by {_names(held)}, target {_names(target)}"
        for client_id, queue in self.look.view.strays:
            if client_id not in self._assigning():
                yield f"{safe(spell(queue))}: held by {safe(client_id)}, and in no route"

    def _assigning(self) -> frozenset[str]:
        return frozenset(member.client_id for member in self.look.members if member.assigns_itself)

    def _assigned(self) -> Iterator[str]:
        """Give what members took without a subscription beside others who have one: its routes are not asked for."""
        for client_id, queue in self.look.view.strays:
            if client_id in self._assigning():
                yield f"{safe(spell(queue))}: held by {safe(client_id)}"

    def _findings(self) -> Iterator[str]:
        rows = []
        for finding in self.judgement.findings:
            sure = "confirmed" if self.confirmed.get((finding.kind.value, finding.subject)) else "suspected"
            rows.append(f"{finding.kind.value} ({sure}): {safe(finding.sentence)}")
        yield from self._rows("Findings", rows)

    def _rows(self, title: str, rows: list[str]) -> Iterator[str]:
        if not rows:
            return
        yield ""
        yield self.paper.ink(f"{title}: {len(rows):,}", "bold")
        for row in rows[:MOST_ROWS]:
            first, *rest = wrapped(row, self.paper.width - 4)
            yield f"  {first}"
            yield from (f"    {line}" for line in rest)
        if len(rows) > MOST_ROWS:
            yield f"  and {len(rows) - MOST_ROWS:,} more"


def _program(member: MemberLook) -> str:
    one = member.first
    if one is None:
        return UNKNOWN
    return f"{one.language.name} {version_of(one.client_id, one.version) or ''}".rstrip()


def _more(member: MemberLook) -> str:
    """Say that there may be more: the further connections of one id are not asked."""
    return "+?" if member.registrations > 1 else ""


def _missing(heard: Heard[object]) -> str:
    """Say what did not come, and of whom; the table above says of a member only that it did not answer."""
    client, why = heard.by.client, safe(heard.why, LONGEST)
    return why if client is None or client in heard.why else f"{safe(client, 120)}: {why}"


def _names(owners: tuple[str, ...]) -> str:
    return ", ".join(safe(owner, 60) for owner in owners) or "nobody"
