"""A client's facts on their way to a control room: in batches, from a bounded queue, again where it did not answer.

Consuming never waits for it: a fact is put into the queue, and all else is done by a task of its own. What does not fit
any more is dropped, oldest first, counted, and said.
"""

from __future__ import annotations

import asyncio
import logging
import os
import random
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from rebalance_engine import eventlog
from rebalance_engine.events import BrokerLatency, Fact, SendOutcome
from rebalance_engine.network.complaints import Complaints
from rebalance_engine.network.reports import Answer, Verdict, body_of_lines, in_thread, post, token_of
from rebalance_engine.network.tallies import Tallied

logger = logging.getLogger(__name__)

AsyncPost = Callable[[bytes], Awaitable[Answer]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How much and how often.

    Attributes:
        every_s: facts wait so long for others, to be one report.
        most_kept: facts that wait; of more the oldest are dropped.
        most_facts, most_bytes: in one report; a control room takes 1,000 and 1 MiB.
        retry_s: the first pause after a failure, and the longest; each is twice the one before, and up to a half less.
        drain_s: how long a client's end waits for what is left.
    """

    every_s: float = 1.0
    most_kept: int = 20_000
    most_facts: int = 500
    most_bytes: int = 256 * 1024
    retry_s: tuple[float, float] = (0.5, 30.0)
    drain_s: float = 2.0


class Reporter:
    """Sends the facts of one client.

    Args:
        group: that they are about; the token is this group's.
        complaints: is told what keeps reports from being taken, and that it is over.
        post: sends a body, and gives the answer.

    Attributes:
        taken, lost: how many facts the control room has taken, and how many never will reach it.
        thinned: how many latencies were left out because a slower one of the same broker went into the same report.
    """

    def __init__(
        self, url: str, group: str, *, complaints: Complaints, post: AsyncPost, pace: Pace | None = None
    ) -> None:
        self.taken = self.lost = self.thinned = 0
        self._url, self._group, self._post, self._pace = url, group, post, pace or Pace()
        self._complaints = complaints
        self._luck = random.Random()  # noqa: S311  # it spreads retries
        self._kept: deque[Fact] = deque()
        self._sent: dict[str, Tallied] = {}
        self._has_some, self._is_full, self._is_closing = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._under_way = 0
        self._task: asyncio.Task[None] | None = None

    # ---- its life ----

    def start(self) -> None:
        """Begin to send."""
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run(), name=f"report {self._group}")

    def put(self, fact: Fact) -> None:
        """Take a fact in. Of sends that went well the slowest of a broker is told in each report, all are counted."""
        if isinstance(fact, BrokerLatency) and fact.outcome is SendOutcome.OK:
            before = self._sent.get(fact.broker)
            self.thinned += before is not None
            if before is None:
                self._sent[fact.broker] = Tallied(fact)
            else:
                before.add(fact)
        else:
            if len(self._kept) >= self._pace.most_kept:
                self._kept.popleft()
                self._lose(1)
            self._kept.append(fact)
        self._has_some.set()
        if len(self._kept) >= self._pace.most_facts:
            self._is_full.set()

    async def close(self) -> None:
        """Send what is left, as far as that is done in time, and end."""
        self._is_closing.set()
        if self._task is None:
            return
        await asyncio.wait((self._task,), timeout=self._pace.drain_s)
        await self.abandon()
        self.lost += len(self._kept) + len(self._sent) + self._under_way
        if self.lost:
            logger.warning("%d facts were not reported to %s, %d were", self.lost, self._url, self.taken)

    async def abandon(self) -> None:
        """End without another word."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.wait((task,))

    # ---- its work ----

    async def _run(self) -> None:
        while True:
            await self._wait_for_a_batch()
            lines = self._batch()
            if lines:
                self._under_way = len(lines)
                await self._deliver(lines)
            if self._kept or self._sent:
                self._has_some.set()  # not all went into one report, or more came meanwhile
            elif self._is_closing.is_set():
                return

    async def _wait_for_a_batch(self) -> None:
        """Wait for a fact, then for others; a full batch, or the end, waits for nothing."""
        await _first(self._has_some, self._is_closing)
        await _first(self._is_full, self._is_closing, timeout_s=self._pace.every_s)
        self._has_some.clear()
        if len(self._kept) < 2 * self._pace.most_facts:
            self._is_full.clear()

    def _batch(self) -> list[str]:
        lines: list[str] = []
        size = 0
        while len(lines) < self._pace.most_facts and size < self._pace.most_bytes:
            if self._kept:
                fact: Fact = self._kept.popleft()
            elif self._sent:
                fact = self._sent.pop(next(iter(self._sent))).fact()
            else:
                break
            lines.append(eventlog.write(fact))
            size += len(lines[-1])
        return lines

    async def _deliver(self, lines: Sequence[str]) -> None:
        """Send a report until it is taken or never will be; in two, if it is too large."""
        body = body_of_lines(group=self._group, report=str(uuid.uuid4()), lines=lines)
        pause_s, longest_s = self._pace.retry_s
        while True:
            answer = await self._post(body)
            verdict = answer.verdict
            if verdict is Verdict.TAKEN:
                self.taken += len(lines)
                self._under_way -= len(lines)
                self._complaints.take_back("report", f"{self._url} takes reports again; {self.lost} facts were lost")
                return
            if verdict is Verdict.TOO_LARGE and len(lines) > 1:
                middle = len(lines) // 2
                await self._deliver(lines[:middle])
                await self._deliver(lines[middle:])
                return
            if verdict is not Verdict.LATER:
                logger.warning("%d facts are dropped: %s", len(lines), told(self._url, answer))
                self._under_way -= len(lines)
                self._lose(len(lines))
                return
            self._complaints.say("report", f"facts wait to be reported: {told(self._url, answer)}")
            await self._pause(pause_s * (1 - self._luck.random() / 2))
            pause_s = min(2 * pause_s, longest_s)

    async def _pause(self, pause_s: float) -> None:
        if self._is_closing.is_set():
            await asyncio.sleep(min(pause_s, self._pace.drain_s / 4))  # it is cancelled in time
        else:
            await _first(self._is_closing, timeout_s=pause_s)

    def _lose(self, count: int) -> None:
        if self.lost == 0:
            most = self._pace.most_kept
            logger.warning("facts are lost: more than %d wait for %s, or it refuses them", most, self._url)
        self.lost += count


def reporter_of(options: Mapping[str, object], group: str, complaints: Complaints) -> Reporter | None:
    """Make the reporter that an application asked for by ``report_url``; None where it did not.

    Raises:
        ValueError: the token in the environment is none.
    """
    url = options.get("report_url")
    if not isinstance(url, str):
        return None
    token = token_of(os.environ)

    async def send(body: bytes) -> Answer:
        return await in_thread(partial(post, url, body, token=token))

    return Reporter(url, group, complaints=complaints, post=send)


def told(url: str, answer: Answer) -> str:
    """Say what came of a report that was not taken."""
    if answer.status is None:
        return f"{url}: {answer.said}"
    return f"{url} answers {answer.status}{f': {answer.said!r}' if answer.said else ''}"


async def _first(*events: asyncio.Event, timeout_s: float | None = None) -> None:
    """Wait for one of several events."""
    waits = [asyncio.ensure_future(event.wait()) for event in events]
    try:
        await asyncio.wait(waits, timeout=timeout_s, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for wait in waits:
            wait.cancel()
        await asyncio.wait(waits)
