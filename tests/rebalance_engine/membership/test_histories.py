"""Random histories of clients, against a model of the rules that keeps one flat list and computes everything anew."""

from dataclasses import dataclass, field

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from rebalance_engine.effects import Close, Closed, Effect, Opened, Push, Received, Respond, WakeAt, Woken
from rebalance_engine.membership.machine import Broker, Timer
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.bodies.clients import HeartbeatData
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody
from rebalance_engine.remoting.requests.consuming import LockBatchMq, LockBatchMqResponse, UnlockBatchMq
from rebalance_engine.remoting.requests.membership import (
    GetConsumerListByGroup,
    GetConsumerListByGroupResponse,
    HeartBeat,
    NotifyConsumerIdsChanged,
    UnregisterClient,
)
from tests.rebalance_engine.membership.examples import consumer, wants

CLIENTS = st.sampled_from("ABC")
GROUPS = st.sampled_from("gh")
TOPICS = st.sets(st.sampled_from(["orders", "pay", "ship"]), min_size=1)
QUEUES = st.sets(st.builds(MessageQueue, st.just("orders"), st.just("broker-a"), st.integers(0, 2)), min_size=1)
Notification = tuple[str, int]


@dataclass(eq=False)
class Entry:
    """A channel in a group. ``heard`` is one list for all entries of a heartbeat: it holds the last time."""

    group: str
    channel: int
    client: str
    heard: list[int]


@dataclass
class Model:
    """The rules, naively."""

    spares_broadcasting: bool
    entries: list[Entry] = field(default_factory=list)
    topics: dict[str, dict[str, int]] = field(default_factory=dict)
    models: dict[str, MessageModel] = field(default_factory=dict)
    locks: dict[tuple[str, MessageQueue], tuple[str, int]] = field(default_factory=dict)

    def channels(self, group: str) -> list[int]:
        return [entry.channel for entry in self.entries if entry.group == group]

    def clients(self, group: str) -> list[str]:
        return [entry.client for entry in self.entries if entry.group == group]

    def beat(
        self, channel: int, client: str, groups: list[tuple[str, dict[str, int], MessageModel]], at: int
    ) -> list[Notification]:
        heard = [at]
        told: list[Notification] = []
        for group, topics, model in groups:
            is_new = self._enter(group, channel, client, heard, at)
            before = self.topics.get(group, {})
            self.topics[group] = {topic: max(version, before.get(topic, 0)) for topic, version in topics.items()}
            self.models[group] = model
            if is_new or before.keys() != topics.keys():
                told += self.notify(group)
        return told

    def _enter(self, group: str, channel: int, client: str, heard: list[int], at: int) -> bool:
        for entry in self.entries:
            if (entry.group, entry.channel) == (group, channel):
                entry.heard[0] = at
                if entry.client != client:
                    self.entries.remove(entry)
                    self.entries.append(Entry(group, channel, client, heard))
                return False
        self.entries.append(Entry(group, channel, client, heard))
        return True

    def notify(self, group: str) -> list[Notification]:
        if self.spares_broadcasting and self.models.get(group) is MessageModel.BROADCASTING:
            return []
        return [(group, channel) for channel in self.channels(group)]

    def leave(self, group: str, channel: int) -> list[Notification]:
        was_there = bool(self.channels(group))
        self.entries = [entry for entry in self.entries if (entry.group, entry.channel) != (group, channel)]
        return self.notify(group) if was_there else []

    def close(self, channel: int) -> list[Notification]:
        groups = [entry.group for entry in self.entries if entry.channel == channel]
        self.entries = [entry for entry in self.entries if entry.channel != channel]
        return [notification for group in groups for notification in self.notify(group)]

    def scan(self, at: int) -> set[int]:
        silent = [entry for entry in self.entries if at - entry.heard[0] > 120_000]
        self.entries = [entry for entry in self.entries if entry not in silent]
        return {entry.channel for entry in silent}

    def forget_empty_groups(self) -> None:
        self.topics = {group: topics for group, topics in self.topics.items() if self.channels(group)}

    def lock(self, group: str, client: str, queues: set[MessageQueue], at: int) -> set[MessageQueue]:
        locked = set()
        for queue in queues:
            holder, since = self.locks.get((group, queue), (client, at))
            if holder == client or at - since > 60_000:
                self.locks[group, queue] = client, at
                locked.add(queue)
        return locked

    def unlock(self, group: str, client: str, queues: set[MessageQueue]) -> None:
        for queue in queues:
            if self.locks.get((group, queue), ("", 0))[0] == client:
                del self.locks[group, queue]


