"""One queue's way from a member to another in a round, as a value: what is known of it, and what is only possible."""

from __future__ import annotations

from dataclasses import dataclass

Within = tuple[int | None, int | None]


@dataclass(frozen=True, slots=True)
class Lane:
    """One queue's handoff in a round. Instants and durations are ms; None is unknown, or has not happened.

    ``is_unknown``: nobody said to have it, but somebody does not answer, and may have it. ``is_first_seen``: it was
    first seen with who has it; whose it was before is unknown. ``is_older``: the other one had taken it in an earlier
    round, and two had it since then. ``is_gone``: nobody took it until it left the route, which was seen ``gone_at``;
    None: before it came back. ``is_back``: it is in a route again. ``dropped`` and ``taken``: within which instants it
    was let go and taken.
    """

    topic: str
    broker: str
    queue_id: int
    from_client: str
    to_client: str
    dropped_at: int | None
    taken_at: int | None
    first_pull_at: int | None
    unowned: tuple[int | None, int | None]
    overlap: tuple[int | None, int | None]
    is_waiting: bool
    is_shared: bool = False
    pause: tuple[int | None, int | None] = (None, None)
    is_unknown: bool = False
    is_first_seen: bool = False
    is_older: bool = False
    is_gone: bool = False
    gone_at: int | None = None
    is_back: bool = False
    dropped: Within = (None, None)
    taken: Within = (None, None)

    @property
    def place(self) -> tuple[str, str, int]:
        """Its queue: topic, broker and number."""
        return self.topic, self.broker, self.queue_id

    @property
    def is_overlap(self) -> bool:
        """Whether two had it for certain."""
        return bool(self.overlap[0])

    @property
    def is_gap(self) -> bool:
        """Whether nobody had it for a while, for certain."""
        return bool(self.unowned[0])

    @property
    def is_perhaps_overlap(self) -> bool:
        """Whether two may have had it, or not."""
        is_possible = bool(self.overlap[1]) or self.overlap == (0, None)
        return not self.is_overlap and (self.is_shared or is_possible)

    @property
    def is_perhaps_gap(self) -> bool:
        """Whether nobody may have had it for a while, or not."""
        return not self.is_gap and not self.is_unknown and bool(self.unowned[1])

    @property
    def is_from_nobody(self) -> bool:
        """Whether somebody took it that nobody had, as far as everybody had told."""
        return not self.from_client and self.taken_at is not None and not self.is_first_seen

    @property
    def weight(self) -> tuple[int, int, int]:
        """What makes one lane worse than another: it lasts, it is known, the longest without owner or with two."""
        is_known = self.is_overlap or self.is_gap
        of = self.overlap if self.is_overlap else self.unowned if self.is_gap else (self.overlap[1], self.unowned[1])
        worst = (of[1] or of[0] or 0) if is_known else max(each or 0 for each in of)
        return (int(self.is_waiting or self.is_shared), int(is_known), worst)
