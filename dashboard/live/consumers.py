"""One browser's socket. What it asks: ``{"follow": stream, "seq": last or null}`` and ``{"unfollow": stream}``.

What it gets are the messages of ``push/messages.py``, as bytes. A refusal is a close code: 4401 log in, 4403 not for
you, 4400 not understood, 4429 too much, 4408 too slow, 1013 try again later. Steps come by the hub of the
process (``hub.py``).
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user, get_user_model
from django.contrib.auth.models import AnonymousUser, User
from django.contrib.sessions.backends.base import SessionBase
from django.http import HttpRequest

from dashboard.common.clock import now_ms
from dashboard.live.following import note_followed
from dashboard.live.hub import GONE, StepEvent, hub
from dashboard.live.origins import is_ours
from dashboard.live.outbox import CatchUp, Outbox, Send
from dashboard.live.serving import serving
from dashboard.live.streams import Stream, bring_up_to_date, find_stream, for_person, gone_pulse, pulse_of
from dashboard.people.queries import access_of
from dashboard.people.roles import Access, Role
from dashboard.push.tallies import Kind

if TYPE_CHECKING:
    from asgiref.typing import ASGIReceiveCallable, ASGISendCallable, WebSocketScope

logger = logging.getLogger(__name__)

BEAT_S = 10.0  # a browser that hears nothing for longer than two of these connects anew
SEND_WITHIN_S = 30.0
MOST_STREAMS = 20
MOST_SOCKETS = 40  # of one person, in one process
LONGEST_QUESTION = 400  # characters
MOST_QUESTIONS = 60  # between two beats

STRAIGHT = "evenkeel.send"  # of the scope: to the server, not by middleware that looks at each message
LOG_IN, NOT_FOR_YOU, NOT_UNDERSTOOD, TOO_MUCH, TOO_SLOW = 4401, 4403, 4400, 4429, 4408
TRY_AGAIN_LATER = 1013


@dataclass(frozen=True, slots=True)
class Question:
    """What a browser asks: to follow a stream after ``seq``, or to leave it."""

    stream: str
    is_follow: bool
    seq: int | None


def read_question(text: str | None) -> Question | None:
    """Read what a browser asks; None is not understood."""
    if text is None or len(text) > LONGEST_QUESTION:
        return None
    try:
        asked = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(asked, dict) or asked.keys() not in ({"follow", "seq"}, {"unfollow"}):
        return None
    stream, seq = asked.get("follow", asked.get("unfollow")), asked.get("seq")
    if not isinstance(stream, str) or not (seq is None or (type(seq) is int and 0 <= seq < 2**63)):
        return None
    return Question(stream, "follow" in asked, seq)


def _stored(key: str | None) -> SessionBase:
    """Give a session as it is stored now; the one that came with the handshake keeps what it was then."""
    store: type[SessionBase] = import_module(settings.SESSION_ENGINE).SessionStore
    return store(key)


class LiveConsumer(AsyncWebsocketConsumer):  # type: ignore[misc] # Channels has no types
    """Follows streams for one browser. A task of its own sends, so that a slow browser holds up nobody."""

    needs_role = Role.VIEWER
    sockets: Counter[object] = Counter()
    channel_layer_alias = ""  # no channel of its own: the hub has one for all

    def __init__(self) -> None:
        """Begin without a person."""
        super().__init__()
        self.outbox = Outbox()
        self.access: Access = Access("", ())
        self.streams: dict[str, Stream] = {}
        self.standings: set[str] = set()
        self.news = asyncio.Event()
        self.questions = 0
        self.person: object = None
        self.tasks: list[asyncio.Task[None]] = []
        self.work = asyncio.Event()
        self.is_closed = False
        self.patience = asyncio.timeout(None)  # with each message; one for all of them is cheaper than one each

    async def __call__(self, scope: WebSocketScope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
        """Serve one socket; whatever ends it, nothing of it is left."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._end()

    async def connect(self) -> None:
        """Let in who is logged in, comes from one of our pages, and has not too many sockets."""
        headers = dict(self.scope["headers"])
        origin, host = (headers.get(name, b"").decode("latin-1") for name in (b"origin", b"host"))
        if not is_ours(origin, host, settings.CSRF_TRUSTED_ORIGINS):
            await self.close(NOT_FOR_YOU)
            return
        await self.accept()  # before a refusal: a browser is told no code by a handshake that fails
        self.access = await self._access()
        has = self.access.highest()
        if has is None or not has.includes(self.needs_role):
            await self.close(NOT_FOR_YOU if self._is_logged_in() else LOG_IN)
            return
        if self.sockets[self.access.name] >= MOST_SOCKETS:
            await self.close(TOO_MUCH)
            return
        self.person = self.access.name
        self.sockets[self.person] += 1
        serving().came()
        self.tasks = [asyncio.create_task(self._send_all()), asyncio.create_task(self._beat())]

    async def close(self, code: int | None = None, reason: str | None = None) -> None:
        """Close, once: what a browser still sends meanwhile closes nothing a second time."""
        if not self.is_closed:
            self.is_closed = True
            await super().close(code, reason)

    async def _end(self) -> None:
        """End what was begun."""
        self.is_closed = True
        was_open = self.person is not None
        if was_open:
            self.sockets[self.person] -= 1
            self.person = None
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
        for stream in (*self.streams, *self.standings):
            await hub().leave(stream, self)
        self.streams.clear()
        if was_open:
            await serving().went()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Follow or leave a stream."""
        if self.is_closed:
            return
        self.questions += 1
        if self.questions > MOST_QUESTIONS:
            await self.close(TOO_MUCH)
            return
        question = read_question(text_data) if bytes_data is None else None
        if question is None:
            await self.close(NOT_UNDERSTOOD)
        elif question.is_follow:
            await self._follow(question.stream, question.seq)
        elif self.streams.pop(question.stream, None) is not None:
            self.outbox.unfollow(question.stream)
            await hub().leave(question.stream, self)

    def hear(self, event: StepEvent) -> None:
        """Queue a step or a pulse of a stream. Never waits for the browser."""
        if event["stream"] in self.standings:
            self.news.set()
            return
        stream = self.streams.get(event["stream"])
        if stream is None:
            return
        body, dropped = event["body"], self.outbox.dropped
        if stream.cluster is not None:
            body = for_person(body, stream=stream, access=self.access)
        if event["is_step"]:
            self.outbox.step(stream.name, event["seq"], body)
        else:
            self.outbox.pulse(stream.name, body)
        if self.outbox.dropped != dropped:
            serving().count(Kind.FELL_BEHIND, self.outbox.dropped - dropped)
        self.work.set()

    async def _follow(self, name: str, seq: int | None) -> None:
        stream = await database_sync_to_async(find_stream)(name=name, access=self.access)
        if stream is None:
            await self._tell_gone(name)
        elif name not in self.streams and len(self.streams) >= MOST_STREAMS:
            await self.close(TOO_MUCH)
        else:
            self.streams[name] = stream
            try:
                await hub().follow(name, self)  # first: what comes now must not be missed
                await self._follow_standing(stream.standing)
            except GONE as error:
                logger.warning("nobody can follow %s now: %s", name, str(error) or "no answer in time")
                serving().count(Kind.WITHOUT_REDIS)
                await self.close(TRY_AGAIN_LATER)
                return
            self.outbox.follow(name, seq)
            self.work.set()
            await database_sync_to_async(note_followed)(streams=[stream], now=now_ms())

    async def _follow_standing(self, name: str) -> None:
        """Hear when a cluster is put aside, or deleted; until the end, for its next stream may come at once."""
        if name not in self.standings:
            self.standings.add(name)
            await hub().follow(name, self)

    async def _tell_gone(self, name: str) -> None:
        """Say that a stream is gone, and go on with the others: which of deleted and not for you it is, is not told."""
        body = gone_pulse(name=name, at=now_ms())
        if body is None:
            await self.close(NOT_FOR_YOU)
        else:
            self.outbox.tell(body)
            self.work.set()

    async def _send_all(self) -> None:
        """Send what is queued, one after the other, for as long as the socket is open."""
        try:
            async with asyncio.timeout(None) as self.patience:
                while True:
                    await self.work.wait()
                    self.work.clear()
                    while (next_one := self.outbox.take()) is not None:
                        if isinstance(next_one, Send):
                            await self._send(next_one.body)
                        else:
                            await self._catch_up(next_one)
        except TimeoutError:
            serving().count(Kind.TOO_SLOW)
            await self.close(TOO_SLOW)
        except OSError:
            serving().count(Kind.NOT_TO_BROWSER)
            logger.debug("the browser of %s went away in the middle of a message", self.person)
        except Exception:
            serving().count(Kind.BROKEN)
            logger.exception("a socket of %s ended", self.person)
            await self.close(1011)

    async def _catch_up(self, order: CatchUp) -> None:
        stream = self.streams.get(order.stream)
        if stream is None:
            self.outbox.unfollow(order.stream)
            return
        missing = await database_sync_to_async(bring_up_to_date)(
            stream=stream, last_seq=order.last_seq, access=self.access
        )
        for body in missing.bodies:
            await self._send(body)
        self.outbox.caught_up(order, missing.seq)

    async def _send(self, body: bytes) -> None:
        """Send a message. As little as can be done for each: a hundred sockets may be told of one change."""
        self.patience.reschedule(asyncio.get_running_loop().time() + SEND_WITHIN_S)
        await self.scope.get(STRAIGHT, self.base_send)({"type": "websocket.send", "bytes": body})
        self.patience.reschedule(None)

    async def _beat(self) -> None:
        """Now and then: is this person still let in, what is the newest step, and these streams are looked at.

        At once where a cluster stands otherwise than before.
        """
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(BEAT_S):
                    await self.news.wait()
            self.news.clear()
            self.questions = 0
            try:
                await self._beat_once()
            except Exception:  # a database that is away for a moment; the next beat tries again
                logger.exception("a socket of %s missed a beat", self.person)

    async def _beat_once(self) -> None:
        access = await self._access()
        if access != self.access:
            await self.close(LOG_IN if access.highest() is None else NOT_FOR_YOU)
            return
        for stream, body in await database_sync_to_async(self._pulses)():
            self.outbox.pulse(stream, body)
        self.work.set()

    def _pulses(self) -> list[tuple[str, bytes]]:
        now, streams = now_ms(), list(self.streams.values())
        if streams:
            note_followed(streams=streams, now=now)
        return [(stream.name, pulse_of(stream=stream, at=now, access=self.access)) for stream in streams]

    async def _access(self) -> Access:
        access: Access = await database_sync_to_async(self._read_access)()
        return access

    def _read_access(self) -> Access:
        """Read what the person may do now; nothing, if the log-in has ended, or the password is another one since."""
        session, user = self.scope.get("session"), self.scope.get("user")
        if not isinstance(user, User):
            return Access("", ())
        if session is None:
            now = get_user_model()._default_manager.filter(pk=user.pk).first() or AnonymousUser()
        else:
            asked = HttpRequest()
            asked.session = _stored(session.session_key)
            now = get_user(asked)  # looks at the session's age and at the password's hash, as for a page
        return access_of(user=now) if now.pk == user.pk else Access("", ())

    def _is_logged_in(self) -> bool:
        return isinstance(self.scope.get("user"), User)
