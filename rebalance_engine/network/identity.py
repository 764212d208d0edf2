"""Who a client is, and how its messages are told apart, as Java's clients do both.

A client id is ``ip@instance``. A clustering consumer's and a producer's instance is by default ``pid#nanoseconds``, so
that two processes of one machine are two members; a broadcasting consumer's is ``DEFAULT``, so that it finds its
offsets again after a restart.

Sources: ``client/.../ClientConfig.java`` (``buildMQClientId``, ``changeInstanceNameToPID``),
``common/.../message/MessageClientIDSetter.java``.
"""

from __future__ import annotations

import ipaddress
import os
import random
import socket
import time
from collections.abc import Sequence
from datetime import datetime

from rebalance_engine.effects import Address
from rebalance_engine.network.rewriting import split_address
from rebalance_engine.remoting.message_ids import UniqueId

DEFAULT_INSTANCE = "DEFAULT"
LOOPBACK = "127.0.0.1"


def own_instance() -> str:
    """Give an instance name that no other start of any process has: ``pid#nanoseconds``."""
    return f"{os.getpid()}#{time.perf_counter_ns()}"


def client_id(name_servers: Sequence[Address], instance: str, ip: str | None = None) -> str:
    """Make a client id of an instance name; without an ip, of the address with which we would call a name server."""
    return f"{ip or own_ip(name_servers)}@{instance}"


def own_ip(name_servers: Sequence[Address]) -> str:
    """Give the address from which this machine calls the first name server that can be looked up.

    Java takes the first address of any network card that is not private; on a machine with several that is often one
    at which nobody can see it. Nothing is sent.
    """
    for address in name_servers:
        try:
            return _ip_towards(*split_address(address))
        except OSError:
            continue
    return LOOPBACK


def _ip_towards(host: str, port: int) -> str:
    family, kind, protocol, _, target = socket.getaddrinfo(host, port, type=socket.SOCK_DGRAM)[0]
    with socket.socket(family, kind, protocol) as probe:
        probe.connect(target)
        ip: str = probe.getsockname()[0]
    return ip.partition("%")[0]


def is_ip(text: str) -> bool:
    """Say whether a text is the address of a machine, and no name for one."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class MessageIds:
    """The unique ids of one process's messages.

    Args:
        ip: of this machine.
        instance: tells this object's ids from those of another one in the process; by default any number.
    """

    def __init__(self, ip: str, instance: int | None = None) -> None:
        self._ip = ip
        self._instance = random.getrandbits(32) if instance is None else instance
        self._counter = 0
        self._month_began_ms = 0
        self._next_month_ms = 0
        self._prefix = ""

    def next(self, at: int) -> str:
        """Give the next id, at a time in ms."""
        if not self._month_began_ms <= at < self._next_month_ms:
            self._begin_month(at)
        self._counter = (self._counter + 1) & 0xFFFF
        return f"{self._prefix}{at - self._month_began_ms:08X}{self._counter:04X}"

    def _begin_month(self, at: int) -> None:
        now = datetime.fromtimestamp(at / 1_000)  # noqa: DTZ006  # Java's months begin in local time
        began = now.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        following = began.replace(year=began.year + began.month // 12, month=began.month % 12 + 1)
        self._month_began_ms = int(began.timestamp() * 1_000)
        self._next_month_ms = int(following.timestamp() * 1_000)
        first = UniqueId(ip=self._ip, process_id=os.getpid(), instance=self._instance, since_month_ms=0, counter=0)
        self._prefix = str(first)[:-12]
