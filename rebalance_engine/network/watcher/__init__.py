"""Watching one cluster: what is asked when, what is remembered, and what is stated.

``agenda`` and ``memory`` decide, without a clock and without a network; ``running`` does.
"""

from rebalance_engine.network.watcher.clock import WatcherClock
from rebalance_engine.network.watcher.known import Known
from rebalance_engine.network.watcher.running import Health, Watcher

__all__ = ["Health", "Known", "Watcher", "WatcherClock"]
