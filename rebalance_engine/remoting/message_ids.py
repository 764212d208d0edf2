"""The two ids of a message.

The **offset id** says where the broker stored it: IP (4 or 16 bytes), port (4), commit-log offset (8). The **unique
id** is given by the producer and kept across retries: IP, process id (2), process instance (4), milliseconds since the
start of the month (4), counter (2). Both are written as upper-case hexadecimal digits, 32 of them or, with IPv6, 56.

Sources: ``common/.../message/MessageDecoder.java`` (``createMessageId``), ``MessageClientIDSetter.java``.
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from struct import Struct

from rebalance_engine.remoting.messages import Host

_PORT_OFFSET = Struct(">iq")
_UNIQUE = Struct(">HIIH")
_AFTER_IP = 12  # in both ids


def offset_id(host: Host, commit_log_offset: int) -> str:
    """Write an offset id.

    >>> offset_id(Host("10.0.0.1", 10911), 1_234_567_890)
    '0A00000100002A9F00000000499602D2'
    """
    return (host.packed() + commit_log_offset.to_bytes(8, "big", signed=True)).hex().upper()


def read_offset_id(text: str) -> tuple[Host, int]:
    """Read an offset id.

    Raises:
        ValueError: it is none.
    """
    ip, rest = _split(text)
    port, offset = _PORT_OFFSET.unpack(rest)
    return Host(ip, port), offset


@dataclass(frozen=True, slots=True, kw_only=True)
class UniqueId:
    """A unique id in its parts.

    Attributes:
        process_id: its low 16 bits.
        instance: tells processes with one id apart; Java takes the hash of a class loader.
        since_month_ms: milliseconds since the month began, in the producer's local time.
        counter: counts messages of the process, and starts again after 65,535.
    """

    ip: str
    process_id: int
    instance: int
    since_month_ms: int
    counter: int

    def __str__(self) -> str:
        """Write the id."""
        rest = _UNIQUE.pack(
            self.process_id & 0xFFFF, self.instance & 0xFFFFFFFF, self.since_month_ms, self.counter & 0xFFFF
        )
        return (ipaddress.ip_address(self.ip).packed + rest).hex().upper()

    @classmethod
    def read(cls, text: str) -> UniqueId:
        """Read an id.

        Raises:
            ValueError: it is none.
        """
        ip, rest = _split(text)
        process_id, instance, since_month_ms, counter = _UNIQUE.unpack(rest)
        return cls(ip=ip, process_id=process_id, instance=instance, since_month_ms=since_month_ms, counter=counter)


def _split(text: str) -> tuple[str, bytes]:
    if len(text) not in {32, 56}:
        raise ValueError(f"message id has {len(text)} digits; it needs 32, or 56 with IPv6")
    packed = bytes.fromhex(text)
    if len(packed) * 2 != len(text):
        raise ValueError(f"message id {text!r} needs hexadecimal digits only")
    return str(ipaddress.ip_address(packed[:-_AFTER_IP])), packed[-_AFTER_IP:]
