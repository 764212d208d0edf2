"""Findings: suspected, confirmed, cleared. Their names and proofs are the business of the room that finds them."""

from __future__ import annotations

from dataclasses import dataclass

from rebalance_engine.events.fact import Fact
from rebalance_engine.events.shapes import At, Text


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingFact(Fact):
    """What every fact about a finding carries.

    Attributes:
        finding: its name, such as ``orphan queue``.
        subject: what it is about, so that two looks can be told to speak of the same one.
        group: the group that it is about; None for one about the cluster.
    """

    finding: Text
    subject: Text
    group: Text | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingSuspected(FindingFact):
    """One look shows it; ``proof`` are the rows that it was read from."""

    proof: tuple[Text, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingConfirmed(FindingFact):
    """Two looks more than 20 s apart show it, or a report or a log proves it at once."""

    proof: tuple[Text, ...]
    ends_at: At | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class FindingCleared(FindingFact):
    """It is no more."""
