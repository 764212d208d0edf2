"""Queues of a new retry topic that nobody holds yet, and nobody can: the members have not learnt of it.

A broker makes ``%RETRY%group`` at the first heartbeat of a group (``ClientManageProcessor.heartBeat``). A client asks
for the routes of its topics before it sends that heartbeat (``DefaultMQPushConsumerImpl.start``), so the first members
do not know the topic in their first round. Java asks for its route in that round, after it has divided
(``MQClientInstance.findConsumerIdList``); Go, and who gets no answer then, with all other routes
(``pollNameServerInterval``). Its queues are taken in the round after that. Until then nobody can hold them.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from rebalance_engine.cli.terminal import count
from rebalance_engine.findings import Finding, FindingKind, retry_topic, spell
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.looking import GroupLook
from rebalance_engine.ownership import Ownership

ROUTES_EVERY_MS = 30_000  # ``ClientConfig.pollNameServerInterval``
ROUND_EVERY_MS = 20_000  # ``rocketmq.client.rebalance.waitInterval``
SLACK_MS = 5_000  # for what is answered in between, and for clocks: a member tells its start by its own


@dataclass(frozen=True, slots=True)
class Pending:
    """What is waited for.

    Attributes:
        topic: the retry topic.
        queues: those of it that nobody holds.
        owners: who will have them.
        until: when they are held at the latest, in ms since 1970, if the members keep RocketMQ's times.
    """

    topic: str
    queues: frozenset[MessageQueue]
    owners: frozenset[str]
    until: int

    @property
    def sentence(self) -> str:
        """Say it to a person."""
        queues = count(len(self.queues), "queue")
        return f"Held as the target says, but for {queues} of a new retry topic: pending until {self._at} at most."

    @property
    def why(self) -> str:
        """Say what is waited for, and on what the time rests."""
        return (
            f"{self.topic} came with the first heartbeat of the group. Its members learn of it when they ask for its "
            f"route again, and take it in the round after that: by {self._at}, if they keep RocketMQ's times "
            f"({ROUTES_EVERY_MS // 1_000} s and {ROUND_EVERY_MS // 1_000} s)."
        )

    @property
    def _at(self) -> str:
        return time.strftime("%H:%M:%S UTC", time.gmtime(self.until / 1_000))

    def excuses(self, finding: Finding) -> bool:
        """Say whether a finding shows nothing but this."""
        if finding.kind is FindingKind.RETRY_UNOWNED:
            return finding.subject in {spell(queue) for queue in self.queues}
        return finding.kind is FindingKind.IDLE_CONSUMER and finding.subject in self.owners


def find_pending(look: GroupLook, target: Ownership) -> Pending | None:
    """Find that nothing is amiss but queues of a retry topic that its members cannot know yet.

    None: something else is amiss too; a member or a broker did not answer; somebody is there for so long that he must
    know the topic, or does not tell for how long; or an offset of such a queue is stored, so that somebody held it, or
    nobody said that none is.
    """
    pending = _find_young(look, target)
    return pending if pending is not None and pending.queues <= look.never_stored else None


def say_doubt(look: GroupLook, target: Ownership) -> str:
    """Say that queues may be pending, where only the brokers' word for it is missing; empty: there is no doubt."""
    pending = _find_young(look, target)
    if pending is None or pending.queues <= look.never_stored:
        return ""
    return (
        f"Unknown whether {pending.topic} is new: brokers that could have said whether an offset of it is stored were "
        "not asked, or did not answer. If it is, its queues need not be held yet."
    )


def _find_young(look: GroupLook, target: Ownership) -> Pending | None:
    """Find what is pending, unless offsets are stored of which the look does not know."""
    topic = retry_topic(look.group)
    unheld = _unheld(look, target, topic)
    if not unheld or any(heard.trouble is not None for heard in look.lists.values()):
        return None
    if any(look.lag.get(queue) is not None for queue in unheld):
        return None
    starts = [member.started_at for member in look.members]
    known = [start for start in starts if start is not None and start <= look.ended_at + SLACK_MS]
    if len(known) < len(starts):
        return None
    until = min(known) + ROUTES_EVERY_MS + ROUND_EVERY_MS + SLACK_MS
    if look.ended_at > until:
        return None
    return Pending(topic, frozenset(unheld), frozenset(who for owners in unheld.values() for who in owners), until)


def _unheld(look: GroupLook, target: Ownership, topic: str) -> dict[MessageQueue, tuple[str, ...]]:
    """Give the topic's queues that nobody holds, with whom they are for; none if anything else is amiss."""
    view = look.view
    if view.model is MessageModel.BROADCASTING or view.held is None or not view.everybody_answered or view.strays:
        return {}
    unheld = {}
    for number, queue in enumerate(view.queues):
        held, owners = view.held.owners_of(number), target.owners_of(number)
        if held == owners:
            continue
        if held or queue.topic != topic:
            return {}
        unheld[queue] = owners
    return unheld
