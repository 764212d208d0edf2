"""What the author of a by-config version acknowledged, in the findings that it leads to: once for each, and by whom."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from dashboard.groups.told import Told
from rebalance_engine.findings import Finding, FindingKind

UNOWNED = frozenset({FindingKind.ORPHAN_QUEUE, FindingKind.RETRY_UNOWNED})


def say_acknowledged(findings: Sequence[Finding], by_hand: Told | None) -> Iterator[Finding]:
    """Say of each fault that an author acknowledged in which version, who that was and why.

    A queue that no list names and that nobody holds is one fault, told by what it leads to; the gap is left out.
    """
    known = by_hand.acknowledged if by_hand is not None else frozenset[str]()
    unowned = {each.subject for each in findings if each.kind in UNOWNED}
    for each in findings:
        is_known = by_hand is not None and each.subject in known
        if not is_known or each.kind not in {*UNOWNED, FindingKind.BY_CONFIG_GAP}:
            yield each
        elif by_hand is not None and (each.kind in UNOWNED or each.subject not in unowned):
            yield _with_author(each, by_hand)


def _with_author(found: Finding, by_hand: Told) -> Finding:
    sentence, version, author, reason = (
        found.sentence,
        by_hand.version,
        by_hand.author,
        by_hand.reason.rstrip(".\u3002"),
    )
    return replace(found, sentence=f"{sentence} Acknowledged in by-config version {version} by {author}: {reason}.")
