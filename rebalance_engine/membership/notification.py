"""Who is told that the members of a group changed, and when.

Every notification is one-way: no answer, no second try. What is lost is made good by the members' own timers.

Sources: ``broker/.../client/DefaultConsumerIdsChangeListener.java``, ``ConsumerManager.java``,
``broker/.../client/net/Broker2Client.java``. Java lets a newer change of a group interrupt the loop that still notifies
of the one before; here each is finished in no time, so there is nothing to interrupt.
"""

from __future__ import annotations

from enum import Enum

from rebalance_engine.effects import Channel, Push
from rebalance_engine.membership.profiles import Policy
from rebalance_engine.membership.registry import Update
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged

FIRST_FLUSH_MS = 30_000
FLUSH_EVERY_MS = 15_000


class Cause(Enum):
    """What changed a group."""

    HEARTBEAT = "a heartbeat"
    UNREGISTERED = "an unregistration"
    CLOSED = "a closed channel"
    EXPIRED = "silence"


HEEDS_GROUP_SWITCH = frozenset({Cause.HEARTBEAT, Cause.UNREGISTERED})


def is_to_be_told(cause: Cause, update: Update, *, group_switch: bool, policy: Policy) -> bool:
    """Say whether members are to hear of an update.

    Args:
        cause: what led to it.
        update: what it did.
        group_switch: ``notifyConsumerIdsChangedEnable`` of the group.
        policy: of the broker; its own switch of that name stands above all.
    """
    if not (update.is_change and policy.settings.notifies) or cause is Cause.EXPIRED:
        return False
    if cause in HEEDS_GROUP_SWITCH and not group_switch:
        return False
    if cause is Cause.CLOSED and policy.handles_channels_fast:
        return True  # the fast path forgot to spare broadcasting groups
    return not (policy.rules.spares_broadcasting and update.message_model is MessageModel.BROADCASTING)


class Notifier:
    """What is to be sent: at once, or with the next flush (``realTimeNotifyConsumerChange=false``)."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._waiting: dict[str, tuple[Channel, ...]] = {}

    def tell(self, cause: Cause, update: Update, *, group_switch: bool) -> tuple[Push, ...]:
        """Notify of an update, or keep it for later in place of what waited for this group."""
        if not is_to_be_told(cause, update, group_switch=group_switch, policy=self._policy):
            return ()
        if self._policy.notifies_later:
            self._waiting[update.group] = update.channels
            return ()
        return _pushes(update.group, update.channels)

    def flush(self) -> tuple[Push, ...]:
        """Send what waits; a member that is gone since gets it too, in vain."""
        waiting, self._waiting = self._waiting, {}
        return tuple(push for group, channels in waiting.items() for push in _pushes(group, channels))

    def check(self) -> None:
        """Hold to the promise that nothing waits where everything is sent at once."""
        assert self._policy.notifies_later or not self._waiting, f"{self._waiting} waits, and nobody will send it"


def _pushes(group: str, channels: tuple[Channel, ...]) -> tuple[Push, ...]:
    request = NotifyConsumerIdsChanged(consumer_group=group)
    return tuple(Push(channel=channel, request=request) for channel in channels)
