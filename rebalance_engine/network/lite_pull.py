"""A consumer that asks for messages when it wants them, as Java's ``DefaultLitePullConsumer``.

    async with LitePullConsumer("127.0.0.1:9876", "billing", "orders") as consumer:
        while True:
            for message in await consumer.poll():
                await book(message.body)

What is assigned is pulled ahead. With ``auto_commit_ms`` (5 s by default) a poll notes now and then that all polled
before it is consumed; without, or to be sure, ``commit`` does. Without topics the application names its queues:

    async with LitePullConsumer("127.0.0.1:9876", "audit") as consumer:
        consumer.assign(await consumer.queues("orders"))
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self, Unpack

from rebalance_engine.consumer import Assign, Commit, Mode, Poll, Polled, Resume, Seek, Suspend
from rebalance_engine.effects import Address
from rebalance_engine.model import MessageQueue, sort_queues
from rebalance_engine.network.checking import check_offset, check_options, check_queue, check_queues, check_seconds
from rebalance_engine.network.facts import MOST_KEPT, Following
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.membership import Membership, group_settings
from rebalance_engine.network.options import ConsumerOptions, Topics, topics_of
from rebalance_engine.network.outgoing import check_topic
from rebalance_engine.network.polls import Polls
from rebalance_engine.network.process import Closed, Process
from rebalance_engine.network.received import ReceivedMessage
from rebalance_engine.network.reporter import reporter_of
from rebalance_engine.network.rewriting import name_servers_of
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse


class NoSuchTopic(Exception):
    """No name server knows the topic; the message has its words."""


class LitePullConsumer:
    """One polling consumer of one group, from ``start`` to ``close``, or inside of ``async with``.

    Args:
        topics: what the group's rebalance gives queues of; none: ``assign`` says which queues.
        options: see :class:`~rebalance_engine.network.options.ConsumerOptions`; those of listeners do not apply.

    Raises:
        TypeError: there is no such option, or something is of another kind.
        ValueError: a name, an address or an option makes no sense; an unknown strategy too.
    """

    def __init__(
        self,
        name_servers: str | Sequence[Address],
        group: str,
        topics: Topics = (),
        **options: Unpack[ConsumerOptions],
    ) -> None:
        options = check_options(options, ConsumerOptions)
        self._name_servers = name_servers_of(name_servers)
        by_topic = topics_of(topics)
        mode = Mode.PULL if by_topic else Mode.ASSIGN
        self._options = options
        self._polls = Polls(
            lambda: self._running.member.polling,
            lambda timeout_ms: self._running.order(Poll(self.group, timeout_ms)),
            lambda: self._running.order(Commit(self.group, only_if_due=True)),
        )
        self._process = Process(
            f"lite pull consumer of group {group!r}",
            network=options.get("network"),
            on_fact=options.get("on_fact"),
            reporter=lambda complaints: reporter_of(options, group, complaints),
            on_broke=self._polls.end,
        )
        self._settings = group_settings(group, by_topic, mode, options, self._process.complaints)
        self._membership: Membership | None = None

    # ---- its life ----

    async def start(self) -> None:
        """Join the group.

        Raises:
            OSError: a file of the TLS settings is not what it should be.
            SubscriptionRefused: a broker does not understand an SQL expression.
            Closed: it was closed meanwhile.
            RuntimeError: it was started before.
        """
        if self._membership is not None:
            raise RuntimeError(f"the {self._process.name} was started before; make another one")
        self._membership = Membership(self._name_servers, self._settings, self._options, self._process)
        await self._membership.start({Polled: self._polls.take})

    async def close(self) -> None:
        """Leave the group: store what was committed, unregister. A poll that waits gets nothing."""
        if self._membership is not None:
            await self._membership.stop()
            self._polls.end()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # ---- messages ----

    async def poll(self, timeout_s: float = 5.0) -> tuple[ReceivedMessage, ...]:
        """Give the next messages of one queue, or none when the time is over.

        Polls go one after the other, each in its own time. One that is cancelled loses nothing: the next one has what
        it was to get, and until then no commit counts that.

        Raises:
            TypeError, ValueError: the time is none.
            Closed, MachineBroke: it is not running.
        """
        timeout_s = check_seconds("timeout_s", timeout_s)
        self._running  # noqa: B018  # raises where it is not running
        polled = await self._polls.next(timeout_s)
        if polled is None or polled.queue is None:
            return ()
        queue = polled.queue
        return tuple(ReceivedMessage(queue, message) for message in polled.messages)

    def assign(self, queues: Iterable[MessageQueue] | Mapping[MessageQueue, int]) -> None:
        """Take these queues and no others, whoever else has them; of a mapping, go on at the offset of each.

        Raises:
            RuntimeError: it has topics, whose queues the rebalance gives.
            TypeError, ValueError: these are no queues, or no offsets.
        """
        given = check_queues("queues", queues)
        offsets = _offsets(given, queues)
        if self._settings.mode is not Mode.ASSIGN:
            raise RuntimeError(f"the {self._process.name} has topics; only one without can be assigned queues")
        self._running.order(Assign(self.group, given, offsets))
        held = self._running.member.polling.positions
        for queue, offset in offsets:
            if queue in held:  # else it is taken once what was given up is stored, and no poll has seen it
                self._polls.sought(queue, offset)

    async def queues(self, topic: str) -> list[MessageQueue]:
        """Ask where a topic is: its readable queues, sorted.

        Raises:
            NoSuchTopic: no name server knows it.
            NoAnswer: none answers.
            TypeError, ValueError: it is no topic.
        """
        check_topic(topic)
        transport = self._process.driver.transport
        last: Exception | None = None
        for address in self._name_servers:
            try:
                answer = await transport.request(
                    address, GetRouteInfoByTopic(topic=topic, accept_standard_json_only=True)
                )
            except NoAnswer as error:
                last = error
                continue
            if not isinstance(answer, GetRouteInfoByTopicResponse):
                raise NoSuchTopic(f"{address}: {answer.remark or answer.code}")
            rows = [row for row in answer.body.queue_datas if row.is_readable]
            return sort_queues(
                MessageQueue(topic, row.broker_name, number) for row in rows for number in range(row.read_queue_nums)
            )
        assert last is not None, "there is a name server at least"
        raise last

    def seek(self, queue: MessageQueue, offset: int) -> None:
        """Go on at an offset; what was pulled before is thrown away.

        Raises:
            ValueError: the queue is not assigned, or the offset is negative or larger than any.
            TypeError: one of them is something else.
        """
        queue, offset = check_queue("queue", queue), check_offset("offset", offset)
        if queue not in self._running.member.polling.positions:
            raise ValueError(f"{queue} is not assigned; there are {', '.join(map(str, self.held)) or 'none'}")
        self._running.order(Seek(self.group, queue, offset))
        self._polls.sought(queue, offset)

    def commit(self) -> None:
        """Say that all that polls returned is consumed; it is stored within ``persist_every_ms``, and by a close."""
        self._running.order(Commit(self.group))

    # ---- what it is and holds ----

    @property
    def client_id(self) -> str:
        """What brokers know it by, ``ip@instance``.

        Raises:
            Closed: it was not started.
        """
        return self._running.client_id

    @property
    def group(self) -> str:
        """Its group."""
        return self._settings.group

    @property
    def held(self) -> tuple[MessageQueue, ...]:
        """The queues that are assigned to it now, sorted."""
        return self._membership.held() if self._membership is not None else ()

    @property
    def troubles(self) -> tuple[str, ...]:
        """What keeps it from messages now, a sentence each: who does not answer or refuses, which topic is missing."""
        return self._process.complaints.now

    @property
    def past_troubles(self) -> tuple[str, ...]:
        """What was wrong when it was last tried, 10 min ago or more: whether it still would be is not known."""
        return self._process.complaints.past

    def facts(self, most_kept: int = MOST_KEPT) -> Following:
        """Follow what it states about itself from now on."""
        return self._process.follow(most_kept)

    def suspend(self) -> None:
        """Stop pulling; what was pulled can be polled."""
        self._running.order(Suspend(self.group))

    def resume(self) -> None:
        """Pull again."""
        self._running.order(Resume(self.group))

    @property
    def _running(self) -> Membership:
        if self._membership is None or not self._process.is_open:
            if self._process.broke is not None:
                raise self._process.broke
            raise Closed(f"the {self._process.name} is not running: it was not started, or it is closed")
        return self._membership


def _offsets(given: Sequence[MessageQueue], queues: object) -> tuple[tuple[MessageQueue, int], ...]:
    """Give the offsets of a mapping, checked; none of what is no mapping."""
    if not isinstance(queues, Mapping):
        return ()
    told = (check_offset(f"offset of {queue}", offset) for queue, offset in zip(given, queues.values(), strict=True))
    return tuple(zip(given, told, strict=True))
