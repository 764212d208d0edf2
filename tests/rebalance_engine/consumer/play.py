"""Transcripts: reads the verbs that ``world`` lists, plays them, and writes down what happened."""

from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any

from rebalance_engine.consumer import (
    CPP,
    GO,
    Assign,
    Commit,
    Consumed,
    Mode,
    Note,
    Poll,
    Profile,
    Result,
    Resume,
    Seek,
    Stop,
    Subscribe,
    Suspend,
    Unsubscribe,
    java,
)
from rebalance_engine.effects import Received
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from rebalance_engine.remoting.bodies.queues import ResetOffsetBody
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, SetMessageRequestModeRequestBody
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo, ResetConsumerClientOffset
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.world import BEGIN, KINDS, World, queue, short, shorts

MANY = 3
FROM_WHERE = {
    "LAST": ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET,
    "FIRST": ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET,
    "TIMESTAMP": ConsumeFromWhere.CONSUME_FROM_TIMESTAMP,
}


def play(path: Path) -> str:
    """Play a transcript: its text, with what happens now in the place of what happened."""
    world = World()
    blocks = [_play_block(world, block) for block in path.read_text().strip("\n").split("\n\n")]
    return "\n\n".join(blocks) + "\n"


def _play_block(world: World, block: str) -> str:
    asked = list(_asked(block))
    world.lines = []
    world.mark = world.at
    for line in asked:
        if not line.startswith("#"):
            verb, *words = line.split()
            VERBS[verb](world, *_plain(words), **_named(words))
    return "\n".join([*asked, *(["----", *_collapse(world.lines)] if world.lines else [])])


def _collapse(lines: list[str]) -> Iterator[str]:
    """Tell what happened again and again in the same order, and nothing else in between, once."""
    at = 0
    while at < len(lines):
        length, times = max((_repeats(lines, at, length) for length in range(1, 7)), key=prod)
        if times < MANY:
            length, times = 1, 1
        yield from lines[at : at + length]
        at += length * times
        if times > 1:
            yield f"       and so on, {times} times in all, until {lines[at - 1][:6].strip()}"


def _repeats(lines: list[str], at: int, length: int) -> tuple[int, int]:
    """Count how often what is told in so many lines is told from here on, ``MANY`` times at least."""
    said = [line[7:] for line in lines[at:]]
    times = 1
    while said[times * length : (times + 1) * length] == said[:length]:
        times += 1
    return (length, times) if times >= MANY else (0, 0)


def _asked(block: str) -> Iterator[str]:
    for line in block.split("\n"):
        if line == "----":
            return
        yield line


def _plain(words: list[str]) -> list[str]:
    return [word for word in words if "=" not in word or "/" in word]


def _named(words: list[str]) -> dict[str, Any]:
    return {word.split("=", 1)[0]: _value(*word.split("=", 1)) for word in words if "=" in word and "/" not in word}


def _value(name: str, text: str) -> MessageModel | Mode | ConsumeFromWhere | bool | int | str:
    if name == "model":
        return MessageModel[text]
    if name == "mode":
        return Mode[text]
    if name == "from_where":
        return FROM_WHERE[text]
    if text in ("yes", "no"):
        return text == "yes"
    return int(text) if text.lstrip("-").isdigit() else text


def _ms(text: str) -> int:
    return int(text[:-1]) * 1000 if text.endswith("s") else int(text)


def _profile(language: str, version: str) -> Profile:
    return {"java": lambda: java(version), "cpp": lambda: CPP, "go": lambda: GO}[language]()


# ---- the verbs ----


def _topic(world: World, name: str, **queues: int) -> None:
    world.topic(name, *(f"{broker}={count}" for broker, count in queues.items()))


def _static(world: World, name: str, total: str, **hosts: str | int) -> None:
    world.static_topic(name, int(total), *(f"{broker}={numbers}" for broker, numbers in hosts.items()))


