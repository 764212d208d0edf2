"""Carrying out what people ordered of a cluster, within the deadline of each order.

============================  ================  ==========================================================
verb                          needs             does
============================  ================  ==========================================================
``group.recompute``           ``group_name``    has every member notified to rebalance now; changes nothing
``demo.*``                    see ``demo``      what the demo can do
============================  ================  ==========================================================
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection

from django.conf import settings

from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.orders import Done
from dashboard.demo.control import NoDemo, ask_order
from dashboard.demo.orders import KILL_CONSUMER, Order
from dashboard.groups.recording.orders import RECOMPUTE
from rebalance_engine.events import (
    EXACT,
    CommandFinished,
    CommandOrdered,
    CommandOutcome,
    Departure,
    Exactness,
    Fact,
    MemberLeft,
    Origin,
    ReceiptAnswer,
    Source,
)
from rebalance_engine.model import MessageQueue
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.probe import HAD_TIME_S, SETTLES_S, NobodyNotified, Prober, receipt, told_of
from rebalance_engine.network.watcher import Watcher
from rebalance_engine.remoting.errors import RemotingError

DEMO = "demo."
LEAST_S = 0.5
FIRST_LOOK_S = 0.5  # whoever presses waits for it
RECENT_MS = 1_000  # a look so late needs no other before the probe
LOOK_AGAIN_S = 0.05
MOST_SETTLES_S = 20.0  # members of large groups are asked in turns, as the budget allows
SETTLED_AGAIN_S = 0.25
ENDS_MS = 2_000  # before its deadline: what is known by then is the receipt
State = Callable[[list[Fact]], Awaitable[None]]


async def carry_out(
    order: Command, *, row: Cluster, watcher: Watcher, prober: Prober, now: Callable[[], int], state: State
) -> Done:
    """Carry out one order; whatever happens to it is an outcome. ``state`` takes what it did to a group, as facts."""
    try:
        async with asyncio.timeout(max(LEAST_S, (order.deadline - now()) / 1000)):
            if order.verb.startswith(DEMO):
                return await _play(order, row)
            if order.verb == RECOMPUTE:
                return await _recompute(order, row, watcher, prober, now, state)
    except TimeoutError:
        return Done(CommandOutcome.FAILED, "its deadline came before it was done; it may have been carried out in part")
    return Done(CommandOutcome.REFUSED, f"there is no verb {order.verb!r}; there are {RECOMPUTE} and {DEMO}*")


async def _play(order: Command, row: Cluster) -> Done:
    if not row.is_demo:
        return Done(CommandOutcome.REFUSED, f"{row.name} is no demo cluster")
    parameters = order.parameters if isinstance(order.parameters, dict) else {}
    asked = Order(verb=order.verb, group=order.group_name or "", target=order.target, parameters=parameters)
    try:
        answer = await ask_order(settings.HOME / "demo", asked)
    except NoDemo as error:
        return Done(CommandOutcome.FAILED, str(error))
    return Done(answer.outcome, answer.detail, dict.fromkeys(answer.clients, ReceiptAnswer.CHANGED))


async def _recompute(
    order: Command, row: Cluster, watcher: Watcher, prober: Prober, now: Callable[[], int], state: State
) -> Done:
    """Look, probe, and compare what each member holds before and after.

    That it was done is stated at once, before anybody looks at what it did.
    """
    group, memory = order.group_name, watcher.memory
    if not group:
        return Done(CommandOutcome.REFUSED, f"{RECOMPUTE} names no group; it needs one")
    if row.is_read_only:
        return Done(CommandOutcome.REFUSED, f"{row.name} is watched read-only; nothing is sent to its groups")
    await _look_first(group, watcher)
    before = {client: memory.held(group, client) for client in memory.members(group)}
    addresses = [memory.masters[name] for name in sorted(memory.hosts(group))]
    try:
        probe = await prober.probe(group, addresses)
    except NobodyNotified as error:
        return Done(CommandOutcome.FAILED, str(error), dict.fromkeys(sorted(before), ReceiptAnswer.NOT_ASKED))
    except (NoAnswer, RemotingError) as error:
        words = f"{error}; whether members were notified is not known"
        return Done(CommandOutcome.FAILED, words, dict.fromkeys(sorted(before), ReceiptAnswer.UNKNOWN))
    if probe.obstacle is not None:
        not_asked = dict.fromkeys(sorted(before), ReceiptAnswer.NOT_ASKED)
        return Done(CommandOutcome.REFUSED, probe.obstacle.value, not_asked)
    notified_at, told = watcher.clock.now(), told_of(probe)
    await state(_done(order, told, notified_at))
    since = notified_at + round(HAD_TIME_S * 1_000)
    await _settle(group, probe.reached, watcher, since=since, within_s=(order.deadline - now() - ENDS_MS) / 1_000)
    receipts = {
        client: receipt(
            client in probe.reached,
            before.get(client),
            _held_since(watcher, group, client, since),
            is_told=probe.is_told_of(client),
        )
        for client in sorted(probe.reached | before.keys())
    }
    return Done(CommandOutcome.DONE, told, receipts)


async def _look_first(group: str, watcher: Watcher) -> None:
    """Have members looked at who were not lately, for a moment: only what changes after a look is known to change then.

    Nobody waits for who does not answer.
    """
    recent, memory = watcher.clock.now() - RECENT_MS, watcher.memory
    watcher.hurry(group, for_s=FIRST_LOOK_S)
    for _ in range(round(FIRST_LOOK_S / LOOK_AGAIN_S)):
        known = [memory.member(group, client) for client in memory.members(group)]
        if all(each is None or each.is_silent or (each.held_at or 0) >= recent for each in known):
            return
        await asyncio.sleep(LOOK_AGAIN_S)


async def _settle(group: str, reached: Collection[str], watcher: Watcher, *, since: int, within_s: float) -> None:
    """Wait until all who were notified had time, and were asked after it: longer where there are many of them.

    Nobody waits for who does not answer, or has left.
    """
    watcher.hurry(group, for_s=SETTLES_S)
    await asyncio.sleep(min(SETTLES_S, max(0.0, within_s)))
    left_s = min(MOST_SETTLES_S, within_s) - SETTLES_S
    if left_s <= 0 or not _are_due(group, reached, watcher, since):
        return
    watcher.hurry(group, for_s=left_s)
    for _ in range(round(left_s / SETTLED_AGAIN_S)):
        await asyncio.sleep(SETTLED_AGAIN_S)
        if not _are_due(group, reached, watcher, since):
            return


def _are_due(group: str, reached: Collection[str], watcher: Watcher, since: int) -> bool:
    """Whether somebody is still to be asked."""
    known = (watcher.memory.member(group, client) for client in reached)
    return any(each is not None and not each.is_silent and (each.asked_at or 0) < since for each in known)


def _held_since(watcher: Watcher, group: str, client: str, since: int) -> tuple[MessageQueue, ...] | None:
    """Give what a member said that it holds when it was asked at that time or later; None is unknown."""
    member = watcher.memory.member(group, client)
    if member is None or (member.asked_at or 0) < since:
        return None
    return watcher.memory.held(group, client)


def killed(order: Command, done: Done, at: int) -> list[MemberLeft]:
    """State who left because this order, which is stored as done, broke its connections; whether it did, looks tell."""
    if order.verb != KILL_CONSUMER or not order.group_name or done.outcome is not CommandOutcome.DONE:
        return []
    return [
        MemberLeft(
            at=at,
            source=Source(origin=Origin.OPERATOR, detail=order.verb),
            exactness=Exactness.at_most(at),
            group=order.group_name,
            client=client,
            departure=Departure.UNKNOWN,
        )
        for client in done.receipts or {}
    ]


def _done(order: Command, told: str, at: int) -> list[Fact]:
    source = Source(origin=Origin.OPERATOR, detail=order.verb)
    command = str(order.pk)
    ordered = CommandOrdered(
        at=order.ordered_at,
        source=source,
        exactness=EXACT,
        command=command,
        verb=order.verb,
        author=order.author_name,
        deadline=order.deadline,
        group=order.group_name,
        reason=order.reason or None,
    )
    outcome = CommandOutcome.DONE
    done = CommandFinished(at=at, source=source, exactness=EXACT, command=command, outcome=outcome, detail=told)
    return [ordered, done]
