"""One producer's view: where a topic is, which queue is next, which brokers it leaves alone, and why.

``java("5.3.0")``, ``CPP`` and ``GO`` say whose behaviour it has, ``Settings`` what the application set. Nothing here
knows sockets or clocks.
"""

from __future__ import annotations

from rebalance_engine.producer.profiles import CPP, GO, Profile, java
from rebalance_engine.producer.selection import Choice, Skip, Step, Why
from rebalance_engine.producer.settings import Settings

__all__ = ["CPP", "GO", "Choice", "Profile", "Settings", "Skip", "Step", "Why", "java"]
