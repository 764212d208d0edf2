"""What all tasks of one producer work on: its tables, its settings, its luck, and the time.

Here a task learns which queue is next, where a broker listens and what to put into a request; and here what it
learns becomes facts.
"""

from __future__ import annotations

import random
from collections.abc import Hashable
from copy import deepcopy
from dataclasses import replace

from rebalance_engine.effects import Address, Cancel, Effect, State, WakeAt
from rebalance_engine.events import (
    EXACT,
    BrokerBackedOff,
    BrokerBackoffEnded,
    BrokerLatency,
    BrokerReachable,
    BrokerUnreachable,
    SendOutcome,
    Source,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.producer.index import Thread
from rebalance_engine.producer.latency import Change, FaultTable, Lesson
from rebalance_engine.producer.profiles import Profile
from rebalance_engine.producer.publish_info import PublishInfo
from rebalance_engine.producer.routes import RouteBook
from rebalance_engine.producer.selection import Choice, Search, select
from rebalance_engine.producer.selection_cpp import select_cpp
from rebalance_engine.producer.send_loop import Attempt, Call, Message, Mode, Outcome
from rebalance_engine.producer.settings import Settings
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.requests.producing import SendBatchMessage, SendMessageV2

VIP_PORTS_BELOW = 2


class Desk:
    """The one place where a producer's state changes.

    Attributes:
        at: the time of what is being handled, in ms.
        out: the effects so far.
        name_server: which of the settings' name servers is asked next.
    """

    def __init__(self, profile: Profile, settings: Settings, *, luck: random.Random, source: Source) -> None:
        self.profile = profile
        self.settings = settings
        self.luck = luck
        self.source = source
        self.book = RouteBook(profile, settings, luck)
        self.faults = FaultTable(profile, settings, luck)
        self.at = 0
        self.out: list[Effect] = []
        self.name_server = luck.randrange(len(settings.name_servers)) if len(settings.name_servers) > 1 else 0

    @property
    def keeps_faults(self) -> bool:
        """Whether the fault table is kept and used."""
        return self.settings.avoids_faults and self.profile.fault_form is not None

    # ---- which queue ----

    def choose(self, info: PublishInfo, thread: Thread, last_broker: str | None, *, is_retry: bool) -> Choice:
        """Choose a queue and move the index on."""
        choice = select(self._search(info, thread, last_broker, is_retry=is_retry), avoids_faults=self.keeps_faults)
        if choice.forgot is not None:
            self.report(self.faults.remove(choice.forgot, self.at))
        return choice

    def choose_cpp(self, info: PublishInfo, thread: Thread, last_broker: str | None, cursor: int) -> Choice:
        """Choose a queue as C++ does, from a position on."""
        search = self._search(info, thread, last_broker, is_retry=last_broker is not None)
        return select_cpp(search, cursor, is_active=self.settings.avoids_faults)

    def preview(self, info: PublishInfo, thread: Thread, last_broker: str | None, *, is_retry: bool) -> Choice:
        """Say what would be chosen, with luck as it will be drawn, and change nothing."""
        kept: dict[int, object] = {id(whole): whole for whole in (info.route, self.profile)}  # these never change
        info, faults = deepcopy((info, self.faults), kept)
        search = replace(self._search(info, thread, last_broker, is_retry=is_retry), faults=faults)
        if self.profile.language is Language.CPP:
            return select_cpp(search, info.index.shared, is_active=self.settings.avoids_faults)
        return select(search, avoids_faults=self.keeps_faults)

    def _search(self, info: PublishInfo, thread: Thread, last_broker: str | None, *, is_retry: bool) -> Search:
        return Search(info, self.faults, self.profile, thread, self.at, last_broker, is_retry)

    # ---- where to, and what ----

    def broker_of(self, queue: MessageQueue) -> str | None:
        """Say which broker hosts a queue."""
        info = self.book.info(queue.topic)
        return info.broker_of(queue) if info else queue.broker

    def address_of(self, broker: str | None) -> Address | None:
        """Say where to send for a broker."""
        address = self.book.master_of(broker)
        if address is None or not self.settings.uses_vip_channel:
            return address
        host, _, port = address.rpartition(":")
        return f"{host}:{int(port) - VIP_PORTS_BELOW}"

    def request(self, message: Message, queue: MessageQueue, broker: str | None) -> SendMessageV2:
        """Make the request that stores a message in a queue."""
        form = SendBatchMessage if message.is_batch else SendMessageV2
        return form(
            producer_group=self.settings.group,
            topic=message.topic,
            default_topic=self.settings.default_topic,
            default_topic_queue_nums=self.settings.default_topic_queues,
            queue_id=queue.queue_id,
            sys_flag=message.sys_flag,
            born_timestamp=self.at,
            flag=message.flag,
            properties=message.properties,
            reconsume_times=message.reconsume_times,
            max_reconsume_times=message.max_reconsume_times,
            batch=message.is_batch,
            bname=broker if self.profile.names_broker else None,
            body=message.body,
        )

    # ---- what was learned ----

    def conclude(self, call: Call, outcome: Outcome) -> Attempt:
        """Note what became of a call's attempt, and state its latency as a fact where somebody answered, or did not."""
        attempt = call.conclude(outcome, self.at)
        assert attempt.latency_ms is not None
        is_unknowable = call.mode is Mode.ONEWAY and outcome.kind is SendOutcome.OK
        if attempt.broker is not None and not is_unknowable:
            fact = BrokerLatency(
                at=attempt.began_at,
                source=self.source,
                exactness=EXACT,
                client=self.settings.client,
                broker=attempt.broker,
                latency_ms=attempt.latency_ms,
                outcome=outcome.kind,
                queue=attempt.queue if attempt.queue.queue_id >= 0 else None,
            )
            self.out.append(State(fact=fact))
        return attempt

    def learn(self, broker: str | None, lesson: Lesson, latency_ms: int) -> None:
        """Keep the fault table, if there is one (``updateFaultItem``)."""
        if self.keeps_faults and broker is not None:
            self.report(self.faults.learn(broker, lesson, latency_ms, self.at), latency_ms)

    def report(self, change: Change, latency_ms: int | None = None) -> None:
        """State what changed about a broker, and wait for the end of a back-off."""
        if change.backoff_ms:
            self._state_backoff(change, latency_ms)
        if change.has_ended:
            self.out.append(Cancel(timer=_backoff_timer(change.broker)))
            self._state(BrokerBackoffEnded, change.broker)
        if change.reachable is not None:
            self._state(BrokerReachable if change.reachable else BrokerUnreachable, change.broker)

    def _state_backoff(self, change: Change, latency_ms: int | None) -> None:
        fact = BrokerBackedOff(
            at=self.at,
            source=self.source,
            exactness=EXACT,
            client=self.settings.client,
            broker=change.broker,
            backoff_ms=change.backoff_ms,
            is_isolated=change.is_isolated,
            latency_ms=latency_ms,
        )
        self.out.append(State(fact=fact))
        self.out.append(WakeAt(at=self.at + change.backoff_ms, timer=_backoff_timer(change.broker)))

    def backoff_over(self, broker: str) -> None:
        """State that a back-off ran out, unless it was moved out since."""
        item = self.faults.item(broker)
        if item is not None and item.available_from <= self.at:
            self._state(BrokerBackoffEnded, broker)

    def _state(self, kind: type[BrokerBackoffEnded | BrokerReachable | BrokerUnreachable], broker: str) -> None:
        fact = kind(at=self.at, source=self.source, exactness=EXACT, client=self.settings.client, broker=broker)
        self.out.append(State(fact=fact))


def _backoff_timer(broker: str) -> Hashable:
    return ("backoff", broker)