class Histories(RuleBasedStateMachine):
    """Opens, heartbeats, departures, locks and time, in any order."""

    @initialize(version=st.sampled_from(["4.9.7", "5.3.0", "5.3.1", "5.5.0"]))
    def begin(self, version: str) -> None:
        self.now = 0
        self.next_channel = 1
        self.due = 10_000
        self.broker = Broker(BrokerSettings(version=version))
        self.broker.start(0)
        self.model = Model(spares_broadcasting=version in {"5.3.1", "5.5.0"})
        self.open: list[int] = []

    def request(self, channel: int, request: object) -> tuple[Effect, ...]:
        return self.broker.handle(Received(channel=channel, request=request, token=1), self.now)

    @rule()
    def opens(self) -> None:
        self.broker.handle(Opened(channel=self.next_channel, address=f"10.0.0.1:{self.next_channel}"), self.now)
        self.open.append(self.next_channel)
        self.next_channel += 1

    @precondition(lambda self: self.open)
    @rule(
        data=st.data(),
        client=CLIENTS,
        groups=st.dictionaries(GROUPS, st.tuples(TOPICS, st.integers(1, 3), st.sampled_from(MessageModel)), min_size=1),
    )
    def beats(self, data: st.DataObject, client: str, groups: dict[str, tuple[set[str], int, MessageModel]]) -> None:
        channel = data.draw(st.sampled_from(self.open))
        consumers = tuple(
            consumer(*(wants(topic, version) for topic in sorted(topics)), group=group, model=model)
            for group, (topics, version, model) in groups.items()
        )
        body = HeartbeatData(client_id=client, consumer_data_set=consumers)

        effects = self.request(channel, HeartBeat(body=body))

        plain = [(group, dict.fromkeys(topics, version), model) for group, (topics, version, model) in groups.items()]
        assert notifications(effects) == self.model.beat(channel, client, plain, self.now)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), client=CLIENTS, group=GROUPS)
    def leaves(self, data: st.DataObject, client: str, group: str) -> None:
        channel = data.draw(st.sampled_from(self.open))

        effects = self.request(channel, UnregisterClient(client_id=client, consumer_group=group))

        assert notifications(effects) == self.model.leave(group, channel)
        self.model.forget_empty_groups()

    @precondition(lambda self: self.open)
    @rule(data=st.data())
    def closes(self, data: st.DataObject) -> None:
        self._close(data.draw(st.sampled_from(self.open)))

    def _close(self, channel: int) -> None:
        self.open.remove(channel)
        effects = self.broker.handle(Closed(channel=channel), self.now)
        assert sorted(notifications(effects)) == sorted(self.model.close(channel))
        self.model.forget_empty_groups()

    @rule(duration_ms=st.one_of(st.integers(1, 60_000), st.sampled_from([1, 10_000, 20_000, 60_000, 120_000])))
    def waits(self, duration_ms: int) -> None:
        end = self.now + duration_ms
        while self.due <= end:
            self.now = self.due
            self.due += 10_000
            self._scan()
        self.now = end

    def _scan(self) -> None:
        effects = self.broker.handle(Woken(timer=Timer.HOUSEKEEPING), self.now)
        closed = [effect.channel for effect in effects if isinstance(effect, Close)]
        assert notifications(effects) == []
        assert set(closed) == self.model.scan(self.now) and len(closed) == len(set(closed))
        assert effects[-1] == WakeAt(at=self.due, timer=Timer.HOUSEKEEPING) or closed
        self.model.forget_empty_groups()
        for channel in closed:
            self._close(channel)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), client=CLIENTS, group=GROUPS, queues=QUEUES)
    def locks(self, data: st.DataObject, client: str, group: str, queues: set[MessageQueue]) -> None:
        channel = data.draw(st.sampled_from(self.open))
        body = LockBatchRequestBody(consumer_group=group, client_id=client, mq_set=tuple(sorted(queues)))

        response = answer(self.request(channel, LockBatchMq(body=body)))

        assert isinstance(response, LockBatchMqResponse)
        assert set(response.body.lock_ok_mq_set) == self.model.lock(group, client, queues, self.now)

    @precondition(lambda self: self.open)
    @rule(data=st.data(), client=CLIENTS, group=GROUPS, queues=QUEUES)
    def unlocks(self, data: st.DataObject, client: str, group: str, queues: set[MessageQueue]) -> None:
        channel = data.draw(st.sampled_from(self.open))
        body = LockBatchRequestBody(consumer_group=group, client_id=client, mq_set=tuple(sorted(queues)))
        self.request(channel, UnlockBatchMq(body=body))
        self.model.unlock(group, client, queues)

    @invariant()
    def every_table_keeps_its_promises(self) -> None:
        self.broker.check()

    @invariant()
    def the_tables_equal_the_model(self) -> None:
        for group in "gh":
            found = self.broker.registry.find(group)
            assert list(self.broker.registry.clients(group)) == self.model.clients(group)
            wanted = {topic: data.sub_version for topic, data in found.subscriptions.items()} if found else {}
            assert wanted == self.model.topics.get(group, {})
            honoured = {
                queue: client
                for (lock_group, queue), (client, since) in self.model.locks.items()
                if lock_group == group and self.now - since <= 60_000
            }
            assert self.broker.locks.held(group, self.now) == honoured

    @precondition(lambda self: self.open)
    @invariant()
    def the_client_list_is_the_models(self) -> None:
        for group in "gh":
            response = answer(self.request(self.open[0], GetConsumerListByGroup(consumer_group=group)))
            listed = response.body.consumer_id_list if isinstance(response, GetConsumerListByGroupResponse) else ()
            assert list(listed) == self.model.clients(group)


def notifications(effects: tuple[Effect, ...]) -> list[Notification]:
    pushed = [effect for effect in effects if isinstance(effect, Push)]
    return [
        (push.request.consumer_group, push.channel)
        for push in pushed
        if isinstance(push.request, NotifyConsumerIdsChanged)
    ]


def answer(effects: tuple[Effect, ...]) -> object:
    (response,) = (effect.response for effect in effects if isinstance(effect, Respond))
    return response


TestHistories = Histories.TestCase
TestHistories.settings = settings(max_examples=150, stateful_step_count=30, deadline=None)
