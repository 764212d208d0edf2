"""Evenkeel's engine: who consumes which queue of a RocketMQ group, and what a change of that costs."""

from rebalance_engine.model import MessageQueue

__all__ = ["MessageQueue"]
