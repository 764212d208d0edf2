"""Messages that do not get on: queues in which nothing is committed, and topics into which failed messages come back.

Offsets are seen each ten seconds or each minute. Nothing is said of one look: a queue is stuck only if messages had
waited at a look a minute before, and nothing of them was committed since.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rebalance_engine.findings.finding import (
    Finding,
    FindingKind,
    clock,
    count_of,
    dead_letter_topic,
    first_rows,
    retry_topic,
    spell,
)
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue

STUCK_MS = 60_000  # consumers commit each 5 s (``persistConsumerOffsetInterval``)
WINDOW_MS = 300_000  # so far back failed messages are counted
FEW = 10  # messages that failed in that time are no trend
SHARE = 0.01  # of what the group consumed in the same time


@dataclass(frozen=True, slots=True)
class Standing:
    """A queue whose committed offset has not changed since ``since``, when messages waited already.

    ``waiting`` messages lay behind it at ``at``, the last look, and ``waited`` at ``since``; None is unknown.
    """

    queue: MessageQueue
    committed: int
    waiting: int
    since: int
    at: int
    waited: int | None = None

    @property
    def more(self) -> int:
        """Count the messages that came since, as far as it is known."""
        return 0 if self.waited is None else max(0, self.waiting - self.waited)


@dataclass(frozen=True, slots=True)
class Returned:
    """What one look at a broker counted: ``failed`` messages put back so far, ``consumed`` by the group so far.

    ``failed`` is the end of the retry (or dead-letter) topic there, ``consumed`` the sum of what is committed of all
    other topics, None where that is unknown.
    """

    at: int
    failed: int
    consumed: int | None = None


def is_stuck(standing: Standing) -> bool:
    """Whether nothing was committed for a minute while messages waited all the time."""
    return standing.waiting > 0 and standing.at - standing.since >= STUCK_MS


def stuck_listeners(view: GroupView, standings: Iterable[Standing], held_since: Mapping[str, int]) -> Iterator[Finding]:
    """Find queues of which their one owner commits nothing, though messages wait.

    Args:
        held_since: since when the owner of each queue, written ``topic/broker/id``, has it.
    """
    if view.held is None or view.model is MessageModel.BROADCASTING:
        return
    for each in standings:
        [number] = view.queues.numbers_of([each.queue]).tolist()
        owners = view.held.owners_of(number) if number >= 0 else ()
        name = spell(each.queue)
        since = max(each.since, held_since.get(name, each.at))
        if len(owners) != 1 or each.at - since < STUCK_MS or not is_stuck(each):
            continue
        waits = count_of(each.waiting, "message waits", "messages wait")
        sentence = (
            f"{owners[0]} gets nowhere with {name}: {waits}, and it has committed nothing there since {clock(since)}."
            " Its listener hangs, or takes very long."
        )
        proof = (
            f"{owners[0]} holds {name}",
            f"at {clock(since)} it had committed up to {each.committed}, with messages behind that",
            f"at {clock(each.at)} it was {each.committed} still, with {each.waiting} behind it",
        )
        yield Finding(FindingKind.STUCK_LISTENER, view.group, name, sentence, proof)


def nobody_consumes(group: str, standings: Iterable[Standing], brokers: Iterable[str]) -> Iterator[Finding]:
    """Find that messages go on coming for a group of which nobody is a member, and that nothing is committed.

    What is committed counts, since who comes through a proxy that runs apart is listed by no broker. A group that is
    off while nothing comes for it misses nothing.

    Args:
        brokers: those that list nobody.
    """
    left = [each for each in standings if is_stuck(each)]
    more = sum(each.more for each in left)
    if not more:
        return
    waits = count_of(sum(each.waiting for each in left), "message waits", "messages wait")
    queues = count_of(len(left), "queue", "queues")
    since = clock(min(each.since for each in left if each.more))
    sentence = f"Nobody consumes: the group has no member. {waits} in {queues}, and {more} of these came since {since}."
    lists = (f"{broker} lists no member" for broker in sorted(brokers))
    proof = (*lists, *first_rows(map(_left_alone, left)))
    yield Finding(FindingKind.NOBODY_CONSUMES, group, group, sentence, proof, confirm_after_ms=STUCK_MS)


def _left_alone(each: Standing) -> str:
    queue, since, at = spell(each.queue), clock(each.since), clock(each.at)
    waits = count_of(each.waiting, "message waits", "messages wait")
    if each.waited is None:
        return f"{queue} was committed up to {each.committed} at {since}; at {at} it was there still, and {waits}"
    return (
        f"{queue} was committed up to {each.committed} at {since}, with {each.waited} behind it;"
        f" at {at} it was there still, and {waits}"
    )


def is_growing(looks: Sequence[Returned]) -> bool:
    """Whether more than a few messages failed between the looks, and more than a few of those consumed."""
    failed, consumed = _between(looks)
    return failed >= FEW and (consumed is None or failed >= SHARE * consumed)


def retry_growing(group: str, broker: str, looks: Sequence[Returned]) -> Iterator[Finding]:
    """Find that messages come back into a group's retry topic on a broker, again and again."""
    if not is_growing(looks):
        return
    failed, consumed = _between(looks)
    topic = retry_topic(group)
    of = "" if consumed is None else f", while {consumed} were consumed there"
    sentence = f"{failed} messages failed and came back to {topic} on {broker} since {clock(looks[0].at)}{of}."
    yield Finding(FindingKind.RETRY_GROWING, group, broker, sentence, _ends(topic, looks))


def given_up(looks: Sequence[Returned]) -> int:
    """Count the messages that were put into a dead-letter topic between these looks."""
    failed, _ = _between(looks)
    return failed


def dead_letters(group: str, broker: str, looks: Sequence[Returned]) -> Iterator[Finding]:
    """Find that messages were given up: each one is lost to the group until somebody sends it again."""
    failed = given_up(looks)
    if failed < 1:
        return
    topic = dead_letter_topic(group)
    gave = count_of(failed, "message was", "messages were")
    sentence = f"{gave} given up, and put into {topic} on {broker} since {clock(looks[0].at)}."
    yield Finding(FindingKind.DEAD_LETTERS, group, broker, sentence, _ends(topic, looks))


def _between(looks: Sequence[Returned]) -> tuple[int, int | None]:
    if len(looks) < 2:
        return 0, None
    first, last = looks[0], looks[-1]
    known = first.consumed is not None and last.consumed is not None
    consumed = max(0, (last.consumed or 0) - (first.consumed or 0)) if known else None
    return max(0, last.failed - first.failed), consumed


def _ends(topic: str, looks: Sequence[Returned]) -> tuple[str, str]:
    first, last = looks[0], looks[-1]
    return (
        f"{topic} ended at {first.failed} at {clock(first.at)}",
        f"it ended at {last.failed} at {clock(last.at)}",
    )
