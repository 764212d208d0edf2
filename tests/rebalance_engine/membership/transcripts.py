"""Transcripts of a broker's membership: a verb, ``----``, what happened.

    broker 5.3.0 notifies=no             begin at time 0; settings are those of ``BrokerSettings``
    topic orders queues=4 perm=6 order=yes    configure a topic; ``group g consume_enable=no`` a group
    open 1 go 5.1.4                      channel 1 opens, from 10.0.0.1:5000, of a Java client unless it says otherwise
    beat 1 A g orders@7:red + h pay producer=p    a heartbeat of client A: group g wants tag red of orders in version 7,
                                         and group h pay in version 1; also: broadcasting, pull, unit, fingerprint=5,
                                         without_sub
    leave 1 A g                          unregister; ``leave 1 A producer=p`` a producer
    close 1                              the connection breaks
    wait 120s                            let time pass; also 500 (ms), 2m
    lock 1 A g orders/0 orders/1         and ``unlock``; ``holders g`` who has what
    pull 1 g orders/0 version=7 carries=red   is it refused? ``commit=5`` carries an offset
    commit 1 g orders/0 5                store an offset; ``offset 1 g orders/0 zero=no`` asks for it
    reset g orders/0 3                   by the broker; ``take_reset g orders/0`` as the next pull would
    list g / connections g / producers p / who orders    the questions 38, 203, 204, 300
    forbid g orders yes                  request 353
    mode g orders POP 1                  request 401; ``modes`` is 402
    divide A g orders AVG                request 400 of client A, answered by ``rebalance_engine.assignment``
    restart 5.3.0 notifies=no            the broker dies, and begins again with what is on its disk

A line that begins with # is a comment and is kept. Times are in ms since the beginning.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields, replace
from pathlib import Path

from rebalance_engine.assignment import answer
from rebalance_engine.effects import Closed, Opened
from rebalance_engine.membership.machine import Broker
from rebalance_engine.membership.offsets import QueueStart
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.remoting.bodies.clients import (
    ConsumerData,
    ConsumeType,
    HeartbeatData,
    ProducerData,
    SubscriptionData,
)
from rebalance_engine.remoting.bodies.queues import LockBatchRequestBody, QueryAssignmentRequestBody
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestMode,
    SetMessageRequestModeRequestBody,
    SubscriptionGroupConfig,
    TopicConfig,
)
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.requests.brokers import (
    GetAllMessageRequestMode,
    GetConsumerConnectionList,
    GetProducerConnectionList,
    QueryTopicConsumeByWho,
)
from rebalance_engine.remoting.requests.changes import (
    SetMessageRequestMode,
    UpdateAndCreateSubscriptionGroup,
    UpdateAndGetGroupForbidden,
)
from rebalance_engine.remoting.requests.consuming import (
    LockBatchMq,
    QueryAssignment,
    QueryConsumerOffset,
    UnlockBatchMq,
    UpdateConsumerOffset,
)
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.membership import GetConsumerListByGroup, HeartBeat, UnregisterClient
from rebalance_engine.remoting.versions import version_number
from tests.rebalance_engine.membership.examples import pull
from tests.rebalance_engine.membership.words import response_in_words
from tests.rebalance_engine.membership.world import OBSERVER, World

UNITS = {"m": 60_000, "s": 1_000, "": 1}
SWITCHES = {"yes": True, "no": False}
SEPARATOR = "----"


def play(path: Path) -> str:
    """Play a transcript, and give it as it went."""
    world = World()
    return "\n".join(line for block in _blocks(path.read_text()) for line in _play(world, block))


def _blocks(text: str) -> Iterator[list[str]]:
    """Give comments and verbs in blocks that blank lines part; what happened is left out."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        yield lines[: lines.index(SEPARATOR)] if SEPARATOR in lines else lines


def _play(world: World, lines: list[str]) -> Iterator[str]:
    yield from lines
    verbs = [line for line in lines if line and not line.startswith("#")]
    world.told.clear()
    for verb in verbs:
        name, *words = verb.split()
        VERBS[name](world, *words)
    if verbs:
        yield SEPARATOR
        yield from world.told
    yield ""


# ---- verbs ----


def _begin(world: World, version: str, *words: str) -> None:
    world.begin(Broker(_settings(version, words), queue_start=world.queue_start))


def _restart(world: World, version: str, *words: str) -> None:
    memory = world.broker.memory()
    world.begin(Broker(_settings(version, words), memory=memory, queue_start=world.queue_start))


