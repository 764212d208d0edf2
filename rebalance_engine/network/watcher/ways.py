"""Through which broker a member is asked what it holds: by turns, and through another one before it counts as silent.

A broker that answers says of a client that it does not. A question that got no answer at all may have hung at the
broker: the next that lists the member is asked, and the member is unknown once none is left.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from itertools import count

from rebalance_engine.network.watcher.agenda import Question
from rebalance_engine.network.watcher.memory import Memory


class Ways:
    """The ways to members; none of them is asked here."""

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._turns = count()
        self._tried: dict[Question, set[str]] = {}  # in vain, since the last answer

    def choose(self, question: Question) -> str:
        """Give a broker: one that lists the member, answers and was not tried in vain, if there is one; '' is none."""
        places = self._memory.brokers_of(question.group, question.name)
        best: Sequence[str] = self._hopeful(question, places) or places
        return best[next(self._turns) % len(best)] if best else ""

    def failed(self, question: Question, broker: str) -> bool:
        """Note that no answer came through a broker; tell whether another one may bring it."""
        tried = self._tried.setdefault(question, set())
        tried.add(broker)
        is_listed = self._memory.is_listed(question.group, question.name)
        if is_listed and self._hopeful(question, self._memory.brokers_of(question.group, question.name)):
            return True
        del self._tried[question]
        return False

    def goes_on(self, question: Question) -> bool:
        """Whether a question was tried in vain, and another broker may bring the answer."""
        return question in self._tried

    def ended(self, question: Question) -> None:
        """Note that it was answered, however."""
        self._tried.pop(question, None)

    def keep(self, asked: Collection[Question]) -> None:
        """Forget what is asked no more."""
        self._tried = {question: tried for question, tried in self._tried.items() if question in asked}

    def _hopeful(self, question: Question, places: Iterable[str]) -> list[str]:
        """Give the brokers that answer, and were not tried in vain."""
        masters, silences, tried = self._memory.masters, self._memory.silences, self._tried.get(question, ())
        answering = [place for place in places if place in masters and not silences.is_silent(masters[place])]
        return [place for place in answering if place not in tried]
