"""Finding out where a topic is: what each client does when it knows no queue, and the refresh every 30 s.

Sources: ``client/.../impl/producer/DefaultMQProducerImpl.java`` (``tryToFindTopicPublishInfo``),
``client/.../impl/factory/MQClientInstance.java`` (``updateTopicRouteInfoFromNameServer``); ``src/MQClientFactory.cpp``;
``producer/producer.go``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator

from rebalance_engine.effects import Answered, Failure, Unanswered
from rebalance_engine.producer.desk import Desk
from rebalance_engine.producer.publish_info import BadRoute, PublishInfo
from rebalance_engine.producer.tasks import DropLock, Reply, Sleep, TakeLock, Task, Transmit, Wish
from rebalance_engine.remoting.bodies.routes import TopicRouteData
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse

FIRST_REFRESH_AFTER_MS = 10


class LookupFailed(Exception):
    """The name server did not answer, or not sensibly; it leaves Java's send as an IllegalStateException."""


def find(desk: Desk, topic: str) -> Task[PublishInfo | None]:
    """Give what the client knows of a topic, asking the name server where it knows no queue.

    Raises:
        LookupFailed: Java from 4.6.0 on, where no name server answers.
    """
    return _FIND[desk.profile.language](desk, topic)


def _find_java(desk: Desk, topic: str) -> Task[PublishInfo | None]:
    info = desk.book.expect(topic)
    if not info.has_queues:
        yield from update(desk, topic)
        info = desk.book.expect(topic)
    if not info.is_known:
        yield from update(desk, topic, is_default=True)
    return desk.book.expect(topic)


def _find_cpp(desk: Desk, topic: str) -> Task[PublishInfo | None]:
    for is_default in (False, True):
        if not _has_queues(desk.book.info(topic)):
            yield from update(desk, topic, is_default=is_default)
    info = desk.book.info(topic)
    return info if _has_queues(info) else None


def _find_go(desk: Desk, topic: str) -> Task[PublishInfo | None]:
    """Ask only for a topic that was never heard of; one without queues stays so until the refresh."""
    for is_default in (False, True):
        if desk.book.info(topic) is None:
            try:
                yield from update(desk, topic, is_default=is_default)
            except LookupFailed:
                return None
    info = desk.book.info(topic)
    return info if _has_queues(info) else None


def _has_queues(info: PublishInfo | None) -> bool:
    return info is not None and info.has_queues


_FIND: dict[Language, Callable[[Desk, str], Task[PublishInfo | None]]] = {
    Language.JAVA: _find_java,
    Language.CPP: _find_cpp,
    Language.GO: _find_go,
}


def update(desk: Desk, topic: str, *, is_default: bool = False) -> Task[None]:
    """Fetch a route under the client's one lock and take it in; after 3 s without the lock go on as if nothing came.

    Raises:
        LookupFailed: see :func:`find`.
    """
    if not desk.settings.name_servers:
        return
    has_lock = yield TakeLock()
    if not has_lock:
        return
    reply = yield from _ask(desk, desk.settings.default_topic if is_default else topic)
    yield DropLock()  # who waits for it goes on after this task has paused
    _take_in(desk, topic, reply, is_default=is_default)


def _ask(desk: Desk, topic: str) -> Generator[Wish, Reply, Reply]:
    """Ask one name server; the next one where the connection cannot be made, and next time where it was silent."""
    servers = desk.settings.name_servers
    reply: Reply = None
    for _ in servers:
        request = GetRouteInfoByTopic(topic=topic, accept_standard_json_only=True)
        to = servers[desk.name_server % len(servers)]
        reply = yield Transmit(to=to, request=request, timeout_ms=desk.profile.route_timeout_ms)
        if not isinstance(reply, Unanswered):
            return reply
        desk.name_server += 1
        if reply.failure is not Failure.NOT_CONNECTED:
            return reply
    return reply


def _take_in(desk: Desk, topic: str, reply: Reply, *, is_default: bool) -> None:
    route = _route_of(reply)
    if route is not None:
        _accept(desk, topic, route, is_default=is_default)
    elif not isinstance(reply, Answered) and desk.profile.lookup_failure_raises:
        raise LookupFailed("the name server gave no answer")


def _accept(desk: Desk, topic: str, route: TopicRouteData, *, is_default: bool) -> None:
    try:
        if is_default:
            desk.book.accept_default(topic, route, desk.at)
        else:
            desk.book.accept(topic, route, desk.at)
    except BadRoute as bad:
        if desk.profile.lookup_failure_raises:
            raise LookupFailed(str(bad)) from bad


def _route_of(reply: Reply) -> TopicRouteData | None:
    response = reply.response if isinstance(reply, Answered) else None
    return response.body if isinstance(response, GetRouteInfoByTopicResponse) else None


def refresh(desk: Desk) -> Task[None]:
    """Ask for every topic in turn, every 30 s, for as long as the producer lives.

    The default topic is not asked for: once the real topic exists, its own route replaces the borrowed one.
    """
    due = desk.at + FIRST_REFRESH_AFTER_MS
    while True:
        yield Sleep(due)
        for topic in desk.book.topics():
            is_over = yield from _ends_the_round(desk, topic)
            if is_over:
                break
        desk.book.forget_offline()
        due = max(due + desk.settings.route_every_ms, desk.at)


def _ends_the_round(desk: Desk, topic: str) -> Task[bool]:
    """Refresh one topic. In Java a failure is an exception that also skips the topics after it."""
    try:
        yield from update(desk, topic)
    except LookupFailed:
        return desk.profile.language is Language.JAVA
    return False
