"""One client process as a state machine: it hears answers, timers, brokers and the application, and asks for effects.

Inside run its threads (:mod:`~rebalance_engine.consumer.threads`), for as many consumers as live in it. It knows
neither sockets nor clocks, and its luck is an argument.
"""

from __future__ import annotations

import random

from rebalance_engine.consumer import lifecycle, lite_pull, peer
from rebalance_engine.consumer.application import (
    Asked,
    Assign,
    Commit,
    Consumed,
    Drain,
    Note,
    Order,
    Poll,
    Resume,
    Seek,
    Start,
    Stop,
    Subscribe,
    Suspend,
)
from rebalance_engine.consumer.desk import Desk
from rebalance_engine.consumer.heartbeats import heartbeat_on_open
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import PopReader, Reader, read_popped, read_stored
from rebalance_engine.consumer.profiles import Profile
from rebalance_engine.consumer.settings import ClientSettings
from rebalance_engine.consumer.threads import Thread
from rebalance_engine.effects import Answered, Heard, Opened, Received, Unanswered, Woken
from rebalance_engine.events import EXACT, HeldSeen, Source


class Client:
    """One client process and the consumers in it.

    Args:
        read: makes messages of the answer to a pull; a simulator has no bytes to read.
        read_popped: the same of the answer to a pop.
    """

    def __init__(
        self,
        profile: Profile,
        settings: ClientSettings,
        *,
        luck: random.Random,
        source: Source,
        read: Reader = read_stored,
        read_popped: PopReader = read_popped,
    ) -> None:
        self.desk = Desk(profile, settings, luck=luck, source=source, read=read, read_popped=read_popped)
        self._services: list[Thread] = []

    def handle(self, heard: Heard | Consumed | Order, at: int) -> list[Asked]:
        """Take in what happened at a time, in ms, and give what should happen about it.

        Raises:
            ValueError: an order that makes no sense: a group that is not here, or one that is here already.
        """
        threads = self.desk.threads
        threads.tell_time(at)
        if isinstance(heard, Answered | Unanswered | Consumed):
            threads.reply(heard)
        elif isinstance(heard, Woken):
            threads.woken()
        elif isinstance(heard, Received):
            peer.received(self.desk, heard)
        elif isinstance(heard, Opened):
            self._opened(heard)
        elif isinstance(heard, Order):
            self._obey(heard)
        return threads.run()

    def give_up(self, member: Member, at: int) -> list[Asked]:
        """Let a consumer hold nothing any more whose shutdown waits for brokers, before its process ends."""
        self.desk.threads.tell_time(at)
        lifecycle.give_up(member)
        return self.desk.threads.run()

    def _opened(self, heard: Opened) -> None:
        desk = self.desk
        if desk.profile.channel_heartbeat and desk.settings.channel_listener and desk.routes.is_broker(heard.address):
            desk.threads.spawn(heartbeat_on_open(desk, heard.address))

    def _obey(self, order: Order) -> None:
        desk = self.desk
        if isinstance(order, Start):
            if order.settings.group in desk.members:
                raise ValueError(f"client {desk.client_id!r} has a consumer of group {order.settings.group!r} already")
            desk.threads.spawn(lifecycle.start(desk, order.settings, order.saved, self._services))
            return
        member = self._member(order.group)
        if isinstance(order, Assign | Poll | Seek | Commit):
            self._obey_poller(member, order)
        elif isinstance(order, Stop):
            desk.threads.spawn(lifecycle.stop(desk, member, self._services))
        elif isinstance(order, Drain):
            lifecycle.drain(member)
        elif isinstance(order, Note):
            member.offsets.update(order.queue, order.offset, increase_only=False)
        elif isinstance(order, Suspend):
            member.is_paused = True
        elif isinstance(order, Resume):
            desk.threads.spawn(lifecycle.resume(desk, member))
        elif isinstance(order, Subscribe):
            desk.threads.spawn(lifecycle.subscribe(desk, member, order.topic, order.expression))
        else:
            lifecycle.unsubscribe(member, order.topic)

    def _obey_poller(self, member: Member, order: Assign | Poll | Seek | Commit) -> None:
        threads = self.desk.threads
        if isinstance(order, Assign):
            threads.spawn(lite_pull.assign(member, order.queues, order.offsets))
        elif isinstance(order, Poll):
            threads.spawn(lite_pull.poll(member, order.timeout_ms))
        elif isinstance(order, Seek):
            lite_pull.seek(member, order.queue, order.offset)
        elif order.only_if_due:
            lite_pull.auto_commit(member)
        else:
            lite_pull.note_consumed(member)

    def _member(self, group: str) -> Member:
        member = self.desk.members.get(group)
        if member is None:
            here = ", ".join(self.desk.members) or "none"
            raise ValueError(f"client {self.desk.client_id!r} has no consumer of group {group!r}; it has {here}")
        return member

    # ---- what it can tell ----

    @property
    def is_running(self) -> bool:
        """Whether a consumer lives here or is still being shut down; without one, Java closes all channels."""
        return bool(self.desk.members or self.desk.leaving)

    @property
    def is_rebalancing(self) -> bool:
        """Whether a rebalance is under way; the consumer may take and drop more queues by it."""
        return self.desk.round_lock.is_held

    @property
    def groups(self) -> tuple[str, ...]:
        """The groups of which a consumer lives here."""
        return tuple(self.desk.members)

    def member(self, group: str) -> Member:
        """Give the consumer of a group, to look at.

        Raises:
            ValueError: there is none.
        """
        return self._member(group)

    def held(self, group: str) -> HeldSeen:
        """State all that the consumer of a group holds.

        Raises:
            ValueError: there is none.
        """
        member, desk = self._member(group), self.desk
        held = sorted(member.held())
        return HeldSeen(
            at=desk.at,
            source=desk.source,
            exactness=EXACT,
            group=group,
            client=desk.client_id,
            queues=tuple(held),
            dropped=tuple(sorted(member.table.keys() - set(held))),
        )

    def check(self) -> None:
        """Assert what always holds.

        Of each consumer that lives here: what it holds is consistent, its threads are not more than it has, and no
        offset is noted past a message that nobody finished.
        """
        has_services = bool(self._services)
        # the last to be stopped need not be the last to end: whoever ends and finds no consumer ends the threads
        assert self.is_running or not has_services, "the client's threads outlive its consumers"
        assert has_services or not self.desk.members, "the client's consumers outlive its threads"
        for member in self.desk.members.values():
            member.check()
