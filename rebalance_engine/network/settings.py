"""What a process may set of its network; times in seconds, sizes in bytes. Defaults are RocketMQ's where it has one.

Source: ``remoting/.../netty/NettyClientConfig.java``, ``NettyServerConfig.java``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rebalance_engine.effects import Address
from rebalance_engine.network.tls import Tls
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.frames import MAX_RECEIVED
from rebalance_engine.remoting.versions import ANNOUNCED


@dataclass(frozen=True, kw_only=True)
class NetworkSettings:
    """How a process speaks, calls, and what a connection may cost it.

    Attributes:
        acl: who we are; every request of ours is signed. None: nothing is.
        tls: how connections that we open are secured. None: they are plain.
        rewrite: advertised address or host -> the one to call instead (``rewriting``).
        language, version: what the headers of our commands say of us.
        connect_timeout_s: ``connectTimeoutMillis``; the TLS handshake is within it.
        redial_first_s, redial_most_s: how long the dial after a failed one waits; doubled by each failure.
        idle_after_s: a connection on which nothing moved for so long is closed, as both Java sides do
            (``clientChannelMaxIdleTimeSeconds``, ``serverChannelMaxIdleTimeSeconds``).
        half_open_after_s: a request without answer in time closes its connection, if nothing at all came for so long.
        close_timeout_s: how long a close may take to write what is queued.
        max_queued: bytes that wait in a connection because its peer does not read. Above a quarter of it requests wait;
            a peer that has even more to be told is cut off.
        max_received: the longest frame that is read; from clients never more than Java takes (16 MiB).
        max_connections: how many a listener accepts at a time.
        offload_above: a body that is longer is read in a thread, so that the others go on.
    """

    acl: Credentials | None = None
    tls: Tls | None = None
    rewrite: Mapping[Address, Address] = field(default_factory=dict)
    language: Language = Language.PYTHON
    version: int = ANNOUNCED
    connect_timeout_s: float = 3.0
    redial_first_s: float = 0.1
    redial_most_s: float = 2.0
    idle_after_s: float = 120.0
    half_open_after_s: float = 30.0
    close_timeout_s: float = 3.0
    max_queued: int = 8 * 2**20
    max_received: int = MAX_RECEIVED
    max_connections: int = 4096
    offload_above: int = 256 * 2**10
