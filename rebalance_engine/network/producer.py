"""A producer as Java's ``DefaultMQProducer`` is one, for any Python program.

    async with Producer("127.0.0.1:9876", avoids_faults=True) as producer:
        result = await producer.send(Message(topic="orders", body=b"...", tags="new", keys="4711"))

Which queue is next, what is tried again where, and which brokers are left alone for how long: all as the Java client of
``version`` does it. ``explain`` says what would come next, and a failure tells every attempt.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields
from types import TracebackType
from typing import Any, Self, Unpack, cast

from rebalance_engine.effects import Address, Heard, Opened
from rebalance_engine.events import Origin, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.checking import check_call, check_options, check_seconds, check_send, check_several
from rebalance_engine.network.driver import MachineBroke
from rebalance_engine.network.facts import MOST_KEPT, Following
from rebalance_engine.network.identity import MessageIds, client_id, is_ip, own_instance, own_ip
from rebalance_engine.network.options import DRAIN_S, VERSION, ProducerOptions, known_version
from rebalance_engine.network.outgoing import Message, Packing, Parcel, check_group, check_topic, pack, pack_batch
from rebalance_engine.network.presence import HEARTBEAT_MS, Presence
from rebalance_engine.network.process import Closed, Process
from rebalance_engine.network.reporter import reporter_of
from rebalance_engine.network.rewriting import name_servers_of
from rebalance_engine.network.sending import SendFailed, SendResult, result_of
from rebalance_engine.producer import Choice, Failed, Mode, Profile, Settings, Story, java
from rebalance_engine.producer import Producer as Machine
from rebalance_engine.producer.selectors import Selector, Unselectable, by_hash

MOST_UNDER_WAY = 1_024
DEFAULT_GROUP = "DEFAULT_PRODUCER"  # ``MixAll.DEFAULT_PRODUCER_GROUP``


class Producer:
    """One producer, from ``start`` to ``close``, or inside of ``async with``. It is started once.

    Args:
        name_servers: ``host:port;host:port``, or a list.
        group: ``producerGroup``; it matters for transactions and for who looks at the cluster.
        options: see :class:`~rebalance_engine.network.options.ProducerOptions`.

    Raises:
        TypeError: there is no such option, or something is of another kind.
        ValueError: an address or an option makes no sense.
    """

    def __init__(
        self, name_servers: str | Sequence[Address], group: str = DEFAULT_GROUP, **options: Unpack[ProducerOptions]
    ) -> None:
        options = check_options(options, ProducerOptions)
        check_group(group)
        self.group = group
        self._name_servers = name_servers_of(name_servers)
        self._options = options
        self._profile = _profile(options)
        self._packing = _packing(options)
        self._process = Process(
            f"producer of group {group!r}",
            network=options.get("network"),
            on_fact=options.get("on_fact"),
            reporter=lambda complaints: reporter_of(options, group, complaints),
            on_broke=self._on_broke,
        )
        self._machine: Machine | None = None
        self._ids = MessageIds("127.0.0.1")
        self._client_id = ""
        self._under_way: dict[int, asyncio.Future[Story]] = {}
        self._room = asyncio.Semaphore(options.get("most_under_way", MOST_UNDER_WAY))
        self._finding: dict[str, asyncio.Event] = {}
        self._is_closing = False
        self._idle = asyncio.Event()
        self._presence: Presence | None = None

    # ---- its life ----

    async def start(self) -> None:
        """Begin; name servers are asked when the first message is sent.

        Raises:
            OSError: a file of the TLS settings is not what it should be.
            RuntimeError: it was started before.
        """
        if self._machine is not None:
            raise RuntimeError(f"the {self._process.name} was started before; make another one")
        ip = self._options.get("ip") or own_ip(self._name_servers)
        self._client_id = client_id(self._name_servers, self._options.get("instance") or own_instance(), ip)
        self._ids = MessageIds(ip if is_ip(ip) else own_ip(self._name_servers))
        machine = Machine(
            self._profile,
            _settings(self.group, self._client_id, self._name_servers, self._options),
            luck=random.Random(),  # noqa: S311  # it spreads messages over queues
            source=Source(origin=Origin.AGENT_REPORT, client=self._client_id),
        )
        self._machine = machine
        self._process.open(self._react, {})
        self._process.do(machine.start)
        every_ms = self._options.get("heartbeat_every_ms", HEARTBEAT_MS)
        self._presence = Presence(self._process, self.group, self._client_id, machine.desk.book.masters, every_ms)
        self._presence.begin()

    async def close(self, drain_s: float | None = None) -> None:
        """Wait for what is under way, say good-bye to the brokers, and close the connections.

        Args:
            drain_s: how long to wait; by default the option of this name. What has no answer by then raises Closed.

        Raises:
            TypeError, ValueError: that is no time.
        """
        wait_s = check_seconds("drain_s", drain_s, self._options.get("drain_s", DRAIN_S))
        if self._presence is None or self._is_closing:
            return
        self._is_closing = True
        if self._under_way and self._process.is_open:
            await self._process.until(self._idle, wait_s)
        self._fail(Closed(f"the {self._process.name} was closed before the answer; the message may be stored"))
        try:
            await self._presence.end()
        finally:
            await self._process.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _on_broke(self, error: MachineBroke) -> None:
        self._fail(error)

    def _fail(self, error: Exception) -> None:
        under_way, self._under_way = self._under_way, {}
        for future in under_way.values():
            if not future.done():
                future.set_exception(error)

    # ---- sending ----

    async def send(
        self,
        message: Message,
        *,
        queue: MessageQueue | None = None,
        selector: Selector | None = None,
        timeout_ms: int | None = None,
    ) -> SendResult:
        """Send a message and wait until it is stored; another broker is tried where one fails.

        Args:
            queue: store it there, and try nowhere else.
            selector: takes the topic's queues and gives one; a message with a sharding key has one already.
            timeout_ms: for all attempts together; by default the option ``send_timeout_ms``.

        Raises:
            BadMessage: no broker would take it.
            SendFailed: it was not stored, as far as is known.
            TypeError, ValueError: a queue, a selector or a time is none.
            Closed, MachineBroke: the producer is not running.
        """
        queue, timeout_ms = check_send(queue, timeout_ms, selector)
        parcel = pack(message, self._ids.next(self._now()), self._packing)
        to = _where(message, queue, selector)
        return result_of(parcel, await self._carry(parcel, Mode.SYNC, to, timeout_ms))

    async def send_batch(
        self, messages: Iterable[Message], *, queue: MessageQueue | None = None, timeout_ms: int | None = None
    ) -> SendResult:
        """Send messages of one topic together, into one queue, one after the other.

        Raises:
            BadMessage: no broker would take them so.
            SendFailed, TypeError, ValueError, Closed, MachineBroke: as for ``send``.
        """
        queue, timeout_ms = check_send(queue, timeout_ms)
        several = cast("tuple[Message, ...]", check_several("messages", messages, "Message"))
        parcel = pack_batch(several, self._ids, self._now(), self._packing)
        return result_of(parcel, await self._carry(parcel, Mode.SYNC, queue, timeout_ms))

    async def send_oneway(
        self, message: Message, *, queue: MessageQueue | None = None, selector: Selector | None = None
    ) -> str:
        """Send a message without waiting for an answer, and give its id; nobody will know whether it arrived.

        Raises:
            BadMessage: no broker would take it.
            SendFailed: it could not even be sent.
            TypeError, ValueError, Closed, MachineBroke: as for ``send``.
        """
        queue, _ = check_send(queue, None, selector)
        parcel = pack(message, self._ids.next(self._now()), self._packing)
        story = await self._carry(parcel, Mode.ONEWAY, _where(message, queue, selector), None)
        if isinstance(story.result, Failed):
            raise SendFailed(story.result, story)
        return parcel.message_ids[0]

    async def _carry(
        self, parcel: Parcel, mode: Mode, to: MessageQueue | Selector | None, timeout_ms: int | None
    ) -> Story:
        is_first = await self._let_the_first_look(parcel.message.topic)
        try:
            return await self._call(parcel, mode, to, timeout_ms)
        finally:
            if is_first:
                self._note_found(parcel.message.topic)

    async def _let_the_first_look(self, topic: str) -> bool:
        """Wait while another call finds out where the topic is; say whether this one has to.

        Each of Java's threads would ask the name server, one after the other; a thousand calls begun at once would run
        out of time before the last had asked.
        """
        if self._knows(topic):
            return False
        finding = self._finding.get(topic)
        if finding is None:
            self._finding[topic] = asyncio.Event()
            return True
        await finding.wait()
        return False

    def _knows(self, topic: str) -> bool:
        info = self._running.desk.book.info(topic)
        return info is not None and info.has_queues

    def _note_found(self, topic: str) -> None:
        finding = self._finding.pop(topic, None)
        if finding is not None:
            finding.set()

    async def _call(
        self, parcel: Parcel, mode: Mode, to: MessageQueue | Selector | None, timeout_ms: int | None
    ) -> Story:
        async with self._room:
            machine = self._running
            future: asyncio.Future[Story] = asyncio.get_running_loop().create_future()

            def begin(at: int) -> Iterable[object]:
                try:
                    sending = machine.send(parcel.message, at, mode=mode, to=to, timeout_ms=timeout_ms)
                except Exception as error:
                    future.set_exception(error)
                    raise
                self._under_way[sending.number] = future
                self._deliver_ended()
                return sending.effects

            self._process.do(begin)
            return await future

    def _react(self, heard: Heard, at: int) -> Iterable[object]:
        machine = self._machine
        assert machine is not None
        effects = machine.handle(heard, at)
        self._deliver_ended()
        for topic in [topic for topic in self._finding if self._knows(topic)]:
            self._note_found(topic)
        if isinstance(heard, Opened) and self._presence is not None:
            self._presence.greet(heard.address)
        return effects

    def _deliver_ended(self) -> None:
        assert self._machine is not None
        for story in self._machine.take_finished():
            future = self._under_way.pop(story.number, None)
            if future is not None and not future.done():
                future.set_result(story)
        if not self._under_way:
            self._idle.set()
        else:
            self._idle.clear()

    def _now(self) -> int:
        if self._is_closing:
            raise Closed(f"the {self._process.name} is closing")
        return self._process.now

    # ---- what it can tell ----

    def explain(self, topic: str) -> Choice:
        """Say which queue the next message to a topic would go to, and why; nothing changes by it.

        Raises:
            TypeError, ValueError: it is no topic.
            Closed: it was not started.
        """
        check_topic(topic)
        return self._running.explain(topic, self._process.now)

    def address_of(self, broker: str | None) -> Address | None:
        """Say where a broker's master is, as far as is known.

        Raises:
            TypeError: it is no name.
            Closed: it was not started.
        """
        check_call(broker=broker)
        return self._running.desk.book.master_of(broker)

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``."""
        return self._client_id

    @property
    def troubles(self) -> tuple[str, ...]:
        """What keeps it from sending now, a sentence each: who does not answer or refuses, which topic is missing."""
        return self._process.complaints.now

    @property
    def past_troubles(self) -> tuple[str, ...]:
        """What was wrong when it was last tried, 10 min ago or more: whether it still would be is not known."""
        return self._process.complaints.past

    def facts(self, most_kept: int = MOST_KEPT) -> Following:
        """Follow what it states about itself from now on: latencies, brokers left alone and taken back."""
        return self._process.follow(most_kept)

    @property
    def _running(self) -> Machine:
        if self._machine is None:
            raise Closed(f"the {self._process.name} is not running: it was not started, or it is closed")
        return self._machine


