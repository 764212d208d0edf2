"""Have the members of a group notified to compute anew: a request to leave by somebody who is no member.

A broker notifies a group whenever somebody leaves it, even if nobody did. So a request to leave from a connection that
never sent a heartbeat changes nothing, and lets every member rebalance at once. Notices are one-way: that one was sent
is known, that a member went by it is not. It repairs what members disagree about; where they agree nothing moves. A
topic that was changed less than 30 s ago is not known to all members yet.

Source: ``broker/.../client/ConsumerManager.java`` (``unregisterConsumer``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NoReturn

from rebalance_engine.effects import Address, Failure
from rebalance_engine.events import ReceiptAnswer
from rebalance_engine.findings.finding import count_of
from rebalance_engine.model import MessageModel
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.errors import RemotingError

AT_MOST_EVERY_S = 5.0
SETTLES_S = 5.0  # members rebalance at once, some up to a second later; then what they hold is compared
HAD_TIME_S = 2.0  # who was asked sooner after the notice than this may not have rebalanced yet
CLIENT = "evenkeel-probe"
MOST_NAMED = 10
SWITCH = "notifyConsumerIdsChangedEnable"


class Obstacle(Enum):
    """Why a group was not probed; the value is for people."""

    UNKNOWN_GROUP = "no broker that was asked has this group configured"
    NOBODY_ONLINE = "nobody of this group is online at the brokers that were asked"
    BROADCASTING = "the group broadcasts: every member has every queue, there is nothing to rebalance"
    SWITCHED_OFF = f"{SWITCH} is off: members are not notified, they rebalance by themselves every 20 s"
    TOO_SOON = f"members of the group were told to recompute less than {AT_MOST_EVERY_S:g} s ago"


@dataclass(frozen=True, slots=True)
class Probe:
    """What came of it: the brokers that notified, with the members each had; or what stood in the way.

    ``trouble`` says why brokers could not be asked to notify, so that their members may not have been notified.
    ``left_out`` says of each broker that could not be looked at why; members that it alone knows are not known.
    ``perhaps`` are the members at brokers that were asked and did not answer.
    """

    notified: dict[Address, frozenset[str]]
    obstacle: Obstacle | None = None
    trouble: str = ""
    left_out: tuple[str, ...] = ()
    perhaps: frozenset[str] = frozenset()

    @property
    def reached(self) -> frozenset[str]:
        """The members that some broker notified."""
        return frozenset[str]().union(*self.notified.values())

    def is_told_of(self, client: str) -> bool:
        """Whether it is known if a member was notified."""
        return client in self.reached or client not in self.perhaps


class NobodyNotified(Exception):
    """A probe ended before any broker was asked to notify anybody; the words say why."""


class Prober:
    """Probes groups of one cluster, none too often."""

    def __init__(self, admin: Admin) -> None:
        self._admin = admin
        self._probed_at: dict[str, float] = {}

    async def probe(self, group: str, brokers: Sequence[Address], *, claim: Callable[[], bool] | None = None) -> Probe:
        """Notify all members of a group that these brokers know: as few brokers as reach every member.

        Whoever asks writes down that it happened (an audit entry). What stands in the way of the group comes before
        that it is too soon, so that nobody is told to wait for what will be refused.

        Args:
            claim: says whether others who probe this group let it happen now too; asked last, before the first notice.

        Raises:
            NobodyNotified: no broker could be looked at, or be asked to notify the group's members.
            NoAnswer: brokers were asked, and none answered: whether one notified anybody is not known.
        """
        looks, left_out = await self._looks(group, brokers)
        members = {broker: found for broker, found in looks.items() if not isinstance(found, Obstacle)}
        obstacle = None if members else _worst(looks.values())
        if left_out and obstacle in {Obstacle.UNKNOWN_GROUP, Obstacle.NOBODY_ONLINE}:
            raise NobodyNotified("; ".join(left_out))  # it may be otherwise there
        if obstacle is not None:
            return Probe({}, obstacle)
        if not self._claim(group) or (claim is not None and not claim()):
            return Probe({}, Obstacle.TOO_SOON)
        notified, errors = await self._notify(group, members)
        if not notified:
            _raise(list(errors.values()))
        unsure = [members[broker] for broker, error in errors.items() if _may_have_notified(error)]
        return Probe(
            notified,
            trouble="; ".join(map(str, errors.values())),
            left_out=tuple(f"left out: {words}" for words in left_out),
            perhaps=frozenset[str]().union(*unsure),
        )

    async def _notify(
        self, group: str, members: dict[Address, frozenset[str]]
    ) -> tuple[dict[Address, frozenset[str]], dict[Address, NoAnswer | Denied]]:
        """Ask brokers until every member is reached, first the one that reaches most of those left."""
        notified, errors, able = dict[Address, frozenset[str]](), dict[Address, NoAnswer | Denied](), dict(members)
        left = frozenset[str]().union(*members.values())
        while able and left:
            broker = max(able, key=lambda each: len(able[each] & left))
            reached = able.pop(broker)
            if not reached & left:
                break
            try:
                await self._admin.unregister(broker, group, CLIENT)
            except (NoAnswer, Denied) as error:
                errors[broker] = error
                continue
            notified[broker] = reached
            left -= reached
        return notified, errors

    def _claim(self, group: str) -> bool:
        """Say that it is done now, unless it was lately; nothing is awaited here: two at a time are one too many."""
        now = asyncio.get_running_loop().time()
        if now - self._probed_at.get(group, float("-inf")) < AT_MOST_EVERY_S:
            return False
        self._probed_at[group] = now
        return True

    async def _looks(
        self, group: str, brokers: Sequence[Address]
    ) -> tuple[dict[Address, frozenset[str] | Obstacle], list[str]]:
        """Give the members at each broker that can be probed, or why it cannot; and who could not be looked at."""
        found, left_out = dict[Address, frozenset[str] | Obstacle](), list[str]()
        for broker in brokers:
            try:
                found[broker] = await self._look(group, broker)
            except (NoAnswer, Denied, RemotingError) as error:
                left_out.append(str(error))
        return found, left_out

    async def _look(self, group: str, broker: Address) -> frozenset[str] | Obstacle:
        config = (await self._admin.group_configs(broker)).subscription_group_table.get(group)
        if config is None:
            return Obstacle.UNKNOWN_GROUP  # to ask it to leave would create it
        connection = await self._admin.members(broker, group)
        if connection is None or not connection.connection_set:
            return Obstacle.NOBODY_ONLINE
        if connection.message_model is MessageModel.BROADCASTING:
            return Obstacle.BROADCASTING
        if not config.notify_consumer_ids_changed_enable or await self._is_off(broker):
            return Obstacle.SWITCHED_OFF
        return frozenset(member.client_id for member in connection.connection_set)

    async def _is_off(self, broker: Address) -> bool:
        try:
            return (await self._admin.broker_config(broker, {SWITCH})).get(SWITCH) == "false"
        except Denied:  # few may read the settings; a probe that notifies nobody does no harm
            return False


def receipt(
    is_reached: bool, before: Collection[object] | None, after: Collection[object] | None, *, is_told: bool = True
) -> ReceiptAnswer:
    """Say what a probe did to one member, from what it held before and when it had settled; None is unknown.

    ``is_told``: it is known whether it was reached.
    """
    if not is_told:
        return ReceiptAnswer.UNKNOWN
    if not is_reached:
        return ReceiptAnswer.NOT_ASKED
    if before is None or after is None:
        return ReceiptAnswer.UNKNOWN
    return ReceiptAnswer.UNCHANGED if set(before) == set(after) else ReceiptAnswer.CHANGED


def told_of(probe: Probe) -> str:
    """Say which broker notified how many members, and what went wrong then; empty if nobody was notified.

    A member that several know is notified by each of them.
    """
    notified = sorted(probe.notified.items())
    told = [_notified(broker, len(members)) for broker, members in notified[:MOST_NAMED]]
    if len(notified) > 1:
        told.insert(0, _notified(count_of(len(notified), "broker", "brokers"), len(probe.reached)))
    more = [probe.trouble, *probe.left_out] if told else []
    return "; ".join([*told, *filter(None, more)])


def _notified(brokers: str, members: int) -> str:
    reached = count_of(members, "member", "members")
    return f"{brokers} notified {reached}"


def _worst(looks: Iterable[frozenset[str] | Obstacle]) -> Obstacle:
    """Say what stands in the way at all brokers: what the last one said of a group that it knows."""
    known = [each for each in looks if isinstance(each, Obstacle) and each is not Obstacle.UNKNOWN_GROUP]
    return known[-1] if known else Obstacle.UNKNOWN_GROUP


def _raise(errors: Sequence[NoAnswer | Denied]) -> NoReturn:
    """Say that nobody was notified, or that it is not known."""
    unsure = next((error for error in errors if _may_have_notified(error)), None)
    if unsure is not None:
        raise unsure
    raise NobodyNotified("; ".join(map(str, errors))) from errors[0]


def _may_have_notified(error: NoAnswer | Denied) -> bool:
    """Whether a broker that did not answer may have done what it was asked."""
    return not isinstance(error, Denied | NotAsked) and error.failure is not Failure.NOT_CONNECTED
