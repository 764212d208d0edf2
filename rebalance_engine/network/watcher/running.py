"""The watcher of one cluster on the real clock: asks what the agenda says, remembers, and states what is new.

It decides nothing by itself. Whoever runs it gives it an ``Admin``, which holds the budget and leaves alone who does
not answer, and takes its facts; while they are not taken nothing more is asked than is under way.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Coroutine
from dataclasses import dataclass, replace
from random import Random
from typing import TypeVar

from rebalance_engine.events import (
    DeadLettersSeen,
    Fact,
    HeldSeen,
    MemberJoined,
    Missing,
    PresenceSeen,
    ProducersSeen,
    ProgressSeen,
)
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.answers import Answerer, Trouble
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.watcher.agenda import Agenda, Kind, Question, questions
from rebalance_engine.network.watcher.clock import WatcherClock
from rebalance_engine.network.watcher.hearing import Ears
from rebalance_engine.network.watcher.known import Known
from rebalance_engine.network.watcher.memory import Memory
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.errors import BrokenContent, RemotingError

logger = logging.getLogger(__name__)

T = TypeVar("T")
TICK_S = 0.05
PLAN_EVERY_MS = 1_000
PLAN_SOON_MS = 200  # after something new was seen
AGAIN_MS = 1_000
PLAN_SHARE = 8  # planning takes at most so small a part of the time: with 12,500 questions it takes 0.2 s or more

OFTEN = (HeldSeen, ProgressSeen, DeadLettersSeen, ProducersSeen)  # stated at every look: no reason to plan anew
Emit = Callable[[list[Fact]], Awaitable[None]]
CODE = {
    Kind.BROKERS: RequestCode.GET_BROKER_CLUSTER_INFO,
    Kind.ROUTE: RequestCode.GET_ROUTEINFO_BY_TOPIC,
    Kind.GROUPS: RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG,
    Kind.RUNTIME: RequestCode.GET_BROKER_RUNTIME_INFO,
    Kind.LIST: RequestCode.GET_CONSUMER_LIST_BY_GROUP,
    Kind.MEMBERS: RequestCode.GET_CONSUMER_CONNECTION_LIST,
    Kind.HELD: RequestCode.GET_CONSUMER_RUNNING_INFO,
    Kind.PROGRESS: RequestCode.GET_CONSUME_STATS,
    Kind.DEAD: RequestCode.GET_TOPIC_STATS_INFO,
    Kind.PRODUCERS: RequestCode.GET_ALL_PRODUCER_INFO,
}


@dataclass(slots=True, kw_only=True)
class Health:
    """How a watcher is doing; times are ms since 1970.

    Attributes:
        sweep: number of the sweep under way; in each everything is asked once, or named as missing at its deadline.
        sweep_missed, sweep_unanswered: what the last whole sweep did not get to, and what it asked in vain.
        calls, missed: questions that were asked, and those of them that got no answer.
        oldest_held_at: of all members that ever told what they hold, the longest ago.
        unknown: members of whom it is not known what they hold.
        resting: clients that did not answer, and are left alone for a while.
        lists_at: every member list was told then or later; None: one was never told.
        routes_at: every NameServer told every route then or later; None: one was never told.
    """

    sweep: int = 0
    sweep_began_at: int | None = None
    sweep_ended_at: int | None = None
    sweep_took_ms: int | None = None
    sweep_missed: int = 0
    sweep_unanswered: int = 0
    calls: int = 0
    missed: int = 0
    facts: int = 0
    brokers: int = 0
    groups: int = 0
    members: int = 0
    unknown: int = 0
    viewed: int = 0
    resting: int = 0
    oldest_held_at: int | None = None
    lists_at: int | None = None
    routes_at: int | None = None
    waiting: int = 0


class Watcher:
    """Watches one cluster until it is cancelled.

    Args:
        admin: asks within the budget; one for all that a process asks of a cluster.
        emit: takes facts, in order; is awaited, so that what cannot be stored is not asked either.
        viewed: names the groups that somebody looks at.
        known: what was known before.
        cluster: named in every source.
        luck: spreads what begins together.
        clock: what time it is; of all that states facts of this cluster.
    """

    def __init__(
        self,
        admin: Admin,
        emit: Emit,
        *,
        viewed: Callable[[], Collection[str]] = frozenset,
        known: Known | None = None,
        cluster: str | None = None,
        luck: Random | None = None,
        clock: WatcherClock | None = None,
    ) -> None:
        self.admin = admin
        self.clock = clock or WatcherClock()
        self._emit, self._viewed = emit, viewed
        self._names = admin.name_servers.addresses
        self.memory = Memory(len(self._names), known, cluster)
        self._ears = Ears(admin, self.memory)
        self._agenda = Agenda(luck or Random())  # noqa: S311  # nothing here is secret
        self._news = asyncio.Event()
        self._open: set[Question] = set()
        self._unanswered: set[Question] = set()
        self._retry: set[Question] = set()
        self._is_new = False
        self._hurried: dict[str, int] = {}
        self._again: dict[str, int] = {}
        self._plan_took_ms = 0
        self._deadline = 0
        self.health = Health()

    async def run(self) -> None:
        """Watch.

        Raises:
            ExceptionGroup: something went wrong in here, or in ``emit``; what a cluster does never does.
        """
        clock = self.clock
        planned_at = 0
        async with asyncio.TaskGroup() as asking:
            while True:
                self._news.clear()
                at = clock.now()
                soon = PLAN_SOON_MS if self._is_new else PLAN_EVERY_MS
                if at - planned_at >= max(soon, PLAN_SHARE * self._plan_took_ms):
                    self._is_new = False
                    self._plan(at)
                    self._plan_took_ms = clock.now() - at
                    await self._sweep(at)
                    planned_at = at
                for question, place in self._agenda.due(at, self._ears.ways.choose):
                    asking.create_task(self._ask(question, place), name=f"{question.kind.value} {place}")
                await self._pause(at)

    def hurry(self, group: str, *, for_s: float) -> None:
        """Look at a group as if somebody viewed it, because something was ordered for it."""
        self._hurried[group] = self.clock.now() + int(for_s * 1000)
        self._is_new = True
        self._news.set()

    def look_again(self, group: str) -> None:
        """Ask at once who is a member, and for the routes: queues were taken or dropped, and that has a cause.

        The sooner it is seen, the closer are its bounds. Once a second and group, so that a deploy costs no more.
        """
        at = self.clock.now()
        if at - self._again.get(group, 0) < AGAIN_MS:
            return
        self._again[group] = at
        for broker in self.memory.hosts(group):
            ids = Question(Kind.LIST, broker, group)
            self._agenda.hasten(ids if ids in self._agenda.paces else Question(Kind.MEMBERS, broker, group), at)
        for topic in self.memory.topics_of(group):
            for name in self._names:
                self._agenda.hasten(Question(Kind.ROUTE, name, "", topic), at)
        self._news.set()

    async def _pause(self, at: int) -> None:
        """Wait for the next question, an answer, or the next plan."""
        next_due = self._agenda.next_due
        wait_s = PLAN_EVERY_MS / 1000 if next_due is None else min(max(0.0, next_due - at), PLAN_EVERY_MS) / 1000
        await asyncio.sleep(TICK_S)  # several answers make one step
        try:
            async with asyncio.timeout(max(0.0, wait_s - TICK_S)):
                await self._news.wait()
        except TimeoutError:
            return

    # ---- planning ----

    def _plan(self, at: int) -> None:
        """Take in what is known by now, and what is looked at."""
        self._hurried = {group: until for group, until in self._hurried.items() if until > at}
        self._again = {group: since for group, since in self._again.items() if at - since < AGAIN_MS}
        viewed = frozenset(self._viewed()) | self._hurried.keys()
        health, memory = self.health, self.memory
        members = [(group, client) for group in memory.groups for client in memory.members(group)]
        hung = {each[1] for each in members if (one := memory.member(*each)) is not None and one.hung_at is not None}
        self._agenda.set(questions(memory, self._names, viewed, at, memory.beats.due(hung, at)), at)
        self._open &= self._agenda.paces.keys()
        self._unanswered &= self._agenda.paces.keys()
        self._ears.ways.keep(self._agenda.paces)
        ages = [held_at for each in members if (held_at := memory.held_at(*each)) is not None]
        health.brokers, health.groups, health.members = len(memory.masters), len(memory.groups), len(members)
        health.unknown = sum(memory.held(*each) is None for each in members)
        health.oldest_held_at, health.lists_at = min(ages, default=None), memory.lists_at
        health.routes_at = memory.routes_at(self._names)
        health.resting = self.admin.resting
        health.viewed, health.waiting = len(viewed & memory.groups), len(self._agenda.waiting)

    async def _sweep(self, at: int) -> None:
        """End a sweep in which everything was asked, or whose deadline has come; what is missing then is named."""
        if self._open and at < self._deadline:
            return
        if self.health.sweep:
            self.memory.forget_routes()
            self.health.sweep_ended_at = at
            self.health.sweep_took_ms = at - (self.health.sweep_began_at or at)
            self.health.sweep_missed, self.health.sweep_unanswered = len(self._open), len(self._unanswered)
            await self._state([fact for question in self._open for fact in self._left_out(question, at)])
        self.health.sweep += 1
        self.health.sweep_began_at = at
        self._open, self._unanswered = set(self._agenda.paces), set()
        self._deadline = at + self._agenda.sweep_ms()

    def _left_out(self, question: Question, at: int) -> list[Fact]:
        """A member that was not asked in a whole sweep: what it holds is unknown by now. One that is asked now was."""
        if question.kind is not Kind.HELD or self._agenda.is_under_way(question):
            return []
        place = self._ears.ways.choose(question)
        address = self.memory.masters.get(place)
        by = Answerer(
            address=address or self._names[0], code=CODE[Kind.HELD], at=at, broker=place or None, client=question.name
        )
        return list(self.memory.held_missed(question.group, question.name, by, Missing.NOT_ASKED))

    # ---- asking ----

    async def _ask(self, question: Question, place: str) -> None:
        clock = self.clock
        address = place if place in self._names else self.memory.masters.get(place, "")
        broker = None if place in self._names else place
        client = question.name if question.kind is Kind.HELD else None
        by = Answerer(address=address, code=CODE[question.kind], at=clock.now(), broker=broker, client=client)
        facts: list[Fact] = []
        trouble: Trouble | None = None
        if not address:
            self._agenda.done(question, by.at)
            return
        self.health.calls += 1
        self._unanswered.discard(question)
        try:
            facts = await self._heard(question, by)
        except (NoAnswer, Denied, RemotingError) as error:
            trouble = error
        except ValueError as error:
            logger.warning("what %s answered to %s can be no fact: %s", address, question, error)
            trouble = BrokenContent(str(error))
        if trouble is not None:
            self.health.missed += 1
            self._unanswered.add(question)
            facts = self._ears.missed(question, replace(by, at=clock.now(), asked_at=by.at), trouble)
            if self._ears.ways.goes_on(question):
                self._retry.add(question)
        self._open.discard(question)
        self._agenda.done(question, clock.now())
        if question in self._retry:
            self._retry.discard(question)
            self._agenda.hasten(question, clock.now())
        self._is_new |= question.kind is Kind.GROUPS or any(not isinstance(fact, OFTEN) for fact in facts)
        self._news.set()
        await self._state(facts)

    async def _state(self, facts: list[Fact]) -> None:
        if facts:
            self.health.facts += len(facts)
            await self._emit(facts)

    async def _heard(self, question: Question, by: Answerer) -> list[Fact]:
        """Ask, and take in the answer; the time of the answer is when it came."""

        async def within(answer: Coroutine[None, None, T]) -> tuple[T, Answerer]:
            return await answer, replace(by, at=self.clock.now(), asked_at=by.at)

        before = self.memory.changed_at(question.group)
        facts = await self._ears.heard(question, by, within)
        if question.kind is Kind.LIST and facts:
            self._hasten(question.group, replace(by, at=self.clock.now()))
        if question.kind is Kind.ROUTE and facts:
            self._compare(question)
        for fact in facts:
            if isinstance(fact, MemberJoined | PresenceSeen):
                self._renew(fact.group, fact.client)
        for name_server in self._ears.take_rearranged():
            self._agenda.hasten_routes(name_server, self.clock.now())
        if question.kind is Kind.HELD and self.memory.changed_at(question.group) != before:
            self.look_again(question.group)
        return facts

    def _compare(self, route: Question) -> None:
        """Ask the other NameServers at once for a route that is new at one: until they answer, they disagree."""
        for other in (replace(route, place=name) for name in self._names if name != route.place):
            if self._agenda.is_under_way(other):
                self._retry.add(other)  # the answer that comes may be from before
            else:
                self._agenda.hasten(other, self.clock.now())

    def _renew(self, group: str, client: str) -> None:
        """Who did not answer, and has come again or by another address, is asked at once."""
        question = Question(Kind.HELD, "", group, client)
        was_silent = self.admin.renew(group, client)
        if self._agenda.is_under_way(question):
            self._retry.add(question)  # what is under way may be for who was there before
        elif was_silent:
            self._agenda.hasten(question, self.clock.now())

    def _hasten(self, group: str, by: Answerer) -> None:
        """A list changed: ask at once who is there, and what they hold."""
        assert by.broker is not None
        self._agenda.hasten(Question(Kind.MEMBERS, by.broker, group), by.at)
        for client in self.memory.members(group):
            self._agenda.hasten(Question(Kind.HELD, "", group, client), by.at)
