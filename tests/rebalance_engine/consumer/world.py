"""Clients among brokers in memory, told by transcripts: verbs, ``----``, what happened.

    topic orders east=2 west=2        the route that the name server answers; without queues it knows the topic no more
    static orders 3 east=0,2 west=1   a static topic of three logical queues, and which broker hosts which
    client A java 5.3.1               a client; ``cpp``, ``go``; luck=7, channels=yes and its settings may follow
    start A G orders strategy=AVG     a consumer; orderly=yes, model=BROADCASTING, batch=2 ... may follow
    stop / suspend / resume A G, unsubscribe / subscribe A G orders, kill A
    assign A G orders/east/0, poll A G 1s, seek A G orders/east/0 5, commit A G, note A G orders/east/0 5
    listen A 100                      its listener takes 100 ms a batch; ``by hand`` waits for ``finish``
    finish A 3 later delay_level=3    the oldest batch in hand is done, or the one that begins with offset 3
    put orders/east/0 10              messages arrive; ``trim orders/east/0 100``: the queue begins there
    run 5s                            let time pass
    members east G A B                who the broker says is there; ``none``: nobody
    leave east G A                    the broker saw a connection close
    notify A G / notifications off    a notification, or none from now on
    refuse east LockBatchMq 2 3       the next three such requests are refused with code 2
    silence east LockBatchMq          such requests are not answered, until ``heal east``; without a kind none are
    delay east 200 HeartBeat          such answers take longer; ``names`` is the name server
    lock east G orders/east/0 B       B has the lock, from now on; ``nobody``
    stored east G orders/east/0 5     how far the broker says the group is
    assigned east orders orders/east/0   what the broker assigns
    second_heartbeats east            it understands heartbeats of the second version
    mode orders POP 1                 by what and among how many brokers divide; ``mode orders PULL``
    reset A G orders/east/0 3         the broker tells it to go to this offset
    freeze A G orders/east/0 121s     the queue looks as if it had not been pulled for so long
    show lock offset                  what is told from here on: facts always, and the requests of these kinds
    held / info / limits / cached / versions A G

Times are in ms since the block began; answers take one. A line with # is kept. What comes again and again is told once.
"""

import heapq
import random
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

