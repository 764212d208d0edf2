"""Carrying out what people ordered of a cluster, within the deadline of each order.

============================  ================  ==========================================================
verb                          needs             does
============================  ================  ==========================================================
``group.recompute``           ``group_name``    lets every member rebalance now, by a probe; changes nothing
``demo.*``                    see ``demo``      what the demo can do
============================  ================  ==========================================================
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from django.conf import settings

from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.orders import Done
from dashboard.demo.control import NoDemo, ask_order
from dashboard.demo.orders import Order
from dashboard.groups.recording.orders import RECOMPUTE
from rebalance_engine.events import (
    EXACT,
    CommandFinished,
    CommandOrdered,
    CommandOutcome,
    Fact,
    Origin,
    ReceiptAnswer,
    Source,
)
from rebalance_engine.findings.finding import count_of
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.probe import SETTLES_S, Prober, receipt
from rebalance_engine.network.watcher import Watcher
from rebalance_engine.remoting.errors import RemotingError

DEMO = "demo."
LEAST_S = 0.5
FIRST_LOOK_S = 2.0
LOOK_AGAIN_S = 0.05
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
                return await _recompute(order, row, watcher, prober, state)
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


async def _recompute(order: Command, row: Cluster, watcher: Watcher, prober: Prober, state: State) -> Done:
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
    except (NoAnswer, Denied, RemotingError) as error:
        return Done(CommandOutcome.FAILED, str(error))
    if probe.obstacle is not None:
        not_asked = dict.fromkeys(sorted(before), ReceiptAnswer.NOT_ASKED)
        return Done(CommandOutcome.REFUSED, probe.obstacle.value, not_asked)
    reached = frozenset[str]().union(*probe.notified.values())
    brokers = count_of(len(probe.notified), "broker", "brokers")
    told = f"{brokers} notified {count_of(len(reached), 'member', 'members')}"
    told = f"{told}; {probe.trouble}" if probe.trouble else told
    await state(_done(order, told, watcher.clock.now()))
    watcher.hurry(group, for_s=SETTLES_S)
    await asyncio.sleep(SETTLES_S)
    receipts = {
        client: receipt(client in reached, before.get(client), memory.held(group, client))
        for client in sorted(reached | before.keys())
    }
    return Done(CommandOutcome.DONE, told, receipts)


async def _look_first(group: str, watcher: Watcher) -> None:
    """Have members looked at, as far as that takes no long: only what changes after a look is known to change then."""
    began, memory = watcher.clock.now(), watcher.memory
    watcher.hurry(group, for_s=FIRST_LOOK_S)
    for _ in range(round(FIRST_LOOK_S / LOOK_AGAIN_S)):
        if all((memory.held_at(group, client) or 0) >= began for client in memory.members(group)):
            return
        await asyncio.sleep(LOOK_AGAIN_S)


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
