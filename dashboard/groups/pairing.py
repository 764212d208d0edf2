"""Which drop of a queue and which take of it belong together: the walk through one queue's spans of holding.

Spans may nest, and who says nothing any more stays an owner of whom nobody knows: so drops and takes are matched in
their order, and nobody who is mute stands between two who told what they did.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum

from rebalance_engine.model import MessageQueue


@dataclass(frozen=True, slots=True)
class Instant:
    """When something happened: ``at``, within ``low`` and ``high``; None is unbounded."""

    at: int
    low: int | None
    high: int | None


@dataclass(frozen=True, slots=True)
class Span:
    """A member had a queue from ``since`` until ``until``; None: has it still, and said so last at ``told_at``.

    ``silences``: when it said nothing, and then again. ``back_low``: as ``bands.Bounded`` has it.
    """

    queue: MessageQueue
    client: str
    since: Instant
    until: Instant | None
    first_pull_at: int | None = None
    told_at: int | None = None
    silences: Sequence[tuple[int, int]] = ()
    back_low: int | None = None

    @property
    def certain_until(self) -> int | None:
        """Until when it had it for certain; None: to this day."""
        if self.until is None:
            return self.told_at
        return self.since.at if self.until.low is None else self.until.low


class Way(Enum):
    """How a queue came from one to the other.

    ``BESIDE``: the other took it and let it go again, and the one had it all the while, or was seen to have taken it
    by the same look. ``KEPT``: the one let it go, and the other had it before, and still.
    """

    HANDED = "handed over"
    BESIDE = "taken beside its owner, and let go again"
    KEPT = "let go beside its owner"


Pair = tuple[Span | None, Span | None, Way]
TAKE = 1  # of what one look shows, a drop comes first; but nobody drops what he did not take


def pairs(spans: Sequence[Span], since: int, before: int | None) -> Iterator[Pair]:
    """Say which takes and drops of one queue belong together; what has no other half is alone.

    Args:
        spans: of one queue.
        since: what happened earlier is not told.
        before: nor what happened then or later; None: all of it is.
    """
    walk = _Walk([span for span in spans if span.since.at < since and (span.until is None or span.until.at >= since)])
    for at, kind, span in _events(spans):
        if at >= since and (before is None or at < before):
            yield from walk.take(span) if kind == TAKE else walk.drop(span)
    yield from walk.end()


@dataclass(frozen=True, slots=True)
class _Given:
    """A drop that only the mute saw: the queue is the next one's who takes it. ``is_beside``: its take was untold."""

    span: Span
    mute: Span
    is_beside: bool


