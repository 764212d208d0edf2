"""The processes of one run, and what its steps do to them."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping
from functools import partial

from rebalance_engine.consumer import GroupSettings, Profile, Subscribe, Unsubscribe
from rebalance_engine.effects import Address
from rebalance_engine.events import EXACT, DropReason, Fact, Origin, QueueDropped, QueueTaken, Source
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import RETRY_TOPIC_PREFIX, MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from rebalance_engine.simulation.bounds import SLOW
from rebalance_engine.simulation.breach import Weather
from rebalance_engine.simulation.broker import BrokerProcess, Disk
from rebalance_engine.simulation.choosing import chosen
from rebalance_engine.simulation.clients import ConsumerProcess, ProducerProcess
from rebalance_engine.simulation.clock import EPOCH, Clock
from rebalance_engine.simulation.figures import Figures
from rebalance_engine.simulation.groups import FIRST, Watches
from rebalance_engine.simulation.ledger import Ledger
from rebalance_engine.simulation.nameserver import ADDRESS as NAME_SERVER
from rebalance_engine.simulation.nameserver import NameServer
from rebalance_engine.simulation.network import Network
from rebalance_engine.simulation.process import Place, Process
from rebalance_engine.simulation.scenario import Scenario, Sender, Step, profile
from rebalance_engine.simulation.settling import check_held, check_versions, queues_of, targets
from rebalance_engine.simulation.store import Store
from rebalance_engine.simulation.timers import FLUSHED_EVERY, PULLED

AFTERMATH = 10_000  # ms; how long after a fault requests may still be late
STRATEGY_OF_GO = {"AVG_BY_CIRCLE": "GO_AVG_BY_CIRCLE"}

Record = Callable[[Fact], None]


class World:
    """A cluster of one scenario.

    Attributes:
        members: name -> the process of it that lives.
        topics: what the group subscribes to now, besides its retry topic.
    """

    def __init__(self, scenario: Scenario, record: Record) -> None:
        self.scenario = scenario
        self.clock = Clock()
        self.weather = Weather()
        self.network = Network(self.clock, self._luck("network"), scenario.latency)
        self.network.loses = self._loses
        self.network.loses_call = self._loses_call
        self.watches = Watches(scenario, self.clock, self.weather)
        self.watches.on_end = self._ended
        self.members: dict[str, ConsumerProcess] = {}
        self.brokers: dict[str, BrokerProcess] = {}
        self.topics = list(_first_topics(scenario))
        self._record = record
        self._disks: dict[str, Disk] = {}
        self._addresses = 0
        self._muted_until = self._losing_until = self._dropping_until = 0
        self._loss_luck = self._luck("loss")
        self._verbs: Mapping[str, Callable[..., None]] = {
            "start": self._start,
            "stop": self._stop,
            "kill": self._kill,
            "die": self._die,
            "pause": self._pause,
            "crash": self._crash,
            "cut": self._cut,
            "slow": self._slow,
            "mute": self._mute,
            "reset": self._reset,
            "lose": self._lose,
            "drop": self._drop,
            "grow": self._grow,
            "subscribe": self._subscribe,
            "unsubscribe": self._unsubscribe,
        }
        self.name_server = NameServer(self._place("name server", NAME_SERVER))
        self._begin(scenario)

    def _begin(self, scenario: Scenario) -> None:
        """Start what is there from the beginning, and plan the steps."""
        self.network.listen(self.name_server)
        for number, (name, version) in enumerate(scenario.brokers.items(), start=2):
            settings = BrokerSettings(version=version, broker=name, address=f"10.0.0.{number}:10911")
            self._disks[name] = Disk(settings, Store(name))
            self._start_broker(name)
            for topic, queues in scenario.topics.items():
                self.brokers[name].put_topic(topic, queues)
        for sender in scenario.senders:
            self._start_producer(sender)
        for step in scenario.steps:
            self.clock.at(EPOCH + step.at, partial(self.do, step))

    def _luck(self, name: str) -> random.Random:
        """Give each part luck of its own: leaving one fault out then changes little else."""
        return random.Random(f"{self.scenario.seed} {name}")  # noqa: S311 - luck that can be had again, no secret

    def do(self, step: Step) -> None:
        """Do one step; what it needs may be gone, and then it does nothing."""
        self._verbs[step.verb](*step.words)

    # ---- processes ----

    def _start_broker(self, name: str) -> None:
        disk = self._disks[name]
        broker = BrokerProcess(self._place(name, disk.settings.address), disk, self.watches)
        self.brokers[name] = broker
        self.watches.broker_starts(name)
        self.network.listen(broker)
        broker.start()

    def _start_producer(self, sender: Sender) -> None:
        producer = ProducerProcess(
            self._place(sender.name, self._next_address()),
            version=sender.version,
            topics=tuple(self.scenario.topics),
            every_ms=sender.every_ms,
            avoids_faults=sender.avoids_faults,
            luck=self._luck(sender.name),
            addressee=self.watches.sends,
        )
        self.clock.after(1_000, lambda: producer.start(EPOCH + self.scenario.sends_until))

    def _place(self, name: str, address: Address) -> Place:
        return Place(self.network, name, address, self.states)

    def _next_address(self) -> str:
        self._addresses += 1
        return f"10.0.1.{self._addresses}:4000"

    # ---- steps ----

    def _start(self, name: str, client: str, *options: str) -> None:
        if name in self.members:
            return
        kind, given = profile(client), dict(zip(options[::2], options[1::2], strict=True))
        strategies = {**self.watches.strategies}
        strategies[FIRST] = given.get("by", strategies[FIRST])
        process = self.members[name] = ConsumerProcess(
            self._place(name, self._next_address()),
            client_id=given.get("as", name),
            profile=kind,
            strategies=strategies,
            luck=self._luck(f"{name} {self._addresses}"),
            listener=self.scenario.listener,
            audience=self.watches,
        )
        for group, strategy in strategies.items():
            process.start(self._settings(group, kind, process.client_id, strategy))

    def _settings(self, group: str, kind: Profile, client_id: str, choice: str) -> GroupSettings:
        strategy, queues = chosen(choice)
        named = STRATEGY_OF_GO.get(strategy) if kind.language is Language.GO else strategy
        return GroupSettings(
            group=group,
            topics=dict.fromkeys(self.topics, "*"),
            strategy=None if strategy == "AVG" else named,  # every client's default, in its own language
            strategy_params={"config": {client_id: queues}} if queues else {},
            orderly=self.scenario.is_orderly,
            from_where=ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
        )

    def _stop(self, name: str) -> None:
        if name in self.members:
            self.members[name].stop()

    def _kill(self, name: str) -> None:
        process = self.members.pop(name, None)
        if process is not None:
            self.network.end(process)
            self._lost(process)

    def _die(self, name: str) -> None:
        process = self.members.pop(name, None)
        if process is not None:
            self.network.vanish(process)
            self._lost(process)

    def _lost(self, process: ConsumerProcess) -> None:
        source = Source(origin=Origin.SIMULATOR, client=process.client_id)
        for group, watch in self.watches.of.items():
            for queue in watch.ledger.gone(process):
                self._record(
                    QueueDropped(
                        at=self.clock.now,
                        source=source,
                        exactness=EXACT,
                        group=group,
                        client=process.client_id,
                        queue=queue,
                        reason=DropReason.LOST,
                    )
                )

    def _pause(self, name: str, ms: str) -> None:
        process = self.members.get(name)
        if process is not None and not process.is_paused:
            self._storm(int(ms), name)
            self.weather.stops(self.clock.now, self.clock.now + int(ms), name)
            process.pause()
            self.clock.after(int(ms), process.resume)

    def _crash(self, name: str, ms: str) -> None:
        broker = self.brokers.pop(name, None)
        if broker is not None:
            now = self.clock.now
            self.weather.turns_foul(now - FLUSHED_EVERY, now + int(ms) + AFTERMATH, name)
            broker.crash()
            self.network.end(broker)
            self.clock.after(int(ms), lambda: self._back(name, now))

    def _back(self, name: str, crashed_at: int) -> None:
        self.watches.restarted(name, crashed_at)
        self._start_broker(name)

    def _cut(self, name: str, broker: str, ms: str) -> None:
        self._storm(int(ms), name)
        self.network.cut(name, broker)
        self.clock.after(int(ms), lambda: self.network.heal(name, broker))

    def _slow(self, name: str, extra: str, ms: str) -> None:
        if int(extra) > SLOW:
            self._storm(int(ms) + 2 * int(extra) + PULLED)
        self.network.extra[name] = int(extra)
        self.clock.after(int(ms), lambda: self.network.extra.pop(name, None))

    def _mute(self, ms: str) -> None:
        self._muted_until = self.clock.now + int(ms)

    def _lose(self, ms: str) -> None:
        self._storm(int(ms))
        self._losing_until = self.clock.now + int(ms)

    def _reset(self, name: str, broker: str) -> None:
        self._storm(0, name)
        self.network.reset(name, broker)

    def _drop(self, ms: str) -> None:
        self._storm(int(ms) + PULLED)
        self._dropping_until = self.clock.now + int(ms)

    def _loses_call(self, caller: Process) -> bool:
        is_dropping = isinstance(caller, ConsumerProcess) and self.clock.now < self._dropping_until
        return is_dropping and self._loss_luck.random() < 0.05

    def _loses(self, sender: Process, _: Process, request: object) -> bool:
        if isinstance(request, NotifyConsumerIdsChanged):
            return self.clock.now < self._muted_until
        is_losing = isinstance(sender, ConsumerProcess) and self.clock.now < self._losing_until
        return is_losing and self._loss_luck.random() < 0.5

    def _grow(self, topic: str, broker: str, queues: str) -> None:
        if broker in self.brokers:
            self.brokers[broker].put_topic(topic, int(queues))

    def _subscribe(self, topic: str) -> None:
        if topic not in self.topics:
            self.topics.append(topic)
            for group, watch in self.watches.of.items():
                watch.ledger.subscribed_again(topic)
                for member in self.members.values():
                    member.changed_at.pop((group, topic), None)  # the new subscription has a version of its own
                    member.order(Subscribe(group, topic))

    def _unsubscribe(self, topic: str) -> None:
        if topic in self.topics:
            self.topics.remove(topic)
            for group in self.watches.of:
                for member in self.members.values():
                    member.order(Unsubscribe(group, topic))

    def _storm(self, ms: int, *names: str) -> None:
        self.weather.turns_foul(self.clock.now, self.clock.now + ms + AFTERMATH, *names)

    # ---- what the processes tell ----

    def states(self, process: Process, fact: object) -> None:
        """Take in a fact."""
        assert isinstance(fact, Fact)
        if isinstance(process, ConsumerProcess):
            if isinstance(fact, QueueTaken | QueueDropped):
                process.changed_at[fact.group, fact.queue.topic] = self.clock.now
            self.watches.states(process, fact)
        self._record(fact)

    def _ended(self, client: ConsumerProcess) -> None:
        """A client has shut itself down."""
        self.members.pop(client.name, None)
        self._lost(client)
        if self.scenario.is_orderly:
            for watch in self.watches.of.values():
                watch.ledger.ordering.check_stopped(client, self.members.values())

    # ---- when all is quiet ----

    @property
    def ledger(self) -> Ledger:
        """The books of the first group."""
        return self.watches.of[FIRST].ledger

    @property
    def figures(self) -> Figures:
        """What it amounts to so far, in all groups."""
        figures = self.watches.figures
        figures.events = self.clock.ticks
        return figures

    def has_leaked_locks(self) -> bool:
        """Say whether anybody was granted a lock after he had dropped the queue: it must run out by itself."""
        return any(watch.ledger.ordering.has_leaked_locks() for watch in self.watches.of.values())

    def queues(self, group: str = FIRST) -> tuple[MessageQueue, ...]:
        """Give the queues that a group divides now."""
        topics, now = (*self.topics, RETRY_TOPIC_PREFIX + group), self.clock.now
        return tuple(queue for topic in topics for queue in queues_of(topic, self.name_server.route(topic, now)))

    def check_settled(self) -> None:
        """Insist that everybody holds what he should, and that the brokers know everybody's newest subscription."""
        members = tuple(self.members.values())
        for group, watch in self.watches.of.items():
            wanted = targets(group, self.queues(group), members)
            check_held(watch.ledger, group, wanted, members, frozenset((*self.topics, RETRY_TOPIC_PREFIX + group)))
            check_versions(group, self.brokers.values(), members, self.clock.now)
        self.ledger.figures.settled += 1

    def check_finished(self) -> None:
        """Insist that every message was consumed, of queues that anybody is meant to have."""
        members = tuple(self.members.values())
        for group, watch in self.watches.of.items():
            wanted = targets(group, self.queues(group), members)
            for queue in sorted(frozenset().union(*wanted.values())):
                watch.ledger.check_finished(queue)
            watch.ledger.returns.check_all_back()
        self.watches.sends.check_ended()

    def check_all(self) -> None:
        """Hold every machine to its own invariants."""
        for member in self.members.values():
            member.machine.check()
        for broker in self.brokers.values():
            broker.machine.check()


def _first_topics(scenario: Scenario) -> Iterable[str]:
    """Give the topics that members subscribe to from the beginning: not those that a step first subscribes to."""
    first: dict[str, str] = {}
    for step in scenario.steps:
        if step.verb in {"subscribe", "unsubscribe"}:
            first.setdefault(step.words[0], step.verb)
    return (topic for topic in scenario.topics if first.get(topic) != "subscribe")