# ---- what was set ----


def _profile(options: ProducerOptions) -> Profile:
    version = options.get("version", VERSION)
    return java(known_version(version, "4.2.0")) if isinstance(version, str) else version


def _packing(options: ProducerOptions) -> Packing:
    given: dict[str, Any] = {
        name: value for name, value in options.items() if name in {"compression", "compress_from", "max_size"}
    }
    return Packing(**given)


def _settings(group: str, client: str, name_servers: tuple[Address, ...], options: ProducerOptions) -> Settings:
    known = {field.name for field in fields(Settings)} & ProducerOptions.__annotations__.keys()
    given: dict[str, Any] = {name: value for name, value in options.items() if name in known}
    if "routes_every_ms" in options:
        given["route_every_ms"] = options["routes_every_ms"]
    return Settings(group=group, client=client, name_servers=name_servers, **given)


# ---- where to, and what came of it ----


def _where(message: Message, queue: MessageQueue | None, selector: Selector | None) -> MessageQueue | Selector | None:
    if queue is not None:
        return queue
    if selector is not None:
        return _guarded(selector)
    return by_hash(message.sharding_key) if message.sharding_key else None


def _guarded(selector: Callable[[Sequence[MessageQueue]], MessageQueue]) -> Selector:
    """Keep what an application's selector does to its own call."""

    def select(queues: Sequence[MessageQueue]) -> MessageQueue:
        try:
            chosen = selector(queues)
        except Exception as error:
            raise Unselectable(f"the selector raised {error!r}") from error
        if not isinstance(chosen, MessageQueue):
            raise Unselectable(f"the selector gave {chosen!r}; needed is one of the {len(queues)} queues")
        return chosen

    return select