def _settings(version: str, words: Iterable[str]) -> BrokerSettings:
    given = _options(words)
    unknown = given.keys() - {field.name for field in fields(BrokerSettings)}
    assert not unknown, f"no such setting: {unknown}"
    return BrokerSettings(version=version, **given)


def _options(words: Iterable[str]) -> dict:
    pairs = (word.split("=", 1) for word in words if "=" in word)
    return {name: _value(value) for name, value in pairs}


def _value(text: str) -> object:
    if text in SWITCHES:
        return SWITCHES[text]
    return int(text) if text.lstrip("-").isdecimal() else text


def _topic(world: World, name: str, *words: str) -> None:
    given = _options(words)
    queues = given.pop("queues", 4)
    world.starts.update({(name, n): QueueStart[given.get("start", "EMPTY")] for n in range(queues)})
    given.pop("start", None)
    world.broker.put_topic(TopicConfig(topic_name=name, read_queue_nums=queues, write_queue_nums=queues, **given))


def _group(world: World, name: str, *words: str) -> None:
    known = world.broker.groups.find(name) or SubscriptionGroupConfig(group_name=name)
    config = replace(known, **_options(words))
    world.request(OBSERVER, UpdateAndCreateSubscriptionGroup(body=config))


def _open(world: World, channel: str, language: str = "java", version: str = "5.5.0") -> None:
    world.hear(Opened(channel=int(channel), address=f"10.0.0.{channel}:5000"))
    world.broker.introduce(int(channel), Language[language.upper()], version_number(version))


def _beat(world: World, channel: str, client: str, *words: str) -> None:
    options = _options(words)
    plain = [word for word in words if "=" not in word and word != "without_sub"]
    consumers = tuple(_consumer(part.split()) for part in " ".join(plain).split(" + ") if part)
    producers = (ProducerData(group_name=options["producer"]),) if "producer" in options else ()
    data = HeartbeatData(
        client_id=client,
        consumer_data_set=consumers,
        producer_data_set=producers,
        heartbeat_fingerprint=options.get("fingerprint", 0),
        without_sub="without_sub" in words,
    )
    world.request(int(channel), HeartBeat(body=data))


def _consumer(words: list[str]) -> ConsumerData:
    kinds = {word for word in words if word in {"broadcasting", "pull", "unit"}}
    group, *topics = (word for word in words if word not in kinds)
    return ConsumerData(
        group_name=group,
        consume_type=ConsumeType.CONSUME_ACTIVELY if "pull" in kinds else ConsumeType.CONSUME_PASSIVELY,
        message_model=MessageModel.BROADCASTING if "broadcasting" in kinds else MessageModel.CLUSTERING,
        subscription_data_set=tuple(map(_subscription, topics)),
        unit_mode="unit" in kinds,
    )


def _subscription(word: str) -> SubscriptionData:
    name, _, expression = word.partition(":")
    topic, _, version = name.partition("@")
    return SubscriptionData(topic=topic, sub_string=expression or "*", sub_version=int(version or 1))


def _leave(world: World, channel: str, client: str, name: str) -> None:
    kind, _, producer = name.partition("=")
    request = UnregisterClient(
        client_id=client,
        producer_group=producer or None,
        consumer_group=None if producer else kind,
    )
    world.request(int(channel), request)


def _close(world: World, channel: str) -> None:
    world.hear(Closed(channel=int(channel)))


def _wait(world: World, duration: str) -> None:
    number = duration.rstrip("ms")
    world.wait(int(number) * UNITS[duration.removeprefix(number)])


def _queue(word: str) -> MessageQueue:
    topic, _, queue_id = word.rpartition("/")
    return MessageQueue(topic, "broker-a", int(queue_id))


def _lock_body(client: str, group: str, queues: Iterable[str]) -> LockBatchRequestBody:
    return LockBatchRequestBody(consumer_group=group, client_id=client, mq_set=tuple(map(_queue, queues)))


def _lock(world: World, channel: str, client: str, group: str, *queues: str) -> None:
    world.request(int(channel), LockBatchMq(body=_lock_body(client, group, queues)))


def _unlock(world: World, channel: str, client: str, group: str, *queues: str) -> None:
    world.request(int(channel), UnlockBatchMq(body=_lock_body(client, group, queues)))


def _holders(world: World, group: str) -> None:
    held = world.broker.locks.held(group, world.now)
    world.say(f"holders {', '.join(f'{queue.topic}/{queue.queue_id} {who}' for queue, who in held.items()) or 'none'}")


