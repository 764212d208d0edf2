"""The simulator's facts as log lines of real clients and brokers, and the truth about holds that they tell.

Java's lines are those of the recorded runs and of ``spec/logs.md``. C++'s and Go's follow the upstream sources
(rocketmq-client-cpp ``src/consumer/Rebalance.cpp`` and ``src/log/Logging.h``; rocketmq-client-go
``consumer/consumer.go``, ``consumer/push_consumer.go``, ``consumer/offset_store.go``, ``rlog/log.go``); no real log has
verified them.
"""

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from rebalance_engine.events import (
    DropReason,
    Duplicates,
    Fact,
    LockGranted,
    LockRefused,
    LockReleased,
    PresenceGone,
    PresenceSeen,
    PullRefused,
    QueueDropped,
    QueuePulled,
    QueueTaken,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.routes import QueueData
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.scenario import Scenario, read
from tests.rebalance_engine.pipeline.overheard import Counted, Route, Saying, Told
from tests.rebalance_engine.pipeline.runs import Key, Span

GROUP = "g"
GOES_ON_MS = 5_000  # what was taken last is held for a while
TRIED_EVERY_MS = 21_000  # by a timer of 20 s
NOT_LATEST = 25  # SUBSCRIPTION_NOT_LATEST
NOT_LATEST_TRACE = "MQBrokerException: CODE: 25  DESC: the consumer's subscription not latest"


def play(scenario: str) -> list[Fact]:
    """Play a scenario and give all its facts."""
    facts: list[Fact] = []
    outcome = run(read(scenario), facts.append)
    assert outcome.breach is None, outcome.breach
    return facts


@dataclass(frozen=True, slots=True)
class Speech:
    """What a client says: of which group and queue, what it held of that topic, among how many, and further numbers."""

    client: str
    group: str
    queue: MessageQueue
    held: Sequence[MessageQueue] = ()
    members: int = 1
    queues: int = 8
    strategy: str = "AVG"
    offsets: tuple[int, ...] = (0,)

    @property
    def mq(self) -> str:
        """The queue as all clients write it."""
        return _text(self.queue)

    @property
    def wanted(self) -> list[str]:
        """All that it holds of the topic."""
        return [_text(one) for one in self.held if one.topic == self.queue.topic]

    @property
    def pull_request(self) -> str:
        """As Java writes it."""
        return f"PullRequest [consumerGroup={self.group}, messageQueue={self.mq}, nextOffset={self.offsets[0]}]"


class Logs:
    """One folder of logs, one host a client or broker, written fact by fact; the hosts' names begin with a prefix."""

    def __init__(
        self,
        folder: Path,
        layouts: dict[str, str],
        zone_hours: int = 0,
        *,
        prefix: str = "",
        of: Scenario | None = None,
    ) -> None:
        self.folder, self.layouts, self.zone_hours, self.prefix = folder, layouts, zone_hours, prefix
        self.is_orderly = of is not None and of.is_orderly
        self.strategies = {GROUP: of.strategy, "h": of.beside or ""} if of is not None else {GROUP: "AVG"}
        self.lines: dict[tuple[str, str], list[str]] = defaultdict(list)
        self.held: dict[tuple[str, str], list[MessageQueue]] = defaultdict(list)
        self.counted: dict[tuple[str, str], int] = {}
        self.known: dict[tuple[str, str], int] = {}
        self.stopped: set[tuple[str, str]] = set()
        self.truth: dict[Key, list[Span]] = defaultdict(list)
        self.since: dict[tuple[str, str, MessageQueue], int] = {}
        self.pulled: set[tuple[str, str, MessageQueue]] = set()
        self.refused: dict[tuple[str, str], dict[MessageQueue, int]] = defaultdict(dict)

    def write(self, told: Sequence[Told]) -> None:
        """Write all, and keep the truth."""
        for broker in ("east", "west"):
            self._broker(broker, EPOCH, f"The broker[{broker}, 10.0.0.2:10911] boot success. serializeType=JSON")
        for one in _persisted_first(told):
            self._write(one)
        self._broker("east", told[-1].at + GOES_ON_MS, "register broker[0]to name server")
        for (host, name), lines in self.lines.items():
            place = self.folder / f"{self.prefix}{host}"
            place.mkdir(parents=True, exist_ok=True)
            (place / name).write_text("".join(lines), newline="")

    def _write(self, one: Told) -> None:
        if isinstance(one, Saying):
            self._saying(one)
        elif isinstance(one, Counted):
            self.counted[one.client, one.group] = one.members
        elif isinstance(one, Route):
            self.known[one.client, one.topic] = sum(each.read_queue_nums for each in one.after)
            if self.layouts[one.client].startswith("java"):
                self._line(one.at, one.client, _route(one))
        elif isinstance(one, QueuePulled | PullRefused):
            self._pulled(one)
        elif isinstance(one, PresenceSeen | PresenceGone):
            self._presence(one)
        elif isinstance(one, Duplicates | LockGranted | LockRefused | LockReleased):
            self._broker(str(one.source.broker), one.at, _of_broker(one))
        elif isinstance(one, QueueTaken):
            self._taken(one)
        elif isinstance(one, QueueDropped):
            self._dropped(one)

    def _says(self, at: int, what: str, speech: Speech) -> None:
        for message in _SAYS[self.layouts[speech.client]].get(what, _nothing)(speech):
            self._line(at, speech.client, message)

    def _speech(self, one: Saying | QueueTaken | QueueDropped | QueuePulled | PullRefused, *offsets: int) -> Speech:
        held = tuple(self.held[one.client, one.group])
        if self.layouts[one.client] == "go":  # its results list what it wants, locked or not
            wanted = self.refused.get((one.client, one.group), {})
            held += tuple(queue for queue, at in wanted.items() if one.at - at < TRIED_EVERY_MS and queue not in held)
        members, strategy = self.counted.get((one.client, one.group), 1), self.strategies[one.group]
        queues = self.known[one.client, one.queue.topic]
        return Speech(one.client, one.group, one.queue, held, members, queues, strategy, offsets or (0,))

    def _taken(self, fact: QueueTaken) -> None:
        self.held[fact.client, fact.group].append(fact.queue)
        self.refused[fact.client, fact.group].pop(fact.queue, None)
        self.since[fact.client, fact.group, fact.queue] = fact.at
        self._says(fact.at, "taken", self._speech(fact, fact.start_offset or 0))

    def _dropped(self, fact: QueueDropped) -> None:
        key = fact.client, fact.group, fact.queue
        since = self.since.pop(key)
        self.pulled.discard(key)
        self.held[fact.client, fact.group].remove(fact.queue)
        ended = {DropReason.STOPPED: "stopped", DropReason.LOST: "lost"}.get(fact.reason, "released")
        topic, broker, number = fact.queue
        self.truth[fact.group, topic, broker, number, fact.client].append((since, fact.at, ended))
        if ended == "released":
            self._says(fact.at, "released", self._speech(fact))
        elif ended == "stopped" and key[:2] not in self.stopped:
            self.stopped.add(key[:2])
            if self.layouts[fact.client].startswith("java"):
                self._line(fact.at, fact.client, f"the consumer [{fact.group}] shutdown OK")

    def _saying(self, one: Saying) -> None:
        is_held = one.queue in self.held[one.client, one.group]
        if one.what == "lock refused":
            self.refused[one.client, one.group][one.queue] = one.at
        what = "persisted all" if one.what == "persisted" and is_held else one.what
        if not (what == "uncommitted" and self.is_orderly):
            self._says(one.at, what, self._speech(one, *one.offsets))

    def _pulled(self, fact: QueuePulled | PullRefused) -> None:
        if isinstance(fact, PullRefused):
            self._says(fact.at, "refused" if fact.code == NOT_LATEST else "failed", self._speech(fact))
        elif self.is_orderly and (fact.client, fact.group, fact.queue) not in self.pulled:
            self.pulled.add((fact.client, fact.group, fact.queue))
            self._says(fact.at, "first pull", self._speech(fact, fact.offset or 0))

    def _presence(self, fact: PresenceSeen | PresenceGone) -> None:
        sign = "-" if isinstance(fact, PresenceSeen) else "!"
        channel = f"[id: 0x1a2b3c4d, L:/10.0.0.1:10911 {sign} R:/{fact.address}]"
        info = f"ClientChannelInfo [channel={channel}, clientId={fact.client}, language=JAVA, version=1]"
        if isinstance(fact, PresenceSeen):
            message = f"new consumer connected, group: {fact.group} CONSUME_PASSIVELY CLUSTERING channel: {info}"
            if self.layouts[fact.client] == "java4":
                self._line(fact.at, fact.client, f"the consumer [{fact.group}] start OK.")
        elif fact.departure.value == "unregistered":
            message = f"unregister a consumer[{fact.group}] from consumerGroupInfo {info}"
        else:
            table = f"from ConsumerGroupInfo groupChannelTable, consumer group: {fact.group}"
            message = f"NETTY EVENT: remove not active channel[{info}] {table}"
        self._broker(fact.broker, fact.at, message)

    def _broker(self, broker: str, at: int, message: str) -> None:
        name = "filter.log" if message.startswith("RebalanceLockManager#") else "broker.log"
        self.lines[broker, name].append(f"{self._stamp(at, 8)[:19]} INFO NettyEventExecutor - {message}\n")

    def _line(self, at: int, client: str, message: str) -> None:
        layout = self.layouts[client]
        if layout == "java5":
            text = f"{self._stamp(at, 8)} INFO  [7] [RebalanceService] [o.a.r.c.i.c.RebalanceImpl#?:?] - {message}\n"
        elif layout == "java4":
            text = f"{self._stamp(at, self.zone_hours).replace('.', ',')} INFO RocketmqClient - {message}\r\n"
        elif layout == "cpp":
            text = f"[{self._stamp(at, self.zone_hours)}000](info):{message}[updateRequestTableInRebalance:12]\n"
        else:
            text = f'time="{self._stamp(at, 8)[:19].replace(" ", "T")}+08:00" level=info {message}\n'
        self.lines[client, "rocketmq_client.log"].append(text)

    def _stamp(self, at: int, hours: int) -> str:
        return datetime.fromtimestamp(at / 1000 + hours * 3600, UTC).strftime("%Y-%m-%d %H:%M:%S.") + f"{at % 1000:03}"


def _persisted_first(told: Sequence[Told]) -> Iterator[Told]:
    """Put what is persisted of a queue when it is let go before its removal: the line of that comes when it is done."""
    early: set[int] = set()
    for place, one in enumerate(told):
        if isinstance(one, QueueDropped):
            for later, other in enumerate(told[place + 1 : place + 200], place + 1):
                if other.at != one.at:
                    break
                if later not in early and isinstance(other, Saying) and _is_last_word(other, one):
                    early.add(later)
                    yield other
        if place not in early:
            yield one


def _is_last_word(saying: Saying, dropped: QueueDropped) -> bool:
    whose = saying.client, saying.group, saying.queue
    return saying.what == "persisted" and whose == (dropped.client, dropped.group, dropped.queue)


def _text(queue: MessageQueue) -> str:
    return f"MessageQueue [topic={queue.topic}, brokerName={queue.broker}, queueId={queue.queue_id}]"


def _route(one: Route) -> str:
    before = "null" if one.before is None else _route_data(one.before)
    return f"the topic[{one.topic}] route info changed, old[{before}] ,new[{_route_data(one.after)}]"


def _route_data(queues: tuple[QueueData, ...]) -> str:
    each = ", ".join(
        f"QueueData [brokerName={one.broker_name}, readQueueNums={one.read_queue_nums},"
        f" writeQueueNums={one.write_queue_nums}, perm={one.perm}, topicSysFlag=0]"
        for one in queues
    )
    rest = "brokerDatas=[], filterServerTable={}, topicQueueMappingInfoTable=null"
    return f"TopicRouteData [orderTopicConf=null, queueDatas=[{each}], {rest}]"


def _of_broker(fact: Duplicates | LockGranted | LockRefused | LockReleased) -> str:
    mq = _text(fact.queue)
    if isinstance(fact, Duplicates):
        return (
            f"[NOTIFYME]update consumer offset less than store. clientHost=10.0.1.2:4000,"
            f" key={fact.queue.topic}@{fact.group}, queueId={fact.queue.queue_id},"
            f" requestOffset={fact.first_offset}, storeOffset={(fact.first_offset or 0) + fact.count}"
        )
    if isinstance(fact, LockReleased):
        return f"RebalanceLockManager#unlockBatch: unlock mq, group={fact.group}, clientId={fact.client}, mqs={mq}"
    begin = "RebalanceLockManager#tryLockBatch:"
    if isinstance(fact, LockRefused):
        whose = f"locked client id={fact.holder}, current client id={fact.client}"
        return f"{begin} message queue has been locked by other client, group={fact.group}, mq={mq}, {whose}"
    if fact.expired_holder is not None:
        whose = f"old client id={fact.expired_holder}, new client id={fact.client}"
        return f"{begin} try to lock a expired message queue, group={fact.group}, mq={mq}, {whose}"
    return f"{begin} lock a message which has not been locked yet, group={fact.group}, clientId={fact.client}, mq={mq}"


# ---- what clients say ----

Says = Callable[[Speech], list[str]]


def _nothing(_: Speech) -> list[str]:
    """Its log has no line for that."""
    return []


def _of_java(it: Speech) -> str:
    return (
        f"client rebalanced result changed. allocateMessageQueueStrategyName={it.strategy}, group={it.group},"
        f" topic={it.queue.topic}, clientId={it.client}, mqAllSize={it.queues}, cidAllSize={it.members},"
        f" rebalanceResultSize={len(it.wanted)}, rebalanceResultSet=[{', '.join(it.wanted)}]"
    )


def _fixed(it: Speech) -> str:
    return f"pullRequest: {it.pull_request} NewOffset: {it.offsets[0]} brokerBusy: false"


def _persists(word: str) -> Says:
    begin = f"[{word}] Group:"
    return lambda it: [f"{begin} {it.group} ClientId: {it.client} updateConsumeOffsetToBroker {it.mq} {it.offsets[0]}"]


def _of_cpp(it: Speech) -> str:
    whose = f"[Consumer Group: {it.group}, Topic: {it.queue.topic}, Current Consumer ID: {it.client}]"
    counted = f"Total Queue :#{it.queues}, Total Consumer :#{it.members}, Allocated Queues are: "
    return f"Allocation result for {whose} is changed.\n{counted}\n" + "".join(f"{one}\n" for one in it.wanted)


def _of_go(it: Speech) -> str:
    return (
        f'msg="MessageQueue do balance done" cidAllSize={it.members} clientID={it.client} consumerGroup={it.group}'
        f" mqAllSize={it.queues}"
        f' rebalanceResultSet="[{" ".join(it.wanted)}]" rebalanceResultSize={len(it.wanted)} topic={it.queue.topic}'
    )


def _keyed(it: Speech, text: str) -> str:
    return f'msg="{text}" MessageQueue="{it.mq}" consumerGroup={it.group}'


def _keyed_offset(it: Speech, text: str) -> str:
    return f"{_keyed(it, text)} offset={it.offsets[0]}"


_JAVA: dict[str, Says] = {
    "taken": lambda it: [f"doRebalance, {it.group}, add a new mq, {it.mq}", _of_java(it)],
    "released": lambda it: [f"doRebalance, {it.group}, remove unnecessary mq, {it.mq}", _of_java(it)],
    "persisted": _persists("persist"),
    "persisted all": _persists("persistAll"),
    "pull ended": lambda it: [f"the pull request[{it.pull_request}] is dropped."],
    "first pull": lambda it: [f"the first time to pull message, so fix offset from broker. {_fixed(it)}"],
    "lock refused": lambda it: [f"doRebalance, {it.group}, add a new mq failed, {it.mq}, because lock failed"],
    "refused": lambda it: [f"the subscription is not latest, group={it.group}, messageQueue={it.mq}"],
    "failed": lambda it: [f"execute the pull request exception, group={it.group}, messageQueue={it.mq}"],
    "uncommitted": lambda it: [
        f"processQueue is dropped without process consume result. messageQueue={it.mq}, msgs=["
        + ", ".join(f"MessageExt [brokerName={it.queue.broker}, queueOffset={offset}]" for offset in it.offsets)
        + "]"
    ],
}
_SAYS: dict[str, dict[str, Says]] = {
    "java5": _JAVA,
    "java4": {
        **_JAVA,
        "taken": lambda it: [
            f"doRebalance, {it.group}, add a new mq, {it.mq}",
            f"doRebalance, {it.group}, add a new pull request {it.pull_request}",
            _of_java(it).removeprefix("client "),
        ],
        "refused": lambda _: [f"execute the pull request exception\r\n{NOT_LATEST_TRACE}"],
        "failed": lambda _: ["execute the pull request exception"],
    },
    "cpp": {
        "taken": lambda it: [
            f"Add mq:{it.mq}, request initial offset:{it.offsets[0]}",
            f"Start to pull {it.mq}, offset:{it.offsets[0]}, GroupName {it.group}",
            _of_cpp(it),
        ],
        "released": lambda it: [f"Drop mq:{it.mq},because not responsive", _of_cpp(it)],
        **dict.fromkeys(
            ("persisted", "persisted all"),
            lambda it: [f"oneway updateConsumeOffsetToBroker of mq:{it.mq}, its offset is:{it.offsets[0]}"],
        ),
    },
    "go": {
        "taken": lambda it: [
            _keyed(it, "fetch offset of mq from broker success") + f" offset={it.offsets[0]}",
            _of_go(it),
        ],
        "released": lambda it: [_keyed(it, "remove unnecessary mq when updateProcessQueueTable"), _of_go(it)],
        **dict.fromkeys(
            ("persisted", "persisted all"),
            lambda it: [_keyed_offset(it, "update offset to broker success")],
        ),
        "lock refused": lambda it: [_keyed(it, "do defaultConsumer, add a new mq failed, because lock failed")],
    },
}
