"""What members of a simulated cluster do that is no fact of theirs, but a line of their logs.

Beside the facts of a run it gives, in order, the offsets that members persist, how far each pull loop had come when it
ended, what listeners got and what they finished too late, the locks that members were refused, how many members they
heard of, and routes.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import pytest

from rebalance_engine.consumer import Consumed, Deliver, Order
from rebalance_engine.consumer.application import Result
from rebalance_engine.effects import Answered, Heard, Send, SendOneway, State, Unanswered
from rebalance_engine.events import Fact, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody
from rebalance_engine.remoting.bodies.routes import QueueData
from rebalance_engine.remoting.requests.consuming import (
    LockBatchMq,
    LockBatchMqResponse,
    PullMessage,
    PullMessageResponse,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, GetConsumerListByGroupResponse
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.simulation import world
from rebalance_engine.simulation.clients import ConsumerProcess
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.process import Place
from rebalance_engine.simulation.scenario import read


@dataclass(frozen=True, slots=True)
class Saying:
    """What a member did to a queue; ``offsets``: up to where, or of which messages.

    Attributes:
        what: ``persisted``, ``pull ended``, ``given``, ``uncommitted``, ``lock refused``.
    """

    at: int
    what: str
    group: str
    client: str
    queue: MessageQueue
    offsets: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Route:
    """A member learnt that a topic has other queues than before, or which it has."""

    at: int
    client: str
    topic: str
    before: tuple[QueueData, ...] | None
    after: tuple[QueueData, ...]


@dataclass(frozen=True, slots=True)
class Counted:
    """A member heard how many there are to divide by."""

    at: int
    group: str
    client: str
    members: int


Told = Fact | Saying | Route | Counted


@dataclass(slots=True, eq=False)
class _Loop:
    """The pull loop of one hold."""

    following: int
    pulls: set[int] = field(default_factory=set)
    is_over: bool = False


def overhear(text: str) -> list[Told]:
    """Play a scenario and give all that its members state and do."""
    scenario = read(text)
    brokers = {f"10.0.0.{number}:10911": name for number, name in enumerate(scenario.brokers, start=2)}
    told: list[Told] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world, "ConsumerProcess", type("Heard", (Overheard,), {"told": told, "brokers": brokers}))
        world.World(scenario, told.append).clock.run_until(EPOCH + scenario.ends_at)
    return told


class Overheard(ConsumerProcess):
    """A consumer that is listened to.

    Attributes:
        told: what it does is put there, in order.
        brokers: by address.
    """

    told: ClassVar[list[Told]]
    brokers: ClassVar[dict[str, str]]

    def __init__(self, place: Place, **named: Any) -> None:
        self._loops: dict[tuple[str, MessageQueue], _Loop] = {}
        self._pulls: dict[int, tuple[str, MessageQueue, _Loop]] = {}
        self._lockings: dict[int, LockBatchMq] = {}
        self._askings: dict[int, str] = {}
        self._countings: dict[int, str] = {}
        self._routes: dict[str, tuple[QueueData, ...]] = {}
        self._delivered: dict[int, _Loop | None] = {}
        super().__init__(place, **named)

    def _say(self, what: str, group: str, queue: MessageQueue, *offsets: int) -> None:
        self.told.append(Saying(self.clock.now, what, group, self.client_id, queue, offsets))

    # ---- what it hears ----

    def react(self, heard: Heard | Consumed | Order, at: int) -> Iterable[object]:
        if isinstance(heard, Answered | Unanswered):
            response = heard.response if isinstance(heard, Answered) else None
            if heard.token in self._pulls:
                self._pulled(heard.token, response)
            elif heard.token in self._lockings:
                self._locked(self._lockings.pop(heard.token).body, response)
            elif heard.token in self._askings and isinstance(response, GetRouteInfoByTopicResponse):
                self._learnt(self._askings[heard.token], tuple(response.body.queue_datas))
            elif heard.token in self._countings and isinstance(response, GetConsumerListByGroupResponse):
                group, members = self._countings.pop(heard.token), len(response.body.consumer_id_list)
                self.told.append(Counted(self.clock.now, group, self.client_id, members))
        return super().react(heard, at)

    def _pulled(self, token: int, response: object) -> None:
        group, queue, loop = self._pulls.pop(token)
        loop.pulls.discard(token)
        if isinstance(response, PullMessageResponse):
            loop.following = response.next_begin_offset
        if loop.is_over:
            self._say("pull ended", group, queue, loop.following)

    def _locked(self, asked: LockBatchRequestBody, response: object) -> None:
        if isinstance(response, LockBatchMqResponse):
            refused = set(asked.mq_set) - set(response.body.lock_ok_mq_set) - set(self.held(asked.consumer_group))
            for queue in sorted(refused):
                self._say("lock refused", asked.consumer_group, queue)

    def _learnt(self, topic: str, after: tuple[QueueData, ...]) -> None:
        before = self._routes.get(topic)
        if before is None or sorted(map(str, before)) != sorted(map(str, after)):
            self._routes[topic] = after
            self.told.append(Route(self.clock.now, self.client_id, topic, before, after))

    # ---- what it does ----

    def carry_out(self, effects: Iterable[object]) -> None:
        for effect in effects:
            if isinstance(effect, Send | SendOneway):
                self._sends(effect)
            elif isinstance(effect, Deliver):
                self._delivered[effect.token] = self._loops.get((effect.group, effect.queue))
                self._say("given", effect.group, effect.queue, *(one.offset for one in effect.messages))
            super().carry_out((effect,))
            if isinstance(effect, State):
                self._stated(effect.fact)

    def _sends(self, effect: Send | SendOneway) -> None:
        request = effect.request
        if isinstance(request, UpdateConsumerOffset):
            queue = MessageQueue(request.topic, self.brokers[effect.to], request.queue_id)
            self._say("persisted", request.consumer_group, queue, request.commit_offset)
        elif isinstance(effect, Send) and isinstance(request, PullMessage):
            self._pulls_from(MessageQueue(request.topic, self.brokers[effect.to], request.queue_id), effect, request)
        elif isinstance(effect, Send) and isinstance(request, LockBatchMq):
            self._lockings[effect.token] = request
        elif isinstance(effect, Send) and isinstance(request, GetRouteInfoByTopic):
            self._askings[effect.token] = request.topic
        elif isinstance(effect, Send) and isinstance(request, GetConsumerListByGroup):
            self._countings[effect.token] = request.consumer_group

    def _pulls_from(self, queue: MessageQueue, effect: Send, pull: PullMessage) -> None:
        loop = self._loops[pull.consumer_group, queue]
        loop.following = pull.queue_offset
        loop.pulls.add(effect.token)
        self._pulls[effect.token] = pull.consumer_group, queue, loop

    def _stated(self, fact: object) -> None:
        if isinstance(fact, QueueTaken):
            self._loops[fact.group, fact.queue] = _Loop(fact.start_offset or 0)
        elif isinstance(fact, QueueDropped):
            loop = self._loops[fact.group, fact.queue]
            loop.is_over = True
            if not loop.pulls and not self.is_stopping:
                self._say("pull ended", fact.group, fact.queue, loop.following)

    def _returns(self, deliver: Deliver, result: Result) -> None:
        loop = self._delivered.pop(deliver.token, None)
        if loop is not None and loop.is_over:
            self._say("uncommitted", deliver.group, deliver.queue, *(one.offset for one in deliver.messages))
        super()._returns(deliver, result)
