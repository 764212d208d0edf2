"""Faults of a group that have a name, each with the rows that prove it.

``find_faults`` finds what one look at queues and members proves; ``find_in_sights`` what brokers, NameServers, reports
and the last minutes tell besides. One look makes a finding *suspected*; confirming it takes a second look, which is
not this room's business. Nothing is found about what is unknown.
"""

from __future__ import annotations

from rebalance_engine.findings.finding import (
    CONFIRM_AFTER_MS,
    MOST_ROWS,
    Finding,
    FindingKind,
    clock,
    dead_letter_topic,
    retry_topic,
    spell,
)
from rebalance_engine.findings.flow import Returned, Standing, given_up, is_growing, is_stuck
from rebalance_engine.findings.looks import (
    by_config_gaps,
    double_owners,
    find_faults,
    idle_consumers,
    orphan_queues,
    strategy_mismatch,
)
from rebalance_engine.findings.refused import (
    ASKED_AGAIN_MS,
    PullRefusal,
    Refusal,
    lock_refusals,
    pull_refusals,
    who_may_have,
    why_unowned,
)
from rebalance_engine.findings.seers import Division, disputed_queues
from rebalance_engine.findings.sights import NO_SIGHTS, Sights, find_in_sights
from rebalance_engine.findings.unrest import Change, Restless

__all__ = [
    "ASKED_AGAIN_MS",
    "CONFIRM_AFTER_MS",
    "MOST_ROWS",
    "NO_SIGHTS",
    "Change",
    "Division",
    "Finding",
    "FindingKind",
    "PullRefusal",
    "Refusal",
    "Restless",
    "Returned",
    "Sights",
    "Standing",
    "by_config_gaps",
    "clock",
    "dead_letter_topic",
    "disputed_queues",
    "double_owners",
    "find_faults",
    "find_in_sights",
    "given_up",
    "idle_consumers",
    "is_growing",
    "is_stuck",
    "lock_refusals",
    "orphan_queues",
    "pull_refusals",
    "retry_topic",
    "spell",
    "strategy_mismatch",
    "who_may_have",
    "why_unowned",
]