from rebalance_engine.consumer import (
    Asked,
    Client,
    ClientSettings,
    Consumed,
    Deliver,
    GroupSettings,
    Mode,
    Order,
    Polled,
    Profile,
    Start,
)
from rebalance_engine.effects import (
    Answered,
    Failure,
    Heard,
    Opened,
    Received,
    Respond,
    Save,
    Send,
    SendOneway,
    State,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.events import (
    Fact,
    LockGranted,
    LockRefused,
    LockReleased,
    MemberQueueFact,
    Origin,
    PullRefused,
    QueueDropped,
    QueuePulled,
    QueueTaken,
    Source,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import BrokerData, QueueData, TopicQueueMappingInfo, TopicRouteData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import LockBatchMq, PullMessage, UnlockBatchMq
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, HeartBeat, NotifyConsumerIdsChanged
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.remoting.requests.popping import PopMessage
from rebalance_engine.remoting.static_topics import LOGICAL_PREFIX
from tests.rebalance_engine.consumer.broker import Broker, read
from tests.rebalance_engine.consumer.pops import read_popped

BEGIN = 1_700_000_000_000
NAME_SERVER = "names:9876"
KINDS = {
    "list": {"GetConsumerListByGroup"},
    "lock": {"LockBatchMq", "UnlockBatchMq"},
    "offset": {"QueryConsumerOffset", "UpdateConsumerOffset", "GetMaxOffset", "SearchOffsetByTimestamp"},
    "pull": {"PullMessage", "LitePullMessage"},
    "heartbeat": {"HeartBeat", "UnregisterClient"},
    "back": {"ConsumerSendMsgBack"},
    "route": {"GetRouteInfoByTopic"},
    "assignment": {"QueryAssignment"},
    "pop": {"PopMessage", "AckMessage", "ChangeMessageInvisibletime"},
    "deliver": {"Deliver"},
    "save": {"Save"},
}


def queue(text: str) -> MessageQueue:
    topic, broker, number = text.split("/")
    return MessageQueue(topic, broker, int(number))


def short(mq: MessageQueue) -> str:
    return f"{mq.topic}/{mq.broker}/{mq.queue_id}"


def shorts(queues: Iterable[MessageQueue]) -> str:
    return " ".join(map(short, sorted(queues))) or "none"


class Machine:
    """A client with its listener."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.listener_ms: int | None = 10
        self.in_hand: list[Deliver] = []
        self.is_alive = True


class World:
    def __init__(self) -> None:
        self.at = BEGIN
        self.mark = BEGIN
        self.brokers: dict[str, Broker] = {}
        self.routes: dict[str, TopicRouteData] = {}
        self.machines: dict[str, Machine] = {}
        self.events: list[tuple[int, int, Callable[[], None]]] = []
        self.counter = 0
        self.lines: list[str] = []
        self.shown: set[str] = set()
        self.held_pulls: dict[tuple[str, int], tuple[Broker, PullMessage | PopMessage]] = {}
        self.channels = 0
        self.sends_channels: set[str] = set()
        self.open: set[tuple[str, str]] = set()
        self.delays: dict[str, int] = {}
        self.saved: dict[str, str] = {}

    # ---- time ----

    def later(self, ms: int, do: Callable[[], None]) -> None:
        self.counter += 1
        heapq.heappush(self.events, (self.at + ms, self.counter, do))

    def run(self, ms: int) -> None:
        end = self.at + ms
        while self.events and self.events[0][0] <= end:
            at, _, do = heapq.heappop(self.events)
            self.at = at
            do()
        self.at = end

    def tell(self, text: str) -> None:
        self.lines.append(f"{self.at - self.mark:6} {text}")

    # ---- clients ----

    def hear(self, name: str, heard: Heard | Consumed | Order) -> None:
        machine = self.machines[name]
        if not machine.is_alive:
            return
        for effect in machine.client.handle(heard, self.at):
            self.do(name, machine, effect)
        machine.client.check()

    def do(self, name: str, machine: Machine, effect: Asked) -> None:
        if isinstance(effect, Send | SendOneway):
            self.send(name, effect)
        elif isinstance(effect, WakeAt):
            self.later(max(effect.at - self.at, 0), lambda: self.hear(name, Woken(timer=effect.timer)))
        elif isinstance(effect, State):
            self.tell(f"{name} {describe_fact(effect.fact)}")
        elif isinstance(effect, Polled):
            offsets = ",".join(str(message.offset) for message in effect.messages)
            self.tell(f"{name} polls {short(effect.queue)} {offsets}" if effect.queue else f"{name} polls nothing")
        elif isinstance(effect, Deliver):
            self.deliver(name, machine, effect)
        elif isinstance(effect, Save):
            self.saved[effect.name] = effect.text
            if "Save" in self.shown:
                self.tell(f"{name} saves {effect.text}")
        elif isinstance(effect, Respond):
            self.tell(f"{name} responds {effect.response}")

    def deliver(self, name: str, machine: Machine, effect: Deliver) -> None:
        if "Deliver" in self.shown:
            offsets = ",".join(str(message.offset) for message in effect.messages)
            self.tell(f"{name} consumes {short(effect.queue)} {offsets or 'nothing'}")
        machine.in_hand.append(effect)
        if machine.listener_ms is not None:
            self.later(machine.listener_ms, lambda: self.consumed(name, effect, Consumed(token=effect.token)))

    def consumed(self, name: str, effect: Deliver, how: Consumed) -> None:
        machine = self.machines[name]
        if effect in machine.in_hand:
            machine.in_hand.remove(effect)
            self.hear(name, how)

    # ---- brokers ----

    def send(self, name: str, effect: Send | SendOneway) -> None:
        kind = type(effect.request).__name__
        if kind in self.shown:
            self.tell(f"{name} -> {effect.to.split(':')[0]} {describe(effect.request)}")
        if isinstance(effect.request, GetRouteInfoByTopic):
            assert isinstance(effect, Send)
            self.ask_name_server(name, effect, effect.request)
            return
        broker = self.brokers[effect.to.split(":")[0]]
        if {kind, "all"} & broker.silent:
            self.no_answer(name, effect)
            return
        self.open_channel(name, broker)
        answer = broker.handle(name, effect.request, self.at)
        self.notify(broker)
        if isinstance(effect, SendOneway):
            return
        if answer is None:
            self.hold(name, broker, effect)
        else:
            self.later(1 + self.delay(broker.name, kind), lambda: self.answer(name, effect, answer))

    def open_channel(self, name: str, broker: Broker) -> None:
        if name in self.sends_channels and (name, broker.name) not in self.open:
            self.open.add((name, broker.name))
            self.channels += 1
            opened = Opened(channel=self.channels, address=f"{broker.name}:10911")
            self.later(0, lambda: self.hear(name, opened))

    def no_answer(self, name: str, effect: Send | SendOneway) -> None:
        if isinstance(effect, Send):
            missing = Unanswered(token=effect.token, failure=Failure.TIMEOUT)
            self.later(effect.timeout_ms, lambda: self.hear(name, missing))

    def ask_name_server(self, name: str, effect: Send, request: GetRouteInfoByTopic) -> None:
        route = self.routes.get(request.topic)
        answer: Response = Refused(code=ResponseCode.TOPIC_NOT_EXIST)
        if route is not None:
            answer = GetRouteInfoByTopicResponse(body=route)
        self.later(1 + self.delay("names", "GetRouteInfoByTopic"), lambda: self.answer(name, effect, answer))

    def delay(self, broker: str, kind: str) -> int:
        return self.delays.get(f"{broker} {kind}", self.delays.get(broker, 0))

    def answer(self, name: str, effect: Send, answer: Response) -> None:
        self.hear(name, Answered(token=effect.token, response=answer))

    def hold(self, name: str, broker: Broker, effect: Send) -> None:
        request = effect.request
        assert isinstance(request, PullMessage | PopMessage)
        self.held_pulls[name, effect.token] = (broker, request)
        ms = request.poll_time if isinstance(request, PopMessage) else request.suspend_timeout_millis
        self.later(ms, lambda: self.release(name, effect.token, is_over=True))

    def release(self, name: str, token: int, *, is_over: bool) -> None:
        held = self.held_pulls.get((name, token))
        if held is None:
            return
        broker, request = held
        answer = (
            broker.pops.pop(request, broker.messages, self.at, is_over=is_over)
            if isinstance(request, PopMessage)
            else broker.pulled(request, is_over=is_over)
        )
        if answer is not None:
            del self.held_pulls[name, token]
            self.later(1, lambda: self.hear(name, Answered(token=token, response=answer)))

    def notify(self, broker: Broker) -> None:
        changed, broker.changed = broker.changed, []
        for group in changed:
            if broker.notifies:
                for member in broker.members.get(group, ()):
                    self.later(1, partial(self.hear_notification, member, group))

    def hear_notification(self, name: str, group: str) -> None:
        if name in self.machines:
            self.hear(name, Received(channel=1, request=NotifyConsumerIdsChanged(consumer_group=group)))

    def broker(self, name: str) -> Broker:
        return self.brokers.setdefault(name, Broker(name))

    # ---- verbs ----

    def topic(self, name: str, *queues: str) -> None:
        if not queues:
            self.routes.pop(name, None)
            for each in self.brokers.values():
                each.queues.pop(name, None)
            return
        datas = []
        for text in queues:
            broker, count = text.split("=")
            self.broker(broker)
            datas.append(QueueData(broker_name=broker, read_queue_nums=int(count), write_queue_nums=int(count), perm=6))
        places = tuple(
            BrokerData(broker_name=data.broker_name, broker_addrs={0: f"{data.broker_name}:10911"}) for data in datas
        )
        known = tuple(MessageQueue(name, data.broker_name, n) for data in datas for n in range(data.read_queue_nums))
        for each in self.brokers.values():
            each.queues[name] = known
        self.routes[name] = TopicRouteData(queue_datas=tuple(datas), broker_datas=places)

    def static_topic(self, name: str, total: int, *places: str) -> None:
        hosts = {broker: [int(n) for n in ids.split(",")] for broker, ids in (text.split("=") for text in places)}
        known = tuple(MessageQueue(name, self.broker(broker).name, n) for broker, ids in hosts.items() for n in ids)
        for each in self.brokers.values():
            each.queues[name] = known
        self.routes[name] = TopicRouteData(
            broker_datas=tuple(BrokerData(broker_name=broker, broker_addrs={0: f"{broker}:10911"}) for broker in hosts),
            topic_queue_mapping_by_broker={
                broker: TopicQueueMappingInfo(
                    topic=name, total_queues=total, bname=broker, curr_id_map=dict(zip(ids, ids, strict=True))
                )
                for broker, ids in hosts.items()
            },
        )

    def make_client(self, name: str, profile: Profile, *, luck: int = 1, channels: bool = False, **more: Any) -> Client:
        source = Source(origin=Origin.SIMULATOR, client=name)
        settings = ClientSettings(client_id=name, name_servers=(NAME_SERVER,), **more)
        luck_of_its_own = random.Random(luck)
        client = Client(profile, settings, luck=luck_of_its_own, source=source, read=read, read_popped=read_popped)
        self.machines[name] = Machine(client)
        if channels:
            self.sends_channels.add(name)
        return client

    def start(self, name: str, group: str, topics: str, **more: Any) -> None:
        settings = GroupSettings(group=group, topics=dict.fromkeys(topics.split(","), "*"), **more)
        if settings.retry_topic not in self.routes and settings.mode is Mode.PUSH and settings.is_clustering:
            self.topic(settings.retry_topic, *(f"{broker}=1" for broker in list(self.brokers)[:1]))
        self.hear(name, Start(settings=settings, saved=self.saved))

    def put(self, mq: MessageQueue, count: int, **more: Any) -> None:
        self.broker(mq.broker).put(mq, count, **more)
        for name, token in tuple(self.held_pulls):
            self.release(name, token, is_over=False)


# ---- what is told ----


def describe(request: object) -> str:
    kind = type(request).__name__
    if isinstance(request, LockBatchMq | UnlockBatchMq):
        return f"{kind} {shorts(request.body.mq_set)}"
    if isinstance(request, HeartBeat):
        rows = [
            f"{data.group_name}[{' '.join(each.topic for each in data.subscription_data_set)}]"
            for data in request.body.consumer_data_set
        ]
        return f"HeartBeat {' '.join(rows)}{' without topics' if request.body.without_sub else ''}"
    if isinstance(request, GetConsumerListByGroup):
        return f"{kind} {request.consumer_group}"
    places = ("topic", "queue_id", "queue_offset", "commit_offset", "timestamp", "offset")
    names = (*places, "delay_level", "invisible_time")
    more = [f"{name}={getattr(request, name)}" for name in names if getattr(request, name, None) is not None]
    named = getattr(request, "bname", None) or ""
    return " ".join([kind, *more, *([f"of {named}"] if named.startswith(LOGICAL_PREFIX) else [])])


SAYINGS: dict[type[Fact], str] = {
    QueueTaken: "takes {queue} at {fact.start_offset}",
    QueueDropped: "drops {queue} at {fact.committed_offset}: {fact.reason.value}",
    QueuePulled: "pulls {queue} from {fact.offset}",
    PullRefused: "is refused {queue}: {fact.code}",
    LockGranted: "has the lock of {queue}",
    LockRefused: "is refused the lock of {queue}",
    LockReleased: "gives back the lock of {queue}",
}


def describe_fact(fact: object) -> str:
    assert isinstance(fact, MemberQueueFact)
    if isinstance(fact, QueueTaken) and fact.is_shared:
        return f"takes {short(fact.queue)}, to pop it as others may"
    return SAYINGS[type(fact)].format(fact=fact, queue=short(fact.queue))