def _client(world: World, name: str, language: str, version: str = "", **more: Any) -> None:
    world.make_client(name, _profile(language, version), **more)


def _listen(world: World, name: str, *how: str) -> None:
    world.machines[name].listener_ms = None if how[0] == "by" else _ms(how[0])


def _finish(world: World, name: str, *words: str, **more: Any) -> None:
    in_hand = world.machines[name].in_hand
    offsets = [int(word) for word in words if word.isdigit()]
    effect = next(each for each in in_hand if not offsets or each.messages[0].offset == offsets[0])
    result = Result.LATER if "later" in words else Result.SUCCESS
    world.consumed(name, effect, Consumed(token=effect.token, result=result, **more))


def _put(world: World, mq: str, count: str, **more: Any) -> None:
    world.put(queue(mq), int(count), **more)


def _members(world: World, broker: str, group: str, *clients: str) -> None:
    known = world.broker(broker).members.get(group, {})
    listed = () if clients == ("none",) else clients
    world.broker(broker).members[group] = {client: known.get(client, {}) for client in listed}


def _notifications(world: World, how: str) -> None:
    for broker in world.brokers.values():
        broker.notifies = how == "on"


def _refuse(world: World, broker: str, kind: str, code: str, times: str = "1") -> None:
    world.broker(broker).answers.setdefault(kind, []).extend([Refused(code=int(code))] * int(times))


def _heal(world: World, broker: str) -> None:
    world.broker(broker).silent.clear()
    world.broker(broker).answers.clear()


def _lock(world: World, broker: str, group: str, mq: str, client: str) -> None:
    locks = world.broker(broker).locks
    if client == "nobody":
        locks.pop((group, queue(mq)), None)
    else:
        locks[group, queue(mq)] = (client, world.at)


def _stored(world: World, broker: str, group: str, mq: str, *offset: str) -> None:
    if offset:
        world.broker(broker).offsets[group, queue(mq)] = int(offset[0])
    stored = world.broker(broker).offsets.get((group, queue(mq)), "nothing")
    world.tell(f"{broker} has stored {stored}")


def _trim(world: World, mq: str, first: str) -> None:
    broker = world.broker(queue(mq).broker)
    gone = int(first) - broker.first[queue(mq)]
    broker.messages[queue(mq)] = broker.messages.get(queue(mq), [])[gone:]
    broker.first[queue(mq)] = int(first)


def _freeze(world: World, name: str, group: str, mq: str, ms: str) -> None:
    """Let a queue look as if its pull loop had been broken for so long."""
    member, since = world.machines[name].client.member(group), world.at - _ms(ms)
    if queue(mq) in member.pop_table:
        member.pop_table[queue(mq)].last_pop = since
    else:
        member.table[queue(mq)].last_pull = since


def _held(world: World, name: str, group: str) -> None:
    held = world.machines[name].client.held(group)
    more = f"; dropped, still there: {shorts(held.dropped)}" if held.dropped else ""
    world.tell(f"{name} holds {shorts(held.queues)}{more}")


def _info(world: World, name: str, group: str) -> None:
    request = GetConsumerRunningInfo(consumer_group=group, client_id=name)
    world.hear(name, Received(channel=1, request=request, token=1))


def _limits(world: World, name: str, group: str) -> None:
    member = world.machines[name].client.member(group)
    limits = f"{member.queue_messages} messages, {member.queue_mib} MiB a queue"
    world.tell(f"{limits}; {member.flow_controlled} pulls put off, {member.span_controlled} for their span")


def _versions(world: World, name: str, group: str) -> None:
    client = world.machines[name].client
    for data in client.member(group).subscriptions.all:
        ours = data.sub_version // client.desk.profile.version_unit
        known = [each.members.get(group, {}).get(name, {}).get(data.topic) for each in world.brokers.values()]
        heard = ", ".join(broker for broker, seen in zip(world.brokers, known, strict=True) if seen == data.sub_version)
        since = ours - BEGIN if ours > BEGIN else data.sub_version - BEGIN
        world.tell(f"{data.topic} is of {since}; known to {heard or 'nobody'}")


