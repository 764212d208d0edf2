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
from collections.abc import Callable

from django.conf import settings

from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.orders import Done
from dashboard.demo.control import NoDemo, ask_order
from dashboard.demo.orders import Order
from rebalance_engine.events import CommandOutcome, ReceiptAnswer
from rebalance_engine.findings.finding import count_of
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.probe import SETTLES_S, Prober, receipt
from rebalance_engine.network.watcher import Watcher
from rebalance_engine.remoting.errors import RemotingError

RECOMPUTE = "group.recompute"
DEMO = "demo."
LEAST_S = 0.5


async def carry_out(order: Command, *, row: Cluster, watcher: Watcher, prober: Prober, now: Callable[[], int]) -> Done:
    """Carry out one order; whatever happens to it is an outcome."""
    try:
        async with asyncio.timeout(max(LEAST_S, (order.deadline - now()) / 1000)):
            if order.verb.startswith(DEMO):
                return await _play(order, row)
            if order.verb == RECOMPUTE:
                return await _recompute(order, row, watcher, prober)
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


async def _recompute(order: Command, row: Cluster, watcher: Watcher, prober: Prober) -> Done:
    """Probe, and compare what each member holds before and after."""
    group, memory = order.group_name, watcher.memory
    if not group:
        return Done(CommandOutcome.REFUSED, f"{RECOMPUTE} names no group; it needs one")
    if row.is_read_only:
        return Done(CommandOutcome.REFUSED, f"{row.name} is watched read-only; nothing is sent to its groups")
    before = {client: memory.held(group, client) for client in memory.members(group)}
    addresses = [memory.masters[name] for name in sorted(memory.hosts(group))]
    try:
        probe = await prober.probe(group, addresses)
    except (NoAnswer, Denied, RemotingError) as error:
        return Done(CommandOutcome.FAILED, str(error))
    if probe.obstacle is not None:
        return Done(CommandOutcome.REFUSED, probe.obstacle.value)
    reached = frozenset[str]().union(*probe.notified.values())
    watcher.hurry(group, for_s=SETTLES_S)
    await asyncio.sleep(SETTLES_S)
    receipts = {
        client: receipt(client in reached, before.get(client), memory.held(group, client))
        for client in sorted(reached | before.keys())
    }
    brokers = count_of(len(probe.notified), "broker", "brokers")
    told = f"{brokers} notified {count_of(len(reached), 'member', 'members')}"
    return Done(CommandOutcome.DONE, f"{told}; {probe.trouble}" if probe.trouble else told, receipts)
