"""Connections between processes: every message takes its time, some are lost, and connections break.

A connection keeps the order of what goes through it, as TCP does. A partition holds messages back until it heals, as
TCP's own retries do; who gave up meanwhile has closed its end, and nothing reaches him.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

from rebalance_engine.effects import (
    Address,
    Answered,
    Channel,
    Closed,
    Failure,
    Opened,
    Push,
    Received,
    Respond,
    Send,
    SendOneway,
    Unanswered,
)
from rebalance_engine.simulation.clock import Action, Alarm, Clock
from rebalance_engine.simulation.process import Process

CONNECT_TIMEOUT = 3_000  # ms; ``NettyClientConfig.connectTimeoutMillis``

Loses = Callable[[Process, Process, object], bool]


@dataclass(slots=True, eq=False)
class Link:
    """One TCP connection.

    Attributes:
        is_open: once both ends have heard of it.
        waiting: what its client sends as soon as it is open.
        held: what a partition holds back, with where it goes.
        due: when the last message to each end arrives; the next one does not overtake it.
    """

    channel: Channel
    client: Process
    server: Process
    is_open: bool = False
    waiting: list[Action] = field(default_factory=list)
    held: list[tuple[Process, Action]] = field(default_factory=list)
    due: dict[Process, int] = field(default_factory=dict)

    def other(self, end: Process) -> Process:
        """Give the other end."""
        return self.server if end is self.client else self.client


@dataclass(slots=True, eq=False)
class Call:
    """A request that waits for its answer."""

    token: int
    caller: Process
    deadline: Alarm | None = None
    link: Link | None = None


class Network:
    """All connections.

    Args:
        latency: the shortest and the longest time of a message on its way, in ms.

    Attributes:
        extra: process -> ms that each message to or from it takes longer.
        cuts: pairs of names that cannot reach each other.
        loses: says whether a one-way request is lost; ``loses_call``: whether a request of a process or its answer is.
    """

    def __init__(self, clock: Clock, luck: random.Random, latency: tuple[int, int]) -> None:
        self.clock = clock
        self.extra: dict[str, int] = {}
        self.cuts: set[frozenset[str]] = set()
        self.loses_call: Callable[[Process], bool] = lambda _caller: False
        self.loses: Loses = lambda _from, _to, _request: False
        self._luck = luck
        self._latency = latency
        self._listening: dict[Address, Process] = {}
        self._links: dict[Channel, Link] = {}
        self._channels = 0
        self._tokens = 0
        self._asked: dict[int, Call] = {}

    # ---- processes ----

    def listen(self, process: Process) -> None:
        """Let a process be called; it takes the place of whoever listened at its address before."""
        self._listening[process.address] = process

    def end(self, process: Process) -> None:
        """End a process; its operating system closes its connections."""
        process.is_gone = True
        for link in tuple(process.links.values()):
            self._close_end(link, process)
        process.calls.clear()

    def vanish(self, process: Process) -> None:
        """End a process together with its machine: nobody is told."""
        process.is_gone = True
        process.is_reachable = False

    # ---- what processes send ----

    def ask(self, caller: Process, send: Send) -> None:
        """Send a request, and see to it that the caller hears what became of it."""
        call = Call(send.token, caller)
        caller.calls[send.token] = call
        call.deadline = self.clock.after(send.timeout_ms, lambda: self._fail(call, Failure.TIMEOUT))
        call.link = self._link(caller, send.to)
        self._when_open(call.link, lambda: self._transmit_call(call, send.request))

    def _transmit_call(self, call: Call, request: object) -> None:
        link = call.link
        assert link is not None
        self._tokens += 1
        token = self._tokens
        if self.loses_call(call.caller):
            return
        self._asked[token] = call
        received = Received(channel=link.channel, request=request, token=token)
        self._transmit(link, link.server, lambda: link.server.hear(received))

    def tell(self, caller: Process, send: SendOneway) -> None:
        """Send a one-way request."""
        link = self._link(caller, send.to)
        if not self.loses(caller, link.server, send.request):
            received = Received(channel=link.channel, request=send.request)
            self._when_open(link, lambda: self._transmit(link, link.server, lambda: link.server.hear(received)))

    def push(self, process: Process, push: Push) -> None:
        """Send a one-way request down a connection that the other side opened."""
        link = process.links.get(push.channel)
        if link is not None and not self.loses(process, link.client, push.request):
            received = Received(channel=push.channel, request=push.request)
            self._transmit(link, link.client, lambda: link.client.hear(received))

    def answer(self, process: Process, respond: Respond) -> None:
        """Answer a request; if its connection is gone, nobody hears it."""
        call, link = self._asked.pop(respond.token), process.links.get(respond.channel)
        if link is not None and not self.loses_call(call.caller):
            self._transmit(link, link.client, lambda: self._answered(call, respond.response))

    def _answered(self, call: Call, response: object) -> None:
        if self._settle(call):
            call.caller.hear(Answered(token=call.token, response=response))

    def _fail(self, call: Call, failure: Failure) -> None:
        if self._settle(call):
            call.caller.hear(Unanswered(token=call.token, failure=failure))

    def _settle(self, call: Call) -> bool:
        if call.deadline is not None:
            self.clock.call_off(call.deadline)
        return call.caller.calls.pop(call.token, None) is call

    # ---- connections ----

    def _link(self, caller: Process, address: Address) -> Link:
        link = caller.dialled.get(address)
        return link if link is not None else self._dial(caller, address)

    def _dial(self, caller: Process, address: Address) -> Link:
        self._channels += 1
        server = self._listening[address]
        link = caller.dialled[address] = Link(self._channels, caller, server)
        if server.is_gone and server.is_reachable:
            self.clock.after(2 * self._delay(link), lambda: self._refused(link))
        elif self.is_cut(link) or not server.is_reachable:
            self.clock.after(CONNECT_TIMEOUT, lambda: self._refused(link))
        else:
            self.clock.after(self._delay(link), lambda: self._accept(link))
        return link

    def _refused(self, link: Link) -> None:
        link.client.dialled.pop(link.server.address, None)
        self._fail_calls(link, Failure.NOT_CONNECTED)

    def _accept(self, link: Link) -> None:
        if link.server.is_gone:
            self._refused(link)
            return
        self._links[link.channel] = link
        link.server.links[link.channel] = link
        link.server.hear(Opened(channel=link.channel, address=link.client.address))
        self._transmit(link, link.client, lambda: self._established(link))

    def _established(self, link: Link) -> None:
        client = link.client
        client.links[link.channel] = link
        link.is_open = True
        waiting, link.waiting = link.waiting, []
        client.hear(Opened(channel=link.channel, address=link.server.address))
        for action in waiting:
            action()

    @staticmethod
    def _when_open(link: Link, action: Action) -> None:
        if link.is_open:
            action()
        else:
            link.waiting.append(action)

    def close(self, process: Process, channel: Channel) -> None:
        """Close a connection from one end; that end hears of it at once, the other one when it arrives there."""
        link = process.links.get(channel)
        if link is not None:
            self._close_end(link, process)
            self.clock.after(0, lambda: process.hear(Closed(channel=channel)))

    def _close_end(self, link: Link, end: Process) -> None:
        other = link.other(end)
        self._forget(link, end)
        self._transmit(link, other, lambda: self._closed_by_other(link, other))

    def _closed_by_other(self, link: Link, end: Process) -> None:
        if link.channel in end.links:
            self._forget(link, end)
            end.hear(Closed(channel=link.channel))

    def _forget(self, link: Link, end: Process) -> None:
        end.links.pop(link.channel, None)
        if end is link.client:
            if end.dialled.get(link.server.address) is link:
                del end.dialled[link.server.address]
            self._fail_calls(link, Failure.CLOSED)
        if link.channel not in link.other(end).links:
            self._links.pop(link.channel, None)

    def _fail_calls(self, link: Link, failure: Failure) -> None:
        for call in tuple(link.client.calls.values()):
            if call.link is link:
                self._fail(call, failure)

    def reset(self, one: str, other: str) -> None:
        """Break the connections between two processes: both ends hear of it."""
        for link in tuple(self._links.values()):
            if {link.client.name, link.server.name} == {one, other}:
                for end in (link.client, link.server):
                    self.close(end, link.channel)

    # ---- on the way ----

    def _transmit(self, link: Link, to: Process, deliver: Action) -> None:
        if self.is_cut(link):
            link.held.append((to, deliver))
            return
        arrives = max(self.clock.now + self._delay(link), link.due.get(to, 0))
        link.due[to] = arrives
        self.clock.at(arrives, lambda: self._arrive(link, to, deliver))

    def _arrive(self, link: Link, to: Process, deliver: Action) -> None:
        if not to.is_gone:
            if link.channel in to.links or not link.is_open:
                deliver()
        elif to.is_reachable or self._listening.get(to.address) not in (to, None):
            self._closed_by_other(link, link.other(to))  # its machine is up and answers with a reset

    def _delay(self, link: Link) -> int:
        slow = self.extra.get(link.client.name, 0) + self.extra.get(link.server.name, 0)
        return self._luck.randint(*self._latency) + slow

    # ---- partitions ----

    def is_cut(self, link: Link) -> bool:
        """Whether nothing gets through."""
        return bool(self.cuts) and frozenset((link.client.name, link.server.name)) in self.cuts

    def cut(self, one: str, other: str) -> None:
        """Let nothing through between two processes."""
        self.cuts.add(frozenset((one, other)))

    def heal(self, one: str, other: str) -> None:
        """Let through what was held back, and all that follows."""
        pair = frozenset((one, other))
        self.cuts.discard(pair)
        for link in tuple(self._links.values()):
            if {link.client.name, link.server.name} == pair:
                held, link.held = link.held, []
                for to, deliver in held:
                    self._transmit(link, to, deliver)