def _silence(world: World, broker: str, kind: str = "all") -> None:
    world.broker(broker).silent.add(kind)


def _delay(world: World, broker: str, ms: str, *kind: str) -> None:
    world.delays[" ".join([broker, *kind])] = _ms(ms)


def _show(world: World, *kinds: str) -> None:
    world.shown = {name for kind in kinds if kind != "facts" for name in KINDS[kind]}


def _kill(world: World, name: str) -> None:
    world.machines[name].is_alive = False


def _assigned(world: World, broker: str, topic: str, *queues: str) -> None:
    world.broker(broker).assignments[topic] = tuple(map(queue, queues))


def _mode(world: World, topic: str, mode: str, share: str = "0") -> None:
    for broker in world.brokers.values():
        broker.modes[topic] = SetMessageRequestModeRequestBody(
            topic=topic, consumer_group="G", mode=MessageRequestMode[mode], pop_share_queue_num=int(share)
        )


def _reset(world: World, name: str, group: str, mq: str, offset: str) -> None:
    body = ResetOffsetBody(offset_table={queue(mq): int(offset)})
    request = ResetConsumerClientOffset(topic=queue(mq).topic, group=group, timestamp=0, is_force=True, body=body)
    world.hear(name, Received(channel=1, request=request))


def _leave(world: World, broker: str, group: str, client: str) -> None:
    world.broker(broker).leave(client, group)
    world.notify(world.broker(broker))


def _flow(world: World, name: str, group: str) -> None:
    for mq, pq in sorted(world.machines[name].client.member(group).table.items()):
        world.tell(f"{short(mq)}: {pq.count} cached, {'dropped' if pq.is_dropped else 'held'}")


VERBS: dict[str, Callable[..., None]] = {
    "topic": _topic,
    "static": _static,
    "client": _client,
    "start": lambda world, *words, **more: world.start(*words, **more),
    "stop": lambda world, name, group: world.hear(name, Stop(group)),
    "suspend": lambda world, name, group: world.hear(name, Suspend(group)),
    "resume": lambda world, name, group: world.hear(name, Resume(group)),
    "subscribe": lambda world, name, group, topic: world.hear(name, Subscribe(group, topic)),
    "unsubscribe": lambda world, name, group, topic: world.hear(name, Unsubscribe(group, topic)),
    "assign": lambda world, name, group, *mqs: world.hear(name, Assign(group, tuple(map(queue, mqs)))),
    "poll": lambda world, name, group, ms: world.hear(name, Poll(group, _ms(ms))),
    "seek": lambda world, name, group, mq, offset: world.hear(name, Seek(group, queue(mq), int(offset))),
    "commit": lambda world, name, group: world.hear(name, Commit(group)),
    "run": lambda world, ms: world.run(_ms(ms)),
    "notify": lambda world, name, group: world.hear_notification(name, group),
    "listen": _listen,
    "finish": _finish,
    "put": _put,
    "members": _members,
    "leave": _leave,
    "kill": _kill,
    "notifications": _notifications,
    "refuse": _refuse,
    "silence": _silence,
    "delay": _delay,
    "heal": _heal,
    "lock": _lock,
    "stored": _stored,
    "trim": _trim,
    "freeze": _freeze,
    "held": _held,
    "info": _info,
    "limits": _limits,
    "versions": _versions,
    "show": _show,
    "assigned": _assigned,
    "mode": _mode,
    "reset": _reset,
    "second_heartbeats": lambda world, broker: setattr(world.broker(broker), "knows_heartbeat_v2", True),
    "note": lambda world, name, group, mq, offset: world.hear(name, Note(group, queue(mq), int(offset))),
    "cached": _flow,
}
