"""The demo on sockets: carries out what script and people say, with real clients on an embedded cluster."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from dashboard.demo.orders import BadOrder, Order, act_of
from dashboard.demo.reel import Reel
from dashboard.demo.script import Act, Disband, Down, Go, Going, Join, Recover, Resume, Script, Slow, Stall
from dashboard.demo.sends import Sends
from dashboard.demo.shop import BROKERS, CASTS, IP, SENDERS, TOPICS, Cast, Sender, cast_of
from rebalance_engine.embedded.cluster import Cluster, ClusterSettings
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.events import Fact
from rebalance_engine.network import ConsumeFromWhere, Consumer, Message, Producer, ReceivedMessage, SendFailed

logger = logging.getLogger(__name__)

MIB = 2**20
SILENT_FOR_S = 150.0  # brokers give up after 120; then its connections may go
LEAVING_S = 2.0
PATIENCE_S = 20.0  # for one act
TRY_AGAIN_MS = 3_000  # a broker that could not come back yet
PREPARING_S = 3_600.0  # a start that takes longer is none
PERSON, WATCHER = "person", "watcher"
AUDIENCE = frozenset({PERSON, WATCHER})  # a page can be opened, and what happens is seen
CLUSTER_NAME = "demo"


@dataclass(slots=True)
class Member:
    """A consumer that plays."""

    name: str
    consumer: Consumer
    goes_on: asyncio.Event = field(default_factory=asyncio.Event)

    def __post_init__(self) -> None:
        """Begin with a listener that does not hang."""
        self.goes_on.set()


@dataclass(frozen=True, slots=True)
class Done:
    """What came of an act: a sentence, and the client ids that it changed."""

    detail: str
    clients: tuple[str, ...] = ()


class Stage:
    """A cluster and its cast, from ``async with`` until its end.

    Args:
        directory: keeps the messages.
        port: of the name server; 0 any.
        luck: decides what happens.
        waits_s: how long the play waits for the rest of its audience (``seat``) once a page can be opened, before it
            begins without; for the page itself it waits much longer. 0: for nobody.
    """

    def __init__(self, directory: Path, port: int = 0, luck: Random | None = None, *, waits_s: float = 0.0) -> None:
        self.reel = Reel()
        self.cluster = Cluster(
            ClusterSettings(
                brokers=len(BROKERS),
                topics=TOPICS,
                directory=directory / "brokers",
                port=port,
                cluster=CLUSTER_NAME,
                broker=EmbeddedSettings(max_log_bytes=64 * MIB, segment_bytes=8 * MIB),
            )
        )
        self._directory = directory
        self._luck = luck or Random()  # noqa: S311 # it plays
        self._members: dict[str, dict[str, Member]] = {cast.group: {} for cast in CASTS}
        self._numbers: dict[str, int] = {}
        self._sends = Sends()
        self._silent: set[asyncio.Task[None]] = set()
        self._script: Script | None = None
        self._waits_s = waits_s
        self._seated: set[str] = set()
        self._has_page, self._has_audience = asyncio.Event(), asyncio.Event()
        self._changed = asyncio.Event()
        self._acting = asyncio.Lock()

    # ---- its life ----

    async def run(self, on_ready: Callable[[], Awaitable[None]]) -> None:
        """Play until cancelled; ``on_ready`` is called once clients can join."""
        async with self.cluster:
            try:
                async with asyncio.TaskGroup() as tasks:
                    tasks.create_task(self.cluster.run(), name="cluster")
                    await on_ready()
                    for sender in SENDERS:
                        tasks.create_task(self._send(sender), name=f"send {sender.group}")
                    await asyncio.gather(*(self._join(cast) for cast in CASTS for _ in range(cast.first)))
                    await self._wait_for_audience()
                    self._script = Script(self._now(), self._luck)
                    await self._play(self._script)
            finally:
                await self._clear()

    def seat(self, who: str) -> None:
        """Hear that one of ``AUDIENCE`` is there; the play begins once all are."""
        self._seated.add(who)
        if who == PERSON:
            self._has_page.set()
        if self._seated >= AUDIENCE:
            self._has_audience.set()

    async def _wait_for_audience(self) -> None:
        if not self._waits_s:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PREPARING_S):
                await self._has_page.wait()  # the first minute is for who opens it, however slow the start is
            async with asyncio.timeout(self._waits_s):
                await self._has_audience.wait()

    async def _clear(self) -> None:
        """Let everybody leave in order, as far as that is quick."""
        silent, self._silent = self._silent, set()
        for task in silent:
            task.cancel()
        members = [member for group in self._members.values() for member in group.values()]
        for member in members:
            member.goes_on.set()
        ends = [member.consumer.close(drain_s=0.2) for member in members]
        try:
            async with asyncio.timeout(LEAVING_S):
                await asyncio.gather(*ends, *silent, return_exceptions=True)
        except TimeoutError:
            await asyncio.gather(*(member.consumer.abandon() for member in members), return_exceptions=True)

    def _now(self) -> int:
        return int(asyncio.get_running_loop().time() * 1_000)

    @property
    def has_begun(self) -> bool:
        """Whether the play goes on, and waits for nobody any more."""
        return self._script is not None

    @property
    def members(self) -> Mapping[str, Sequence[str]]:
        """Of each group, the names of the members that live, in the order in which they came."""
        return {group: tuple(there) for group, there in self._members.items()}

    async def _play(self, script: Script) -> None:
        while True:
            for act in script.due(self._now(), self.members):
                try:
                    done = await self.perform(act)
                except (BadOrder, OSError, RuntimeError, TimeoutError) as error:
                    logger.warning("%s did not happen: %s", act, reason_of(error))
                else:
                    logger.info("%s", done.detail)
            self._changed.clear()
            try:
                async with asyncio.timeout(max(0.0, script.next_at - self._now()) / 1_000):
                    await self._changed.wait()
            except TimeoutError:
                pass  # something is due

    # ---- what people order ----

    async def obey(self, order: Order) -> Done:
        """Carry out an order of a person.

        Raises:
            BadOrder: it makes no sense here.
            OSError, RuntimeError, TimeoutError: it did not work.
        """
        act = act_of(order, self.members)
        if self._script is not None:
            self._script.leave_alone(order.group, self._now())  # nothing comes between
        done = await self.perform(act)
        if self._script is not None:
            lasts = act.for_ms if isinstance(act, Stall) else 0
            self._script.leave_alone(order.group, self._now() + lasts)
            if isinstance(act, Slow | Down):
                self._script.note_trouble(self._now() + act.for_ms)
        logger.info("ordered: %s", done.detail)
        return done

    async def perform(self, act: Act) -> Done:
        """Carry out an act; one at a time.

        Raises:
            BadOrder: it makes no sense any more.
            OSError, RuntimeError, TimeoutError: it did not work.
        """
        async with self._acting, asyncio.timeout(PATIENCE_S):
            return await self._carry_out(act)

    async def _carry_out(self, act: Act) -> Done:
        match act:
            case Join(group):
                done = await self._join(_cast(group))
            case Go(group, how, name):
                done = await self._go(self._find(group, name, default=-1), group, how)
            case Disband(group):
                done = await self._disband(group)
            case Stall(group, for_ms, name):
                done = self._stall(self._find(group, name, default=0), group, for_ms)
            case Resume(group, name):
                done = self._resume(group, name)
            case Slow(broker, delay_ms, for_ms):
                self.cluster.broker(broker).be_slow(delay_ms)
                done = Done(f"{broker} answers {delay_ms} ms late, for {for_ms // 1_000} s")
                self._later(for_ms, Recover(broker))
            case Down(broker, for_ms):
                await self.cluster.broker(broker).kill()
                done = Done(f"{broker} is down, for {for_ms // 1_000} s")
                self._later(for_ms, Recover(broker))
            case Recover(broker):
                done = await self._recover(broker)
        return done

    def _later(self, after_ms: int, act: Act) -> None:
        if self._script is not None:
            self._script.add(self._now() + after_ms, act)
            self._changed.set()

    def _find(self, group: str, name: str | None, *, default: int) -> Member:
        there = self._members[group]
        if name is None and there:
            return list(there.values())[default]
        if name is None or name not in there:
            raise BadOrder(f"{group} has no member {name or ''} that lives")
        return there[name]

    # ---- members ----

    async def _join(self, cast: Cast) -> Done:
        number = self._numbers[cast.group] = self._numbers.get(cast.group, 0) + 1
        name = cast.member(number)
        member = self._member(cast, name, number)
        await member.consumer.start()
        self._members[cast.group][name] = member
        return Done(f"{name} joins {cast.group}", (member.consumer.client_id,))

    def _member(self, cast: Cast, name: str, number: int) -> Member:
        goes_on = asyncio.Event()

        async def work(_message: ReceivedMessage) -> None:
            await goes_on.wait()
            await asyncio.sleep(cast.work_ms / 1_000 * self._luck.uniform(0.5, 1.5))

        config = {f"{IP}@{who}": queues for who, queues in (cast.config or {}).items()}
        consumer = Consumer(
            self.cluster.namesrv,
            cast.group,
            dict.fromkeys(cast.topics, cast.tags),
            work,
            instance=name,
            ip=IP,
            strategy=cast.strategy(number),
            strategy_params={"config": config} if cast.config is not None else {},
            orderly=cast.orderly,
            model=cast.model,
            from_where=ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
            threads=4,
            queue_messages=64,
            on_fact=self._note,
            offsets_dir=self._directory / "offsets",
        )
        return Member(name, consumer, goes_on)

    def _note(self, fact: Fact) -> None:
        """Keep a fact; sends that went well are counted for a second."""
        for told in self._sends.put(fact):
            self.reel.put(told)

    async def _go(self, member: Member, group: str, how: Going) -> Done:
        del self._members[group][member.name]
        client = member.consumer.client_id
        member.goes_on.set()
        if how is Going.LEAVES:
            await member.consumer.close(drain_s=1.0)
            return Done(f"{member.name} leaves {group}", (client,))
        if how is Going.CRASHES:
            await member.consumer.abandon()
            return Done(f"{member.name} of {group} crashes", (client,))
        await member.consumer.abandon(keeps_connections=True)
        task = asyncio.create_task(self._bury(member), name=f"silence of {member.name}")
        self._silent.add(task)
        task.add_done_callback(self._silent.discard)
        return Done(f"{member.name} of {group} falls silent; brokers notice after two minutes", (client,))

    async def _bury(self, member: Member) -> None:
        try:
            await asyncio.sleep(SILENT_FOR_S)
        finally:
            await member.consumer.abandon()

    async def _disband(self, group: str) -> Done:
        members = list(self._members[group].values())
        for member in members:
            await self._go(member, group, Going.LEAVES)
        return Done(f"all members leave {group}")

    def _stall(self, member: Member, group: str, for_ms: int) -> Done:
        member.goes_on.clear()
        self._later(for_ms, Resume(group, member.name))
        return Done(f"{member.name} of {group} stalls, for {for_ms // 1_000} s", (member.consumer.client_id,))

    def _resume(self, group: str, name: str) -> Done:
        member = self._members[group].get(name)
        if member is None:
            return Done(f"{name} of {group} is gone meanwhile")
        member.goes_on.set()
        return Done(f"{name} of {group} works again", (member.consumer.client_id,))

    # ---- brokers and producers ----

    async def _recover(self, name: str) -> Done:
        broker = self.cluster.broker(name)
        if broker.is_up:
            broker.be_well()
            return Done(f"{name} is well again")
        try:
            await broker.start()
        except OSError:
            self._later(TRY_AGAIN_MS, Recover(name))
            raise
        return Done(f"{name} is back")

    async def _send(self, sender: Sender) -> None:
        number = 0
        async with Producer(
            self.cluster.namesrv,
            sender.group,
            instance=sender.group,
            ip=IP,
            avoids_faults=True,
            on_fact=self._note,
        ) as producer:
            while True:
                number += 1
                await self._send_one(producer, sender, number)
                await asyncio.sleep(sender.every_ms / 1_000)

    async def _send_one(self, producer: Producer, sender: Sender, number: int) -> None:
        body = {"topic": sender.topic, "number": number, "amount": self._luck.randint(1, 500)}
        message = Message(
            topic=sender.topic,
            body=json.dumps(body).encode(),
            tags=self._luck.choice(sender.tags),
            keys=f"{sender.topic}-{number}",
            sharding_key=f"customer-{number % 50}" if sender.has_keys else None,
        )
        try:
            await producer.send(message)
        except SendFailed as failed:
            logger.debug("%s could not send: %s", sender.group, failed)


def reason_of(error: Exception) -> str:
    """Say why an act did not happen; some errors have no words of their own."""
    words = str(error).strip()
    if not words and isinstance(error, TimeoutError):
        return f"it took longer than {PATIENCE_S:g} s"
    return words or type(error).__name__


def _cast(group: str) -> Cast:
    cast = cast_of(group)
    if cast is None:
        raise BadOrder(f"there is no group {group!r}")
    return cast
