"""One producer's view: where a topic is, which queue is next, which brokers it leaves alone, and why.

``Producer`` is the machine, ``java("5.3.0")``, ``CPP`` and ``GO`` say whose behaviour it has, ``Settings`` what the
application set. It decides exactly as that client does; ``explain`` says what it would do next without doing it.
Nothing here knows sockets or clocks.
"""

from __future__ import annotations

from rebalance_engine.producer.machine import Producer, Sending
from rebalance_engine.producer.profiles import CPP, GO, Profile, java
from rebalance_engine.producer.selection import Choice, Skip, Step, Why
from rebalance_engine.producer.send_loop import Attempt, Failed, Message, Mode, Outcome, Sent, Story
from rebalance_engine.producer.settings import Settings

__all__ = [
    "CPP",
    "GO",
    "Attempt",
    "Choice",
    "Failed",
    "Message",
    "Mode",
    "Outcome",
    "Producer",
    "Profile",
    "Sending",
    "Sent",
    "Settings",
    "Skip",
    "Step",
    "Story",
    "Why",
    "java",
]