@dataclass(slots=True)
class _Walk:
    """The way through one queue's takes and drops.

    Attributes:
        holders: who has the queue.
        dropped: who let it go when nobody else had it, and nobody took it since.
        given: who let it go when only those had it who had said nothing since before, and nobody took it since.
        taken: who took it while others had it, of whom none let go of it since.
        alone: who took it when nobody had it and nobody had let it go.
        missed: who was mute beside the one who gave, and is lost since.
    """

    holders: list[Span]
    dropped: list[Span] = field(default_factory=list)
    given: _Given | None = None
    taken: list[Span] = field(default_factory=list)
    alone: list[Span] = field(default_factory=list)
    missed: list[Span] = field(default_factory=list)

    def take(self, span: Span) -> Iterator[Pair]:
        if self.given is not None:
            yield from self._pass_on(self.given, span)
        elif self.dropped:
            yield self.dropped.pop(0), span, Way.HANDED
        else:
            (self.taken if self.holders else self.alone).append(span)
        self.holders.append(span)

    def drop(self, span: Span) -> Iterator[Pair]:
        self.holders = _without(self.holders, span)
        is_beside = any(other is span for other in self.taken)
        self.taken = _without(self.taken, span)
        others = [other for other in self.holders if other.client != span.client]
        telling = [other for other in others if not _is_mute(other, span)]
        keeper = min(telling or others, key=_began, default=None)
        heir = self._heir_of(span, others)
        if is_beside and any(other.since.at <= span.since.at and not _is_mute(other, span) for other in self.holders):
            yield (keeper, span, Way.BESIDE) if keeper is not None else (None, span, Way.HANDED)
        elif keeper is not None and not telling and heir is None:
            yield from self._give(_Given(span, keeper, is_beside))
        else:
            if is_beside:
                yield min(others, key=_began, default=None), span, Way.BESIDE if others else Way.HANDED
            yield from self._let_go(span, heir, keeper)

    def _heir_of(self, span: Span, others: Sequence[Span]) -> Span | None:
        """Give the first who took the queue beside its owners, and not before this one did.

        But what another one had after a mute one, and before the heir, is that other one's to give.
        """
        heir = next((other for other in self.taken if other.since.at >= span.since.at), None)
        if heir is None or any(_is_mute(span, other) and other.since.at < heir.since.at for other in others):
            return None
        return heir

    def _give(self, given: _Given) -> Iterator[Pair]:
        """Let what only the mute saw be the next one's; but who was mute beside who gave before gives nothing."""
        if self.given is not None and _is_mute(given.span, self.given.span):
            self.missed.append(given.span)
            yield _as_untaken(given)
            return
        if self.given is not None:
            yield _as_untaken(self.given)
        self.given = given

    def _let_go(self, span: Span, heir: Span | None, keeper: Span | None) -> Iterator[Pair]:
        if heir is not None:
            self.taken = _without(self.taken, heir)
            yield span, heir, Way.HANDED
        elif keeper is None:
            self.dropped.append(span)
        elif not all(_ends_with(other, span) for other in self.holders):  # together: the last one of them tells it
            yield span, keeper, Way.KEPT

    def _pass_on(self, given: _Given, heir: Span) -> Iterator[Pair]:
        """Tell who gave to the heir. Who was lost meanwhile gave to the giver at most: theirs is not the heir's."""
        self.given = None
        lost = next((span for span in self.dropped if _is_mute(span, given.span)), None)
        if lost is not None:
            self.dropped = _without(self.dropped, lost)
        if given.is_beside:
            had = [each for each in (*self.holders, *self.missed) if each.since.at < given.span.since.at]
            is_giver = lost is not None and not any(_is_mute(lost, other) for other in had)
            yield (lost, given.span, Way.HANDED) if is_giver else (given.mute, given.span, Way.BESIDE)
        yield given.span, heir, Way.HANDED

    def end(self) -> Iterator[Pair]:
        if self.given is not None:
            yield _as_untaken(self.given)
        yield from ((span, None, Way.HANDED) for span in self.dropped)
        yield from ((None, span, Way.HANDED) for span in (*self.taken, *self.alone))


def _as_untaken(given: _Given) -> Pair:
    """Tell of a drop that nobody followed: who is mute may have the queue still."""
    if given.is_beside:
        return given.mute, given.span, Way.BESIDE
    return given.span, given.mute, Way.KEPT


def _is_mute(other: Span, span: Span) -> bool:
    """Whether a holder told last before somebody took the queue, and was never heard of again."""
    is_unheard = other.until is None or other.until.high is None
    return is_unheard and other.certain_until is not None and other.certain_until < span.since.at


def _without(spans: Sequence[Span], span: Span) -> list[Span]:
    return [other for other in spans if other is not span]


def _events(spans: Sequence[Span]) -> list[tuple[int, int, Span]]:
    """Give takes and drops in their order: of one instant the drops first, but not of what was taken then.

    Of drops that were seen together the one comes last that may have been the last. Of takes that were seen together
    nobody knows which was the first: who had the queue longest comes first, so that no other one gave it to him.
    """
    ended = [
        (span.until.at, 2 * TAKE * (span.until.at == span.since.at), span.until.low or 0, span)
        for span in spans
        if span.until is not None
    ]
    drops = sorted(ended, key=lambda event: (event[:3], event[3].since.at, event[3].client))
    places = {id(span): place for place, (*_, span) in enumerate(drops)}
    began = [(span.since.at, TAKE, -places.get(id(span), len(drops)), span) for span in spans]
    events = sorted((*drops, *began), key=lambda event: (event[:2], event[2], event[3].since.at, event[3].client))
    return [(at, kind, span) for at, kind, _, span in events]


def _ends_with(other: Span, span: Span) -> bool:
    return other.until is not None and span.until is not None and other.until.at == span.until.at


def _began(span: Span) -> tuple[int, str]:
    return span.since.at, span.client
