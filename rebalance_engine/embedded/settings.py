"""What can be set of an embedded broker; the defaults are RocketMQ's, but for the size of the log.

Sources: ``common/.../BrokerConfig.java``, ``store/.../MessageStoreConfig.java``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from rebalance_engine.membership.profiles import BrokerSettings, Version, is_since

DELAY_LEVELS = "1s 5s 10s 30s 1m 2m 3m 4m 5m 6m 7m 8m 9m 10m 20m 30m 1h 2h"
_UNITS_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_LEVEL = re.compile(r"([0-9]{1,9})([smhd])")


def delays_ms(text: str) -> tuple[int, ...]:
    """Read delay levels; level 1 is the first.

    >>> delays_ms("1s 2m")
    (1000, 120000)

    Raises:
        ValueError: a word is no delay.
    """
    delays = []
    for word in text.split():
        match = _LEVEL.fullmatch(word)
        if match is None:
            raise ValueError(f"delay {word!r}; it needs to be like 10s, 5m, 2h or 1d")
        delays.append(int(match[1]) * _UNITS_MS[match[2]])
    return tuple(delays)


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedSettings:
    """One broker.

    Attributes:
        membership: name, cluster, version, address, and all that membership depends on.
        creates_topics: ``autoCreateTopicEnable``: the first message to an unknown topic makes it.
        default_topic_queues: ``defaultTopicQueueNums``: the most queues of a topic made so.
        max_log_bytes: what all messages may take up on disk; beyond it the oldest are dropped.
        segment_bytes: ``mappedFileSizeCommitLog``: the size in which they are dropped.
        max_message_bytes: ``maxMessageSize``.
        delay_levels: ``messageDelayLevel``.
        scans_pulls_every_ms: how often waiting pulls are looked through (``PullRequestHoldService``).
        keeps_offsets_every_ms: ``flushConsumerOffsetInterval``.
        transaction_timeout_ms: ``transactionTimeOut``: so old a prepared message is asked about.
        checks_transactions_every_ms: ``transactionCheckInterval``; None: that of the version.
        transaction_checks: ``transactionCheckMax``: asked so often, it is given up.
    """

    membership: BrokerSettings = field(default_factory=BrokerSettings)
    creates_topics: bool = True
    default_topic_queues: int = 8
    max_log_bytes: int = 256 * 2**20
    segment_bytes: int = 16 * 2**20
    max_message_bytes: int = 4 * 2**20
    delay_levels: str = DELAY_LEVELS
    scans_pulls_every_ms: int = 5_000
    keeps_offsets_every_ms: int = 5_000
    transaction_timeout_ms: int = 6_000
    checks_transactions_every_ms: int | None = None
    transaction_checks: int = 15

    def is_since(self, version: Version) -> bool:
        """Say whether the broker presents that version or a later one."""
        return is_since(self.membership.version, version)

    @property
    def transaction_interval_ms(self) -> int:
        """How often prepared messages are looked through."""
        if self.checks_transactions_every_ms is not None:
            return self.checks_transactions_every_ms
        return 30_000 if self.is_since((5, 0, 0)) else 60_000

    @property
    def cluster(self) -> str:
        """The name of its cluster."""
        return self.membership.cluster or "DefaultCluster"
