"""One broker: what is for its members goes to the membership machine, everything else to a room of its own.

A machine as the others: ``handle`` hears one event and gives effects; besides those of ``effects.py`` there is
:class:`~.core.Ask`. It reads and writes its files itself.

Source: ``broker/.../BrokerController.java`` (which processor answers what; ``start`` for what it does by the clock).
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable, Mapping
from enum import Enum
from pathlib import Path
from random import Random
from typing import Any

from rebalance_engine.effects import (
    Answered,
    Channel,
    Closed,
    Effect,
    Heard,
    Opened,
    Received,
    Respond,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.embedded import topics
from rebalance_engine.embedded.assignment import Assignment, RouteOf
from rebalance_engine.embedded.core import Ask, Call, Core, HandOn, host_of, refuse
from rebalance_engine.embedded.disk import ConfigFiles
from rebalance_engine.embedded.faults import Faults, code_of
from rebalance_engine.embedded.looking import Looking
from rebalance_engine.embedded.progress import Progress
from rebalance_engine.embedded.pulling import Pulling
from rebalance_engine.embedded.rates import SAMPLE_EVERY_MS
from rebalance_engine.embedded.relay import Relay
from rebalance_engine.embedded.replies import Replies
from rebalance_engine.embedded.schedule import Schedule
from rebalance_engine.embedded.sending import DUE, Sending
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.embedded.store import MessageStore
from rebalance_engine.embedded.upkeep import Upkeep
from rebalance_engine.events import Origin
from rebalance_engine.membership.machine import Broker
from rebalance_engine.membership.machine import Timer as OfMembership
from rebalance_engine.membership.offsets import QueueStart
from rebalance_engine.remoting.bodies.settings import RegisterBrokerBody, TopicConfig, TopicConfigSerializeWrapper
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import RemotingError
from rebalance_engine.remoting.requests.contract import Request, Response
from rebalance_engine.remoting.requests.nameserver import RegisterBroker

logger = logging.getLogger(__name__)


class Timer(Enum):
    """What this machine is woken for, besides delayed messages (``sending.DUE``) and what membership waits for."""

    SCAN_PULLS = "waiting pulls are looked through"
    KEEP = "what changed is written down"
    SAMPLE = "rates are sampled"
    TRANSACTIONS = "prepared messages are looked through"
    SLOW = "a request has waited enough"


Serve = Callable[[Call, Any], Response | None]  # each takes the request that it is listed with; None answers later


class EmbeddedBroker:
    """One run of one broker.

    Args:
        settings: what is set.
        directory: where it keeps everything; another run of the same broker goes on there.
        at: what time it is, in ms.
        luck: chooses queues where clients leave it to the broker.
        route_of: asks the name server where a topic is.
        origin: as what its facts count.
    """

    def __init__(
        self,
        settings: EmbeddedSettings,
        directory: Path,
        at: int,
        *,
        luck: Random,
        route_of: RouteOf,
        origin: Origin = Origin.SIMULATOR,
    ) -> None:
        self.settings = settings
        self.files = ConfigFiles(directory / "config")
        store = MessageStore(
            directory,
            host_of(settings.membership.address),
            segment_bytes=settings.segment_bytes,
            max_bytes=settings.max_log_bytes,
        )
        self.membership = Broker(
            settings.membership, origin=origin, memory=self.files.memory(), queue_start=self._queue_start
        )
        for config in topics.own_topics(settings):
            if self.membership.topics.find(config.topic_name) is None:
                self.membership.put_topic(config)
        self.core = Core(settings, self.membership, store, booted_at=at)
        self.schedule = Schedule(
            store, settings.delay_levels, self.files.delays(), has_timer=settings.is_since((5, 0, 0))
        )
        self.faults = Faults()
        self.pulling = Pulling(self.core)
        self.sending = Sending(self.core, self.schedule, luck)
        self.relay = Relay(self.core)
        self.core.on_arrival = self.pulling.arrived
        self._kept_topics = -1
        self._slow_wakes_at: int | None = None
        self._serves: Mapping[type, Serve] = {
            **self.sending.serves,
            **self.pulling.serves,
            **Progress(self.core).serves,
            **Looking(self.core).serves,
            **Upkeep(self.core, self.schedule.offsets, self.faults.waiting).serves,
            **self.relay.serves,
            **Replies(self.core, self.sending, self.relay).serves,
            **Assignment(self.core, route_of).serves,
        }

    def _queue_start(self, topic: str, queue_id: int) -> QueueStart:
        store = self.core.store
        if not store.end(topic, queue_id):
            return QueueStart.EMPTY
        return QueueStart.REMOVED if store.begin(topic, queue_id) else QueueStart.IN_MEMORY

    def start(self, at: int) -> tuple[Effect | Ask | HandOn, ...]:
        """Begin; say when to be woken."""
        self.core.outbox.extend(self.membership.start(at))
        self._again(Timer.SCAN_PULLS, at + self.settings.scans_pulls_every_ms)
        self._again(Timer.KEEP, at + self.settings.keeps_offsets_every_ms)
        self._again(Timer.SAMPLE, at + SAMPLE_EVERY_MS)
        self._again(Timer.TRANSACTIONS, at + self.settings.transaction_interval_ms)
        self.sending.wake()
        return self._said()

    def stop(self) -> None:
        """End in order: everything is written down."""
        self.keep()
        self.core.store.close()

    def crash(self) -> None:
        """End as a process that is killed: what was not written down is lost."""
        self.core.store.crash()

    # ---- what it hears ----

    def handle(self, heard: Heard, at: int) -> tuple[Effect | Ask | HandOn, ...]:
        """Hear one event; ``at`` never goes back."""
        match heard:
            case Received():
                self._received(heard, at)
            case Woken(timer=timer):
                self._woken(timer, at)
            case Opened():
                self.core.outbox.extend(self.membership.handle(heard, at))
            case Closed(channel=channel):
                self._closed(channel, heard, at)
            case Answered() | Unanswered():
                self.relay.heard(heard)
        self._keep_topics()
        return self._said()

    def _said(self) -> tuple[Effect | Ask | HandOn, ...]:
        said = tuple(self.core.outbox)
        self.core.outbox.clear()
        return said

    def _closed(self, channel: Channel, heard: Closed, at: int) -> None:
        self.pulling.closed(channel)
        self.faults.forget(channel)
        self.core.outbox.extend(self.membership.handle(heard, at))

    # ---- requests ----

    def _received(self, received: Received, at: int) -> None:
        refused = self.faults.refuse(received.request)
        if refused is not None:
            self._respond(received, refused)
        elif self.faults.delay(received, at):
            self._wake_slow()
        else:
            self._serve(received, at)

    def _wake_slow(self) -> None:
        due = self.faults.next_due
        if due is not None and due != self._slow_wakes_at:
            self._slow_wakes_at = due
            self._again(Timer.SLOW, due)

    def _serve_delayed(self, at: int) -> None:
        self._slow_wakes_at = None
        for received in self.faults.due(at):
            if received.channel in self.membership.channels:
                self._serve(received, at)
        self._wake_slow()

    def _serve(self, received: Received, at: int) -> None:
        peer = self.membership.channels[received.channel]
        if (peer.language, peer.version) != (received.language, received.version):
            self.membership.introduce(received.channel, received.language, received.version)
        if self.membership.knows(received.request):
            self.core.outbox.extend(self.membership.handle(received, at))
            return
        response = self._answer(received, at)
        if response is not None:
            self._respond(received, response)

    def _answer(self, received: Received, at: int) -> Response | None:
        request = received.request
        serve = self._serves.get(type(request))
        if serve is None or not isinstance(request, Request):
            remark = f" request type {code_of(request)} not supported"
            return refuse(ResponseCode.REQUEST_CODE_NOT_SUPPORTED, remark)
        call = Call(
            channel=received.channel,
            request=request,
            token=received.token,
            caller=self.membership.channels[received.channel].address,
            language=received.language,
            version=received.version,
            at=at,
        )
        try:
            return serve(call, request)
        except (RemotingError, struct.error, ValueError, OverflowError, OSError) as error:
            # Whatever a client sent, the others are served; Java answers so too
            logger.exception("request %s of %s failed", type(request).__name__, call.caller)
            return refuse(ResponseCode.SYSTEM_ERROR, f"{type(error).__name__}: {error}")

    def _respond(self, received: Received, response: Response) -> None:
        if received.token is not None:
            self.core.outbox.append(Respond(channel=received.channel, token=received.token, response=response))

    # ---- time ----

    def _again(self, timer: Timer, at: int) -> None:
        self.core.outbox.append(WakeAt(at=at, timer=timer))

    def _woken(self, timer: object, at: int) -> None:
        if isinstance(timer, OfMembership):
            self.core.outbox.extend(self.membership.handle(Woken(timer=timer), at))
        elif timer is Timer.SCAN_PULLS:
            self.pulling.scan(at)
            self._again(Timer.SCAN_PULLS, at + self.settings.scans_pulls_every_ms)
        elif timer is Timer.KEEP:
            self.keep()
            self._again(Timer.KEEP, at + self.settings.keeps_offsets_every_ms)
        elif timer is Timer.SAMPLE:
            self.core.rates.sample(at)
            self._again(Timer.SAMPLE, at + SAMPLE_EVERY_MS)
        elif timer is Timer.TRANSACTIONS:
            self.sending.transactions.check(at)
            self._again(Timer.TRANSACTIONS, at + self.settings.transaction_interval_ms)
        elif timer is Timer.SLOW:
            self._serve_delayed(at)
        elif timer == DUE:
            self.sending.woken(at)
        else:
            raise ValueError(f"woken for {timer!r}, which this machine does not wait for")

    # ---- what is kept, and what name servers hear ----

    def keep(self) -> None:
        """Write down what changed."""
        self.files.keep(self.membership.memory())
        self.files.keep_delays(self.schedule.offsets())

    def _keep_topics(self) -> None:
        """Topics and groups are written down with each change of topics, as in Java."""
        if self.membership.topics.version != self._kept_topics:
            self._kept_topics = self.membership.topics.version
            self.keep()

    @property
    def topics_version(self) -> int:
        """Grows with every change of topics, and of what may be done with them."""
        return self.membership.topics.version + (self.core.permission << 48)

    def registration(self) -> RegisterBroker:
        """Say what a name server hears of this broker (``BrokerController.registerBrokerAll``)."""
        may = self.core.permission
        table: dict[str, TopicConfig] = dict(self.membership.topics.all())
        if may != topics.READ_WRITE:
            table = {name: topics.with_permission(config, may) for name, config in table.items()}
        wrapper = TopicConfigSerializeWrapper(topic_config_table=table)
        address = self.settings.membership.address
        host, _, port = address.rpartition(":")
        return RegisterBroker(
            broker_name=self.settings.membership.broker,
            broker_addr=address,
            cluster_name=self.settings.cluster,
            ha_server_addr=f"{host}:{int(port) + 1}",
            broker_id=0,
            body=RegisterBrokerBody(topic_config_serialize_wrapper=wrapper),
        )

    # ---- on demand ----

    def be_slow(self, delay_ms: int, at: int) -> tuple[Effect | Ask | HandOn, ...]:
        """Let every request wait so long from now on; 0 ends it, and serves what waits."""
        self.faults.delay_ms = delay_ms
        self._serve_delayed(at)
        return self._said()

    def put_topic(self, topic: str, queues: int) -> None:
        """Create a topic, or change its number of queues."""
        self.membership.put_topic(topics.make(self.settings, topic, queues))

    def check(self) -> None:
        """Hold all tables to their promises."""
        self.membership.check()
