"""The simulator's facts as log lines of real clients and brokers, and the truth about holds that they tell.

Java's lines are those of the recorded runs. C++'s and Go's follow the upstream sources (rocketmq-client-cpp
``src/consumer/Rebalance.cpp`` and ``src/log/Logging.h``; rocketmq-client-go ``consumer/consumer.go``,
``consumer/push_consumer.go``, ``rlog/log.go``); no real log has verified them.
"""

from collections import defaultdict
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from rebalance_engine.events import DropReason, Fact, PresenceGone, PresenceSeen, QueueDropped, QueueTaken
from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.scenario import read
from tests.rebalance_engine.pipeline.runs import Key, Span

GROUP = "g"
GOES_ON_MS = 5_000  # what was taken last is held for a while


def play(scenario: str) -> list[Fact]:
    """Play a scenario and give all its facts."""
    facts: list[Fact] = []
    outcome = run(read(scenario), facts.append)
    assert outcome.breach is None, outcome.breach
    return facts


class Logs:
    """One folder of logs, one host a client or broker, written fact by fact; the hosts' names begin with a prefix."""

    def __init__(self, folder: Path, layouts: dict[str, str], zone_hours: int = 0, *, prefix: str = "") -> None:
        self.folder, self.layouts, self.zone_hours, self.prefix = folder, layouts, zone_hours, prefix
        self.lines: dict[str, list[str]] = defaultdict(list)
        self.held: dict[str, list[MessageQueue]] = defaultdict(list)
        self.stopped: set[str] = set()
        self.truth: dict[Key, list[Span]] = defaultdict(list)
        self.since: dict[tuple[str, MessageQueue], int] = {}

    def write(self, facts: list[Fact]) -> None:
        """Write all, and keep the truth."""
        for fact in facts:
            if isinstance(fact, QueueTaken):
                self.held[fact.client].append(fact.queue)
                self.since[fact.client, fact.queue] = fact.at
                self._changed(fact.at, fact.client, fact.queue, is_add=True)
            elif isinstance(fact, QueueDropped):
                self._dropped(fact)
            elif isinstance(fact, PresenceSeen | PresenceGone):
                self._presence(fact)
        end = self._stamp(facts[-1].at + GOES_ON_MS, 8)[:19]
        self.lines["east"].append(f"{end} INFO main - register broker[0]to name server\n")
        for host, lines in self.lines.items():
            name = "broker.log" if host in ("east", "west") else "rocketmq_client.log"
            place = self.folder / f"{self.prefix}{host}"
            place.mkdir(parents=True)
            (place / name).write_text("".join(lines), newline="")

    def _dropped(self, fact: QueueDropped) -> None:
        since = self.since.pop((fact.client, fact.queue))
        self.held[fact.client].remove(fact.queue)
        ended = {DropReason.STOPPED: "stopped", DropReason.LOST: "lost"}.get(fact.reason, "released")
        topic, broker, number = fact.queue
        self.truth[GROUP, topic, broker, number, fact.client].append((since, fact.at, ended))
        if ended == "released":
            self._changed(fact.at, fact.client, fact.queue, is_add=False)
        elif ended == "stopped" and fact.client not in self.stopped:
            self.stopped.add(fact.client)
            if self.layouts[fact.client].startswith("java"):
                self._line(fact.at, fact.client, f"the consumer [{GROUP}] shutdown OK")

    def _changed(self, at: int, client: str, queue: MessageQueue, *, is_add: bool) -> None:
        for message in _CHANGED[self.layouts[client]](client, queue, list(self.held[client]), is_add):
            self._line(at, client, message)

    def _presence(self, fact: PresenceSeen | PresenceGone) -> None:
        sign = "-" if isinstance(fact, PresenceSeen) else "!"
        channel = f"[id: 0x1a2b3c4d, L:/10.0.0.1:10911 {sign} R:/{fact.address}]"
        info = f"ClientChannelInfo [channel={channel}, clientId={fact.client}, language=JAVA, version=1]"
        if isinstance(fact, PresenceSeen):
            message = f"new consumer connected, group: {GROUP} CONSUME_PASSIVELY CLUSTERING channel: {info}"
            if self.layouts[fact.client] == "java4":
                self._line(fact.at, fact.client, f"the consumer [{GROUP}] start OK.")
        elif fact.departure.value == "unregistered":
            message = f"unregister a consumer[{GROUP}] from consumerGroupInfo {info}"
        else:
            table = f"from ConsumerGroupInfo groupChannelTable, consumer group: {GROUP}"
            message = f"NETTY EVENT: remove not active channel[{info}] {table}"
        self.lines[fact.broker].append(f"{self._stamp(fact.at, 8)[:19]} INFO NettyEventExecutor - {message}\n")

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
        self.lines[client].append(text)

    def _stamp(self, at: int, hours: int) -> str:
        return datetime.fromtimestamp(at / 1000 + hours * 3600, UTC).strftime("%Y-%m-%d %H:%M:%S.") + f"{at % 1000:03}"


def _text(queue: MessageQueue) -> str:
    return f"MessageQueue [topic={queue.topic}, brokerName={queue.broker}, queueId={queue.queue_id}]"


def _java(client: str, queue: MessageQueue, held: list[MessageQueue], is_add: bool) -> list[str]:
    change = "add a new mq" if is_add else "remove unnecessary mq"
    wanted = [_text(one) for one in held if one.topic == queue.topic]
    shown = (
        f"client rebalanced result changed. allocateMessageQueueStrategyName=AVG, group={GROUP}, topic={queue.topic},"
        f" clientId={client}, mqAllSize=8, cidAllSize=2, rebalanceResultSize={len(wanted)},"
        f" rebalanceResultSet=[{', '.join(wanted)}]"
    )
    return [f"doRebalance, {GROUP}, {change}, {_text(queue)}", shown]


def _cpp(client: str, queue: MessageQueue, held: list[MessageQueue], is_add: bool) -> list[str]:
    wanted = "".join(f"{_text(one)}\n" for one in held if one.topic == queue.topic)
    dropped = f"Drop mq:{_text(queue)},because not responsive"
    change = f"Add mq:{_text(queue)}, request initial offset:0" if is_add else dropped
    whose = f"[Consumer Group: {GROUP}, Topic: {queue.topic}, Current Consumer ID: {client}]"
    counted = " Total Queue :#8, Total Consumer :#2, Allocated Queues are: "
    return [f"Allocation result for {whose} is changed.\n{counted}\n{wanted}", change]


def _go(client: str, queue: MessageQueue, held: list[MessageQueue], is_add: bool) -> list[str]:
    wanted = [_text(one) for one in held if one.topic == queue.topic]
    shown = (
        f'msg="MessageQueue do balance done" cidAllSize=2 clientID={client} consumerGroup={GROUP} mqAllSize=8'
        f' rebalanceResultSet="[{" ".join(wanted)}]" rebalanceResultSize={len(wanted)} topic={queue.topic}'
    )
    gone = 'msg="remove unnecessary mq when updateProcessQueueTable"'
    removed = f'{gone} MessageQueue="{_text(queue)}" consumerGroup={GROUP}'
    return [shown] if is_add else [removed, shown]


_CHANGED: dict[str, Callable[[str, MessageQueue, list[MessageQueue], bool], list[str]]] = {
    "java5": _java,
    "java4": _java,
    "cpp": _cpp,
    "go": _go,
}
