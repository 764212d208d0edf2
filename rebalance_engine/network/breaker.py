"""Who does not answer is not asked again for a while, and ever longer: clients (307), and addresses without a listener.

Times are seconds of any clock that does not go back.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field
from itertools import takewhile


@dataclass(slots=True)
class _Trouble:
    times: int
    since: float
    until: float


@dataclass(slots=True)
class Breaker:
    """A pause for each name that fails: the first, doubled by each further failure, up to the longest.

    What was asked before the last failure was noted is no further one: a connection that several wait for fails once.
    Once its pause is over a name may be asked again; only an answer ends its trouble, or that whoever has the name has
    come anew. Names that have been quiet for ten of the longest pauses are forgotten.
    """

    first_s: float
    longest_s: float
    _troubles: dict[Hashable, _Trouble] = field(default_factory=dict)
    _renewed: dict[Hashable, float] = field(default_factory=dict)

    def pause_s(self, name: Hashable, at: float) -> float:
        """Say for how many seconds it is not to be asked; 0 if it may be."""
        trouble = self._troubles.get(name)
        return 0.0 if trouble is None else max(0.0, trouble.until - at)

    def is_suspect(self, name: Hashable) -> bool:
        """Whether it did not answer when it was last asked."""
        return name in self._troubles

    def resting(self, at: float) -> int:
        """Count who is not to be asked now."""
        return sum(trouble.until > at for trouble in self._troubles.values())

    def failed(self, name: Hashable, at: float, *, asked_at: float | None = None) -> float:
        """Note that it did not answer; give what is left of its pause: none where it came anew since it was asked."""
        self._forget_old(at)
        if asked_at is not None and asked_at <= self._renewed.get(name, asked_at - 1):
            return 0.0
        known = self._troubles.get(name)
        if known is not None and asked_at is not None and asked_at <= known.since:
            return max(0.0, known.until - at)
        times = 0 if known is None else known.times
        pause = min(self.first_s * 2.0 ** min(times, 60), self.longest_s)
        self._troubles[name] = _Trouble(times + 1, at, at + pause)
        return pause

    def answered(self, name: Hashable) -> None:
        """Note that it did."""
        self._troubles.pop(name, None)

    def renewed(self, name: Hashable, at: float) -> bool:
        """Note that it has come anew; tell whether it did not answer before."""
        self._forget_old(at)
        self._renewed.pop(name, None)
        self._renewed[name] = at
        return self._troubles.pop(name, None) is not None

    def _forget_old(self, at: float) -> None:
        old = at - 10 * self.longest_s
        for name in list(takewhile(lambda each: self._renewed[each] < old, self._renewed)):  # in order of time
            del self._renewed[name]
        for name in [name for name, trouble in self._troubles.items() if trouble.until < old]:
            del self._troubles[name]
