"""A broker's membership among clients in memory: its clock, and what happened."""

import heapq
from collections.abc import Iterable

from rebalance_engine.effects import Close, Closed, Effect, Heard, Opened, Push, Received, Respond, State, WakeAt, Woken
from rebalance_engine.membership.machine import Broker
from rebalance_engine.membership.offsets import QueueStart
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from tests.rebalance_engine.membership.words import fact_in_words, response_in_words

OBSERVER = 99  # the channel that asks questions


class World:
    """A broker, its clients, and the time."""

    def __init__(self) -> None:
        self.now = 0
        self.broker = Broker(BrokerSettings())
        self.told: list[str] = []
        self._timers: dict[object, int] = {}
        self._queue: list[tuple[int, int, Heard]] = []
        self._count = 0
        self.starts: dict[tuple[str, int], QueueStart] = {}

    # ---- the clock ----

    def hear(self, heard: Heard) -> None:
        self.carry_out(self.broker.handle(heard, self.now))
        self.broker.check()

    def request(self, channel: int, request: object) -> None:
        self.hear(Received(channel=channel, request=request, token=1))

    def wait(self, duration_ms: int) -> None:
        end = self.now + duration_ms
        while self._queue and self._queue[0][0] <= end:
            at, _, heard = heapq.heappop(self._queue)
            if isinstance(heard, Woken) and self._timers.get(heard.timer) != at:
                continue
            self.now = at
            self.hear(heard)
        self.now = end

    def _later(self, at: int, heard: Heard) -> None:
        self._count += 1
        heapq.heappush(self._queue, (at, self._count, heard))

    def carry_out(self, effects: Iterable[Effect]) -> None:
        for effect in effects:
            if isinstance(effect, WakeAt):
                self._timers[effect.timer] = effect.at
                self._later(effect.at, Woken(timer=effect.timer))
            elif isinstance(effect, Close):
                self.say(f"channel {effect.channel} is closed by the broker")
                self._later(self.now, Closed(channel=effect.channel))
            else:
                self._tell(effect)

    def _tell(self, effect: Effect) -> None:
        if isinstance(effect, State):
            self.say(fact_in_words(effect.fact))
        elif isinstance(effect, Push):
            assert isinstance(effect.request, NotifyConsumerIdsChanged)
            self.say(f"notify channel {effect.channel} of {effect.request.consumer_group}")
        else:
            assert isinstance(effect, Respond) and isinstance(effect.response, Response)
            self.say(f"answer {response_in_words(effect.response)}")

    def say(self, text: str) -> None:
        self.told.append(f"{self.now} {text}")

    def begin(self, broker: Broker) -> None:
        self.broker = broker
        self._queue.clear()
        self._timers.clear()
        self.carry_out(broker.start(self.now))
        self.hear(Opened(channel=OBSERVER, address="10.0.0.99:5000"))

    def queue_start(self, topic: str, queue_id: int) -> QueueStart:
        return self.starts.get((topic, queue_id), QueueStart.EMPTY)
