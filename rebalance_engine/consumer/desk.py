"""What all threads of one client share: its consumers, routes, settings, luck, and the way to brokers.

Source: ``client/.../impl/factory/MQClientInstance.java``.
"""

from __future__ import annotations

import random
from typing import TYPE_CHECKING, TypeVar

from rebalance_engine.consumer.messages import PopReader, Reader
from rebalance_engine.consumer.profiles import Profile
from rebalance_engine.consumer.routes import RouteBook
from rebalance_engine.consumer.settings import ClientSettings
from rebalance_engine.consumer.threads import Bell, Code, Lock, Scheduler, Sleep, Take, ask
from rebalance_engine.effects import Address, Failure, SendOneway, State
from rebalance_engine.events import Fact, Source
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse

if TYPE_CHECKING:
    from rebalance_engine.consumer.member import Member

R = TypeVar("R", bound=Response)
ROUTE_TIMEOUT = 3_000  # ms, of the request and of its lock (``LOCK_TIMEOUT_MILLIS``)


class Desk:
    """The one place that threads of a client share.

    Attributes:
        members: group -> the consumer of it that lives here.
        leaving: how many consumers are being shut down.
        bell: wakes the rebalance thread.
        round_lock: held while a rebalance runs.
        fingerprints: address -> that of the heartbeat which this broker last took as known, and
        second_versions: the brokers that understand heartbeats without subscriptions.
        heartbeat_lock: held while heartbeats are sent; whoever else wants to skips his, or waits
            (``waits_to_heartbeat``).
        unheard: the brokers that gave no answer in the last turn of heartbeats, nor in the turns that waited for it.
    """

    def __init__(
        self,
        profile: Profile,
        settings: ClientSettings,
        *,
        luck: random.Random,
        source: Source,
        read: Reader,
        read_popped: PopReader,
    ) -> None:
        self.profile = profile
        self.settings = settings
        self.luck = luck
        self.source = source
        self.read = read
        self.read_popped = read_popped
        self.threads = Scheduler()
        self.routes = RouteBook(knows_static_topics=profile.knows_static_topics)
        self.members: dict[str, Member] = {}
        self.leaving = 0
        self.bell = Bell()
        self.round_lock = Lock()
        self.heartbeat_lock = Lock()
        self.unheard: set[Address] = set()
        self.fingerprints: dict[Address, int] = {}
        self.second_versions: set[Address] = set()
        self._route_lock = Lock()
        self._name_server = luck.randrange(len(settings.name_servers)) if len(settings.name_servers) > 1 else 0

    @property
    def at(self) -> int:
        """The time, in ms."""
        return self.threads.at

    @property
    def version(self) -> int:
        """The version of a subscription that is made now."""
        return self.at * self.profile.version_unit

    @property
    def client_id(self) -> str:
        """Who we are."""
        return self.settings.client_id

    def state(self, fact: Fact) -> None:
        """State a fact."""
        self.threads.out.append(State(fact=fact))

    def send_oneway(self, to: Address, request: object) -> None:
        """Send and forget."""
        self.threads.out.append(SendOneway(to=to, request=request))

    def wake(self) -> None:
        """Wake the rebalance thread (``rebalanceImmediately``)."""
        self.threads.ring(self.bell)

    def wake_in(self, ms: int) -> None:
        """Wake it after a while (``rebalanceLater``)."""
        self.threads.spawn(self._wake_later(ms))

    def _wake_later(self, ms: int) -> Code[None]:
        yield Sleep(ms)
        self.wake()

    # ---- routes ----

    def refresh_route(self, topic: str) -> Code[None]:
        """Ask a name server where a topic is (``updateTopicRouteInfoFromNameServer``); no answer changes nothing."""
        if not (yield Take(self._route_lock, ROUTE_TIMEOUT)):
            return
        try:
            answer = yield from self._ask_name_server(topic)
            if isinstance(answer, GetRouteInfoByTopicResponse):
                self.routes.learn(topic, answer.body)
        finally:
            self.threads.release(self._route_lock)

    def _ask_name_server(self, topic: str) -> Code[GetRouteInfoByTopicResponse | Refused | Failure]:
        servers = self.settings.name_servers
        request = GetRouteInfoByTopic(topic=topic, accept_standard_json_only=True)
        answer = yield from ask(servers[self._name_server % len(servers)], request, ROUTE_TIMEOUT)
        if isinstance(answer, Failure):
            self._name_server += 1
        return answer

    # ---- brokers ----

    def master_of(self, mq: MessageQueue) -> Code[Address | None]:
        """Find the master of a queue, refreshing its route if there is none."""
        address = self.routes.master(self.routes.broker_of(mq))
        if address is None:
            yield from self.refresh_route(mq.topic)
            address = self.routes.master(self.routes.broker_of(mq))
        return address

    def ask_master(self, mq: MessageQueue, request: Request[R], timeout_ms: int) -> Code[R | Refused | Failure]:
        """Ask the master of a queue."""
        address = yield from self.master_of(mq)
        if address is None:
            return Failure.NOT_CONNECTED
        return (yield from ask(address, request, timeout_ms))
