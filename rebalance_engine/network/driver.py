"""A machine on real sockets and the real clock: it decides, and this carries out what it asks for.

One event at a time goes through the machine, in the order in which things happened. Nothing here decides.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Coroutine, Hashable, Iterable, Mapping
from types import TracebackType
from typing import Self, cast

from rebalance_engine.effects import (
    Answered,
    Cancel,
    Close,
    Heard,
    Push,
    Respond,
    Save,
    Send,
    SendOneway,
    State,
    Unanswered,
    WakeAt,
    Woken,
)
from rebalance_engine.network.clock import Clock
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenContent, LocalProtocolError
from rebalance_engine.remoting.requests.contract import Refused, Request, Response

logger = logging.getLogger(__name__)

React = Callable[[Heard, int], Iterable[object]]
Step = Callable[[int], Iterable[object]]


class MachineBroke(Exception):
    """The machine raised, or asked for what nobody does here; the cause says it. It is not driven any more."""


class Driver:
    """Drives one machine from now until ``close``, or until the machine breaks.

    It takes over what is heard on the channels of the transport, those of a listener that shares them included.

    Args:
        react: lets the machine hear something at a time (epoch ms), and gives its effects.
        transport: carries what it sends; it stays its owner's, to be closed after the driver.
        doing: further effects of this machine -> what carries them out.
        on_fact: is told each fact that the machine states.
        save: keeps a text under a name.
        complaints: says what keeps the machine from its answers.
    """

    def __init__(
        self,
        react: React,
        transport: Transport,
        *,
        doing: Mapping[type, Callable[..., None]] | None = None,
        on_fact: Callable[[object], None] = lambda _fact: None,
        save: Callable[[str, str], None] | None = None,
        complaints: Complaints | None = None,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self.clock = Clock(self._loop)
        self.transport = transport
        self.broke: asyncio.Future[MachineBroke] = self._loop.create_future()
        self._react = react
        self._on_fact = on_fact
        self._keep = save
        self._complaints = complaints
        self._now = self.clock.now()
        self._steps: deque[Step] = deque()
        self._is_busy = False
        self._is_over = False
        self._timers: dict[Hashable, asyncio.TimerHandle] = {}
        self._sends: set[asyncio.Task[None]] = set()
        self._tells: set[asyncio.Task[None]] = set()
        self._doing: dict[type, Callable[..., None]] = {
            Send: self._send,
            SendOneway: self._send_oneway,
            Respond: self._respond,
            Push: self._push,
            Close: self._close_channel,
            WakeAt: self._wake_at,
            Cancel: self._cancel,
            Save: self._save,
            State: self._state,
            **(doing or {}),
        }
        transport.channels.on_heard = self.hear

    # ---- what the machine hears ----

    def hear(self, heard: Heard) -> None:
        """Let the machine hear something."""
        self.do(lambda at: self._react(heard, at))

    def do(self, step: Step) -> None:
        """Let the machine do something at a time (epoch ms), and carry out what it asks for.

        A step that comes up while another is carried out waits for it. Once the machine is broken nothing happens.
        """
        if self._is_over:
            return
        self._steps.append(step)
        if self._is_busy:
            return
        self._is_busy = True
        try:
            while self._steps and not self._is_over:
                self._now = max(self._now, self.clock.now())
                self._carry_out(self._steps.popleft()(self._now))
        except Exception as error:  # noqa: BLE001  # whatever it is, the machine cannot go on; its owner is told
            self._break(error)
        finally:
            self._is_busy = False

    def _carry_out(self, effects: Iterable[object]) -> None:
        for effect in effects:
            do = self._doing.get(type(effect))
            if do is None:
                raise TypeError(f"nobody carries out {type(effect).__name__} here")
            do(effect)

    def _break(self, error: Exception) -> None:
        broke = MachineBroke(f"the machine cannot go on: {type(error).__name__}: {error}")
        broke.__cause__ = error
        logger.error("the machine cannot go on", exc_info=error)
        self._stop()
        if not self.broke.done():
            self.broke.set_result(broke)

    # ---- its end ----

    async def run(self) -> None:
        """Wait as long as the machine is driven.

        Raises:
            MachineBroke: it cannot go on.
        """
        raise await asyncio.shield(self.broke)

    async def told(self, within_s: float) -> None:
        """Wait until the one-way requests so far are on their way, or cannot be, for so long at most."""
        if self._tells:
            await asyncio.wait(tuple(self._tells), timeout=within_s)

    async def close(self) -> None:
        """Drive the machine no more: forget its timers, give up its requests."""
        self._stop()
        sends = tuple(self._sends)
        for send in sends:
            send.cancel()
        await asyncio.gather(*sends, return_exceptions=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def _stop(self) -> None:
        self._is_over = True
        self._steps.clear()
        for timer in self._timers.values():
            timer.cancel()
        self._timers.clear()

    # ---- what it asks for ----

    def _send(self, send: Send) -> None:
        self._start(self._ask(send), "ask")

    async def _ask(self, send: Send) -> None:
        request = cast("Request[Response]", send.request)
        heard: Heard
        try:
            response = await self.transport.request(send.to, request, send.timeout_ms)
            heard = Answered(token=send.token, response=response)
            if self._complaints is not None:
                self._complaints.answered(send.to, request, response)
        except NoAnswer as error:
            if self._complaints is not None:
                self._complaints.unanswered(error, send.timeout_ms)
            logger.debug("no answer to %s: %s", type(request).__name__, error)
            heard = Unanswered(token=send.token, failure=error.failure)
        except BrokenContent as error:
            if self._complaints is not None:
                self._complaints.garbled(send.to, request, error)
            refused = Refused(code=ResponseCode.SYSTEM_ERROR, remark=f"the answer cannot be read: {error}")
            heard = Answered(token=send.token, response=refused)
        except LocalProtocolError as error:
            heard = Answered(token=send.token, response=Refused(code=ResponseCode.MESSAGE_ILLEGAL, remark=str(error)))
        self.hear(heard)

    def _send_oneway(self, send: SendOneway) -> None:
        task = self._start(self._tell(send), "tell")
        self._tells.add(task)
        task.add_done_callback(self._tells.discard)

    async def _tell(self, send: SendOneway) -> None:
        try:
            await self.transport.oneway(send.to, cast("Request[Response]", send.request))
        except (NoAnswer, LocalProtocolError) as error:
            logger.info("one-way %s was not sent: %s", type(send.request).__name__, error)

    def _start(self, sending: Coroutine[None, None, None], name: str) -> asyncio.Task[None]:
        task = self._loop.create_task(sending, name=name)
        self._sends.add(task)
        task.add_done_callback(self._sends.discard)
        return task

    def _respond(self, respond: Respond) -> None:
        self.transport.channels.respond(respond.channel, respond.token, cast("Response", respond.response))

    def _push(self, push: Push) -> None:
        self.transport.channels.push(push.channel, cast("Request[Response]", push.request))

    def _close_channel(self, close: Close) -> None:
        self.transport.channels.close(close.channel)

    def _wake_at(self, wake: WakeAt) -> None:
        self._cancel(wake)
        self._timers[wake.timer] = self._loop.call_at(self.clock.loop_time(wake.at), self._wake, wake)

    def _wake(self, wake: WakeAt) -> None:
        del self._timers[wake.timer]
        self._now = max(self._now, wake.at)  # the loop may be early by its clock's resolution
        self.hear(Woken(timer=wake.timer))

    def _cancel(self, effect: Cancel | WakeAt) -> None:
        if (timer := self._timers.pop(effect.timer, None)) is not None:
            timer.cancel()

    def _save(self, save: Save) -> None:
        if self._keep is None:
            raise TypeError(f"nobody keeps {save.name!r} here; the driver needs save=")
        self._keep(save.name, save.text)

    def _state(self, state: State) -> None:
        self._on_fact(state.fact)
