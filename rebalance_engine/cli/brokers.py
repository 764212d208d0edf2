"""The brokers of a cluster, as every name server lists them, and how each runs by its own word.

    evenkeel brokers --namesrv 127.0.0.1:9876

The exit status is 1 if no name server answered, or a broker did not.
"""

from __future__ import annotations

import argparse
import sys

from rebalance_engine.cli.asking import add_asking_arguments, as_json, ask
from rebalance_engine.cli.terminal import Column, paper_of, safe, show, table
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.surveying import BrokerLook, look_at_brokers

TIMEOUT_S = 10.0
UNKNOWN = "?"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_asking_arguments(parser, timeout_s=TIMEOUT_S)


def run(asked: argparse.Namespace) -> int:
    """List them."""

    async def main(admin: Admin, _: object) -> int:
        name_servers, brokers = await look_at_brokers(admin, deadline_s=asked.timeout)
        silent = [f"name server {heard.why}" for heard in name_servers.values() if heard.trouble is not None]
        told = len(name_servers) - len(silent)
        if asked.json:
            show([as_json(describe(broker)) for broker in brokers])
        else:
            show(_lines(brokers, told, silent))
        return 0 if told and all(broker.runtime.value is not None for broker in brokers) else 1

    return ask(asked, main)


def describe(broker: BrokerLook) -> dict[str, object]:
    """Say what is known of a broker; None is unknown."""
    table = broker.runtime.value or {}
    return {
        "cluster": broker.cluster,
        "broker": broker.name,
        "broker_id": broker.broker_id,
        "address": broker.address,
        "known_to": broker.known_to,
        "answers": broker.runtime.value is not None,
        "took_ms": broker.took_ms if broker.runtime.value is not None else None,
        "why": broker.runtime.why or None,
        "version": table.get("brokerVersionDesc"),
        "in_per_s": _rate(table.get("putTps")),
        "out_per_s": _rate(table.get("getTransferredTps") or table.get("getTransferedTps")),
        "disk": _share(table.get("commitLogDiskRatio")),
        "started_at": int(booted) if (booted := table.get("bootTimestamp", "")).isdigit() else None,
    }


def _lines(brokers: tuple[BrokerLook, ...], told: int, silent: list[str]) -> list[str]:
    paper = paper_of(sys.stdout)
    columns = [
        Column("BROKER", shrinks=True),
        Column("ROLE"),
        Column("ADDRESS"),
        Column("VERSION"),
        Column("IN/S", is_number=True),
        Column("OUT/S", is_number=True),
        Column("DISK", is_number=True),
        Column("ANSWERED", shrinks=True),
    ]
    lines = table(columns, [_row(broker) for broker in brokers], paper) if brokers else ["No broker is known."]
    partly = [broker for broker in brokers if len(broker.known_to) < told]
    notes = [
        *silent,
        *(
            f"{broker.name} {broker.role}: {broker.runtime.why}"
            for broker in brokers
            if broker.runtime.trouble is not None
        ),
        *(f"{broker.name} {broker.role}: only {', '.join(broker.known_to)} knows it" for broker in partly),
    ]
    return [*lines, *([""] if notes else []), *map(safe, notes)]


def _row(broker: BrokerLook) -> list[str]:
    known = describe(broker)
    disk = known["disk"]
    return [
        safe(broker.name, 60),
        broker.role,
        safe(broker.address, 60),
        safe(str(known["version"] or UNKNOWN).removeprefix("V").replace("_", "."), 20),
        *(UNKNOWN if known[name] is None else f"{known[name]:,.0f}" for name in ("in_per_s", "out_per_s")),
        UNKNOWN if disk is None else f"{disk:.0%}",
        f"{broker.took_ms} ms" if known["answers"] else "no",
    ]


def _rate(text: str | None) -> float | None:
    """Read the first of three rates: of the last ten seconds."""
    try:
        return float((text or "").split()[0])
    except (IndexError, ValueError):
        return None


def _share(text: str | None) -> float | None:
    try:
        share = float(text or "")
    except ValueError:
        return None
    return share if 0 <= share <= 1 else None