def _pull(world: World, channel: str, group: str, queue: str, *words: str) -> None:
    options = _options(words)
    topic, _, queue_id = queue.rpartition("/")
    request = pull(
        consumer_group=group,
        topic=topic,
        queue_id=int(queue_id),
        sys_flag=("commit" in options) | 4 * ("carries" in options),
        commit_offset=options.get("commit", 0),
        subscription=options.get("carries"),
        sub_version=options.get("version", 1),
    )
    checked = world.broker.check_pull(int(channel), request, world.now)
    if isinstance(checked, Refused):
        world.say(f"refused {response_in_words(checked)}")
        return
    world.say(f"pulls with {checked.subscription.sub_string} in version {checked.subscription.sub_version}")
    world.carry_out(world.broker.commit_with_pull(int(channel), request, world.now))


def _commit(world: World, channel: str, group: str, queue: str, offset: str) -> None:
    topic, _, queue_id = queue.rpartition("/")
    request = UpdateConsumerOffset(consumer_group=group, topic=topic, queue_id=int(queue_id), commit_offset=int(offset))
    world.request(int(channel), request)


def _offset(world: World, channel: str, group: str, queue: str, *words: str) -> None:
    topic, _, queue_id = queue.rpartition("/")
    request = QueryConsumerOffset(
        consumer_group=group,
        topic=topic,
        queue_id=int(queue_id),
        set_zero_if_not_found=_options(words).get("zero"),
    )
    world.request(int(channel), request)


def _reset(world: World, group: str, queue: str, offset: str) -> None:
    topic, _, queue_id = queue.rpartition("/")
    world.broker.reset_offset(group, topic, int(queue_id), int(offset))


def _take_reset(world: World, group: str, queue: str) -> None:
    topic, _, queue_id = queue.rpartition("/")
    request = pull(consumer_group=group, topic=topic, queue_id=int(queue_id))
    world.say(f"reset {world.broker.take_reset(request)}")


def _forbid(world: World, group: str, topic: str, is_forbidden: str) -> None:
    world.request(OBSERVER, UpdateAndGetGroupForbidden(group=group, topic=topic, readable=not SWITCHES[is_forbidden]))


def _mode(world: World, group: str, topic: str, mode: str, share: str = "0") -> None:
    body = SetMessageRequestModeRequestBody(
        topic=topic, consumer_group=group, mode=MessageRequestMode[mode], pop_share_queue_num=int(share)
    )
    world.request(OBSERVER, SetMessageRequestMode(body=body))


def _divide(world: World, client: str, group: str, topic: str, strategy: str = "AVG") -> None:
    config = world.broker.topics.find(topic)
    numbers = range(config.read_queue_nums) if config else ()
    queues = [MessageQueue(topic, "broker-a", number) for number in numbers] if config else None
    question = QueryAssignmentRequestBody(topic=topic, consumer_group=group, client_id=client, strategy_name=strategy)
    response = answer(world.broker, QueryAssignment(body=question), queues)
    world.say(f"answer {response_in_words(response)}")


def _topics(world: World) -> None:
    for name, config in world.broker.topics.all().items():
        order = " ordered" if config.order else ""
        world.say(
            f"topic {name} queues {config.read_queue_nums} perm {config.perm} flag {config.topic_sys_flag}{order}"
        )


def _ask(kind: Callable[..., object], field: str) -> Callable[..., None]:
    return lambda world, name: world.request(OBSERVER, kind(**{field: name}))


VERBS: dict[str, Callable[..., None]] = {
    "broker": _begin,
    "restart": _restart,
    "topic": _topic,
    "topics": _topics,
    "group": _group,
    "open": _open,
    "beat": _beat,
    "leave": _leave,
    "close": _close,
    "wait": _wait,
    "lock": _lock,
    "unlock": _unlock,
    "holders": _holders,
    "pull": _pull,
    "commit": _commit,
    "offset": _offset,
    "reset": _reset,
    "take_reset": _take_reset,
    "forbid": _forbid,
    "mode": _mode,
    "modes": lambda world: world.request(OBSERVER, GetAllMessageRequestMode()),
    "divide": _divide,
    "list": _ask(GetConsumerListByGroup, "consumer_group"),
    "connections": _ask(GetConsumerConnectionList, "consumer_group"),
    "producers": _ask(GetProducerConnectionList, "producer_group"),
    "who": _ask(QueryTopicConsumeByWho, "topic"),
}
