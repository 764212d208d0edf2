import pytest

from rebalance_engine.effects import Push
from rebalance_engine.membership.notification import Cause, Notifier, is_to_be_told
from rebalance_engine.membership.registry import Update
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from tests.rebalance_engine.membership.examples import policy

CLUSTERING, BROADCASTING = MessageModel.CLUSTERING, MessageModel.BROADCASTING


def update(*channels: int, group: str = "g", model: MessageModel = CLUSTERING, is_change: bool = True) -> Update:
    return Update(group=group, message_model=model, changes=(), is_change=is_change, channels=channels)


def pushes(*channels: int, group: str = "g") -> tuple[Push, ...]:
    return tuple(Push(channel=channel, request=NotifyConsumerIdsChanged(consumer_group=group)) for channel in channels)


@pytest.mark.parametrize(
    ("version", "cause", "model", "group_switch", "is_told"),
    [
        ("5.5.0", Cause.HEARTBEAT, CLUSTERING, True, True),
        ("5.5.0", Cause.HEARTBEAT, CLUSTERING, False, False),
        ("5.5.0", Cause.HEARTBEAT, BROADCASTING, True, False),
        ("5.3.0", Cause.HEARTBEAT, BROADCASTING, True, True),
        ("5.5.0", Cause.UNREGISTERED, CLUSTERING, True, True),
        ("5.5.0", Cause.UNREGISTERED, CLUSTERING, False, False),
        ("5.5.0", Cause.UNREGISTERED, BROADCASTING, True, False),
        ("4.9.7", Cause.UNREGISTERED, BROADCASTING, True, True),
        ("5.5.0", Cause.CLOSED, CLUSTERING, False, True),
        ("5.5.0", Cause.CLOSED, BROADCASTING, True, False),
        ("5.3.0", Cause.CLOSED, BROADCASTING, False, True),
        ("4.9.7", Cause.EXPIRED, CLUSTERING, True, False),
        ("5.5.0", Cause.EXPIRED, CLUSTERING, True, False),
    ],
)
def test_who_is_told(version: str, cause: Cause, model: MessageModel, *, group_switch: bool, is_told: bool) -> None:
    told = is_to_be_told(cause, update(1, model=model), group_switch=group_switch, policy=policy(version))

    assert told is is_told


def test_the_fast_path_tells_broadcasting_groups_of_closed_channels_only() -> None:
    fast = policy(handles_channels_fast=True)

    def is_told(cause: Cause) -> bool:
        return is_to_be_told(cause, update(1, model=BROADCASTING), group_switch=True, policy=fast)

    assert [is_told(cause) for cause in Cause] == [False, False, True, False]


@pytest.mark.parametrize("cause", Cause)
def test_the_brokers_switch_stands_above_all(cause: Cause) -> None:
    assert not is_to_be_told(cause, update(1), group_switch=True, policy=policy(notifies=False))


def test_what_is_no_change_is_not_told() -> None:
    assert not is_to_be_told(Cause.HEARTBEAT, update(1, is_change=False), group_switch=True, policy=policy())


def test_every_channel_of_the_group_is_notified() -> None:
    assert Notifier(policy()).tell(Cause.HEARTBEAT, update(1, 2), group_switch=True) == pushes(1, 2)


def test_later_means_the_last_list_of_each_group_once() -> None:
    notifier = Notifier(policy(notifies_at_once=False))

    assert notifier.tell(Cause.HEARTBEAT, update(1), group_switch=True) == ()
    notifier.tell(Cause.HEARTBEAT, update(1, group="h"), group_switch=True)
    notifier.tell(Cause.HEARTBEAT, update(1, 2), group_switch=True)

    assert notifier.flush() == (*pushes(1, 2), *pushes(1, group="h"))
    assert notifier.flush() == ()


def test_a_group_that_emptied_takes_back_what_waited_for_it() -> None:
    notifier = Notifier(policy(notifies_at_once=False))
    notifier.tell(Cause.HEARTBEAT, update(1), group_switch=True)

    notifier.tell(Cause.CLOSED, update(), group_switch=True)

    assert notifier.flush() == ()


def test_4_9_knows_no_later() -> None:
    notifier = Notifier(policy("4.9.7", notifies_at_once=False))

    assert notifier.tell(Cause.HEARTBEAT, update(1), group_switch=True) == pushes(1)
    notifier.check()
