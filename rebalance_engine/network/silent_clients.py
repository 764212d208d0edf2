"""Clients that do not answer through their brokers (307): how long each is left alone, and where.

Times are seconds of any clock that does not go back.
"""

from __future__ import annotations

from rebalance_engine.effects import Address, Failure
from rebalance_engine.network.asking import Outcome
from rebalance_engine.network.breaker import Breaker
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused

Name = tuple[str, str]  # group and client id


class SilentClients:
    """Who is not asked again for a while.

    A broker waits 10 s for a client, and then says that it did not answer: nobody asks that client. A broker that says
    nothing itself may be what hangs: the client is not asked through that one, and may answer through another.

    Args:
        first_s, longest_s: the first pause and the longest; see ``Breaker``.
    """

    def __init__(self, first_s: float, longest_s: float) -> None:
        self._pauses = (first_s, longest_s)
        self._silent = Breaker(first_s, longest_s)
        self._unheard: dict[Address, Breaker] = {}

    def resting(self, at: float) -> int:
        """Count those of whom a broker said that they do not answer, and who are left alone for now."""
        return self._silent.resting(at)

    def pause_s(self, name: Name, broker: Address, at: float) -> float:
        """Say for how many seconds a client is not to be asked through a broker; 0 if it may be."""
        return max(self._silent.pause_s(name, at), self._through(broker).pause_s(name, at))

    def is_suspect(self, name: Name, broker: Address) -> bool:
        """Whether nothing was heard of it when it was last asked."""
        return self._silent.is_suspect(name) or self._through(broker).is_suspect(name)

    def learn(self, name: Name, broker: Address, outcome: Outcome, *, asked_at: float, at: float) -> None:
        """Take in what became of a question to a client."""
        if isinstance(outcome, NoAnswer) and outcome.failure is Failure.TIMEOUT:
            self._through(broker).failed(name, at, asked_at=asked_at)
        elif isinstance(outcome, Refused) and outcome.code == ResponseCode.CONSUME_MSG_TIMEOUT:
            self._silent.failed(name, at, asked_at=asked_at)
        else:
            self._silent.answered(name)
            self._through(broker).answered(name)

    def renew(self, name: Name, at: float) -> bool:
        """Note that it has registered anew; tell whether nothing was heard of it before."""
        renewed = [breaker.renewed(name, at) for breaker in (self._silent, *self._unheard.values())]
        return any(renewed)

    def _through(self, broker: Address) -> Breaker:
        if broker not in self._unheard:
            self._unheard[broker] = Breaker(*self._pauses)
        return self._unheard[broker]
