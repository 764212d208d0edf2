"""The client's side of a recorded conversation, played to a whole broker without sockets.

A request is taken up when the real broker answered it, a pull when it came: see ``membership/conversations.py``, which
plays the same recordings to the membership alone. What the real broker asked a client is answered as the client did.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from rebalance_engine.effects import Answered, Closed, Opened, Received, Respond, WakeAt, Woken
from rebalance_engine.embedded.broker import EmbeddedBroker
from rebalance_engine.embedded.core import Ask, HandOn
from rebalance_engine.embedded.routes import RouteTable
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.remoting.codec import decode_response, encode_response
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.consuming import PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused, Response
from tests.rebalance_engine.membership.conversations import BROKERS, TAKEN_UP_WITHIN_MS, Asked, Recording, breaks
from tests.rebalance_engine.membership.conversations import _addresses as addresses_of

NO_CREATED = "%RETRY%g_"  # topics that heartbeats create


@dataclass
class Player:
    """Plays one recording to a fresh broker; ``answers`` are what it answered, by the number of the request."""

    told: Recording
    directory: Path
    answers: dict[int, Response] = field(default_factory=dict)
    relayed: list[tuple[int, int]] = field(default_factory=list)  # who asked, and which channel was asked
    _now: float = 0.0
    _timers: dict[Any, int] = field(default_factory=dict)
    _steps: list[tuple[float, int, Asked | int]] = field(default_factory=list)

    def play(self) -> Player:
        membership = BrokerSettings(
            version=self.told.release, broker=BROKERS[self.told.port], address=f"127.0.0.1:{self.told.port}"
        )
        settings = EmbeddedSettings(membership=membership)
        self.broker = EmbeddedBroker(settings, self.directory, 0, luck=Random(1), route_of=RouteTable().route)
        for config in self.told.topics().body.topic_config_table.values():
            if not config.topic_name.startswith(NO_CREATED):
                self.broker.membership.put_topic(config)
        self._carry_out(self.broker.start(0))
        self._addresses = addresses_of(self.told)
        self._steps = [(at, -1, connection) for at, connection in breaks(self.told)]
        self._steps += [(asked.played_at, number, asked) for number, asked in enumerate(self.told.asked)]
        heapq.heapify(self._steps)
        while self._steps:
            at, number, step = heapq.heappop(self._steps)
            self._wake(at)
            self._now = max(at, self._now)
            if isinstance(step, Asked):
                self._ask(step, number)
            elif step in self.broker.membership.channels:
                self._carry_out(self.broker.handle(Closed(channel=step), int(self._now)))
            self.broker.check()
        self._wake(self._now + self.broker.settings.scans_pulls_every_ms)  # the real broker looks at other times
        return self

    def _ask(self, asked: Asked, number: int) -> None:
        if asked.connection not in self.broker.membership.channels:
            address = self._addresses.get(asked.connection, f"127.0.0.1:{asked.connection}")
            self._carry_out(self.broker.handle(Opened(channel=asked.connection, address=address), int(self._now)))
        received = Received(
            channel=asked.connection,
            request=asked.request,
            token=None if asked.command.is_oneway else number,
            language=asked.command.language,
            version=asked.command.version,
        )
        self._carry_out(self.broker.handle(received, int(self._now)))
        if isinstance(asked.request, PullMessage) and self._is_too_early(asked, number):
            del self.answers[number]
            heapq.heappush(self._steps, (self._now + 5, number, asked))

    def _is_too_early(self, asked: Asked, number: int) -> bool:
        """Ask whether the real broker took the pull up later: after the heartbeat that was on its way."""
        is_refused = isinstance(self.answers.get(number), Refused)
        return is_refused and not isinstance(asked.answer, Refused) and self._now < asked.at + TAKEN_UP_WITHIN_MS

    def _wake(self, until: float) -> None:
        while self._timers and min(self._timers.values()) <= until:
            timer = min(self._timers, key=lambda one: self._timers[one])
            self._now = max(self._now, self._timers.pop(timer))
            self._carry_out(self.broker.handle(Woken(timer=timer), int(self._now)))

    def _carry_out(self, effects: tuple[object, ...]) -> None:
        for effect in effects:
            if isinstance(effect, WakeAt):
                self._timers[effect.timer] = effect.at
            elif isinstance(effect, Respond) and isinstance(effect.response, Response):
                self.answers[effect.token] = effect.response
            elif isinstance(effect, HandOn):
                self.answers[effect.token] = decode_response(GetConsumerRunningInfo, effect.answer)
            elif isinstance(effect, Ask):
                self._answer_for_client(effect)

    def _answer_for_client(self, ask: Ask) -> None:
        """Let the client say what the recorded one said to this observer at this time."""
        number, asked = next(
            (number, asked)
            for number, asked in enumerate(self.told.asked)
            if isinstance(asked.request, GetConsumerRunningInfo)
            and number not in self.answers
            and asked.request.client_id == getattr(ask.request, "client_id", None)
        )
        assert asked.answer is not None
        self.relayed.append((number, ask.channel))
        answer = encode_response(asked.answer, opaque=1)
        self._carry_out(self.broker.handle(Answered(token=ask.token, response=answer), int(self._now)))


def without_times(pull: PullMessageResponse) -> PullMessageResponse:
    """Leave the messages out, which are compared apart."""
    return replace(pull, body=b"")
