import pytest

from rebalance_engine.events import Departure
from rebalance_engine.membership.registry import Came, Registry, TopicAdded, TopicRemoved, TopicReplaced, Went
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeType
from tests.rebalance_engine.membership.examples import consumer, presence, wants


@pytest.fixture
def registry() -> Registry:
    return Registry()


def test_a_new_channel_is_a_change_and_a_known_one_is_refreshed(registry: Registry) -> None:
    first = registry.register(presence(1), consumer(wants()), 0)
    again = registry.register(presence(1, at=30_000), consumer(wants()), 30_000)

    assert first.is_change and first.channels == (1,)
    assert not again.is_change and again.changes == ()
    member = registry.find_member("g", 1)
    assert member is not None and member.heard_at == 30_000


def test_another_client_id_on_a_known_channel_replaces_it_and_is_no_change(registry: Registry) -> None:
    registry.register(presence(1, "A"), consumer(wants()), 0)

    update = registry.register(presence(1, "B"), consumer(wants()), 0)

    went, came = update.changes
    assert not update.is_change
    assert isinstance(went, Went) and went.departure is Departure.UNKNOWN and went.is_last
    assert isinstance(came, Came) and came.is_first
    assert registry.clients("g") == ("B",)


def test_the_attributes_of_the_last_heartbeat_hold(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants()), 0)
    update = registry.register(
        presence(2, "B"),
        consumer(wants(), model=MessageModel.BROADCASTING, kind=ConsumeType.CONSUME_ACTIVELY),
        0,
    )

    group = registry.find("g")
    assert group is not None
    assert group.message_model is update.message_model is MessageModel.BROADCASTING
    assert group.consume_type is ConsumeType.CONSUME_ACTIVELY


def test_topics_are_those_of_the_last_heartbeat(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants("orders"), wants("pay")), 0)

    update = registry.register(presence(1), consumer(wants("pay"), wants("ship")), 0)

    assert update.is_change
    assert update.changes == (TopicAdded("g", wants("ship")), TopicRemoved("g", "orders"))


@pytest.mark.parametrize(("version", "is_replaced"), [(4, False), (5, False), (6, True)])
def test_only_a_higher_version_replaces_an_expression_and_is_no_change(
    registry: Registry, version: int, *, is_replaced: bool
) -> None:
    registry.register(presence(1), consumer(wants(version=5, expression="red")), 0)

    update = registry.register(presence(1), consumer(wants(version=version, expression="blue")), 0)

    assert not update.is_change
    changed = (TopicReplaced("g", wants(version=version, expression="blue")),)
    assert update.changes == (changed if is_replaced else ())
    found = registry.find_subscription("g", "orders")
    assert found is not None and found.sub_string == ("blue" if is_replaced else "red")


def test_a_heartbeat_without_subscriptions_leaves_them_alone(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants()), 0)

    update = registry.register(presence(2, "B"), consumer(), 0, has_subscriptions=False)

    assert update.is_change and update.channels == (1, 2)
    assert registry.find_subscription("g", "orders") == wants()


def test_who_is_no_member_unregisters_nobody_and_it_is_a_change(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants()), 0)

    update = registry.unregister("g", 2)

    assert update is not None
    assert update.is_change and update.changes == () and update.channels == (1,)
    assert registry.unregister("h", 1) is None


def test_the_group_goes_with_its_last_channel(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants()), 0)

    update = registry.unregister("g", 1)

    assert update is not None and update.channels == ()
    assert registry.find("g") is None
    assert registry.who_consumes("orders", by_index=True) == ()


def test_closing_takes_a_channel_out_of_all_its_groups(registry: Registry) -> None:
    for group in ("g", "h", "i"):
        registry.register(presence(1), consumer(wants(), group=group), 0)
    registry.register(presence(2, "B"), consumer(wants(), group="h"), 0)
    registry.unregister("i", 1)

    updates = registry.close(1)

    assert [(update.group, update.channels) for update in updates] == [("g", ()), ("h", (2,))]
    assert registry.close(1) == ()


def test_closing_fast_misses_groups_that_came_without_subscriptions(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants(), group="g"), 0)
    registry.register(presence(1), consumer(group="h"), 0, has_subscriptions=False)

    updates = registry.close(1, only_announced=True)

    assert [update.group for update in updates] == ["g"]
    assert registry.clients("h") == ("A",)


@pytest.mark.parametrize(("silence_ms", "is_out"), [(120_000, False), (120_001, True)])
def test_silence_of_more_than_120_s_expires(registry: Registry, silence_ms: int, *, is_out: bool) -> None:
    registry.register(presence(1), consumer(wants()), 0)

    updates = registry.expire(silence_ms)

    assert [update.is_change for update in updates] == ([False] if is_out else [])
    assert (registry.find("g") is None) is is_out


def test_an_expired_group_stays_in_the_index_of_topics(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants()), 0)

    registry.expire(120_001)

    assert registry.who_consumes("orders", by_index=True) == ("g",)
    assert registry.who_consumes("orders", by_index=False) == ()


def test_groups_that_came_with_one_heartbeat_are_heard_of_together(registry: Registry) -> None:
    shared = presence(1)
    registry.register(shared, consumer(wants(), group="g"), 0)
    registry.register(shared, consumer(wants(), group="h"), 0)

    registry.register(presence(1, at=100_000), consumer(wants(), group="g"), 100_000)

    assert registry.expire(200_000) == ()
    assert registry.clients("h") == ("A",)


def test_groups_that_came_with_different_heartbeats_expire_apart(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants(), group="g"), 0)
    registry.register(presence(1), consumer(wants(), group="h"), 0)

    registry.register(presence(1, at=100_000), consumer(wants(), group="g"), 100_000)

    (update,) = registry.expire(200_000)
    assert update.group == "h"


def test_a_duplicate_id_is_first_and_last_only_once(registry: Registry) -> None:
    (first, _) = registry.register(presence(1), consumer(wants()), 0).changes
    (second,) = registry.register(presence(2), consumer(wants()), 0).changes
    (one,) = registry.close(1)
    (other,) = registry.close(2)

    assert isinstance(first, Came) and first.is_first
    assert isinstance(second, Came) and not second.is_first
    assert [went.is_last for update in (one, other) for went in update.changes if isinstance(went, Went)] == [
        False,
        True,
    ]


def test_a_pulled_subscription_is_found_for_ten_minutes_and_makes_no_member(registry: Registry) -> None:
    registry.keep_pulled("g", wants(version=1_000))

    registry.expire(601_000)
    assert registry.find_subscription("g", "orders") == wants(version=1_000)
    assert registry.clients("g") == ()

    registry.expire(601_001)
    assert registry.find_subscription("g", "orders") is None


def test_the_groups_own_subscription_goes_before_a_pulled_one(registry: Registry) -> None:
    registry.keep_pulled("g", wants(version=9, expression="blue"))
    registry.register(presence(1), consumer(wants(version=1, expression="red")), 0)

    found = registry.find_subscription("g", "orders")

    assert found is not None and found.sub_string == "red"


def test_check_finds_a_member_whose_channel_is_closed(registry: Registry) -> None:
    registry.register(presence(1), consumer(wants()), 0)

    registry.check({1}, 0)
    with pytest.raises(AssertionError, match="closed"):
        registry.check({2}, 0)


def test_check_finds_who_was_heard_in_the_future_and_who_the_scan_left(registry: Registry) -> None:
    entry = presence(1)
    registry.register(entry, consumer(wants()), 200_000)
    entry.heard_at = 200_000

    with pytest.raises(AssertionError, match="future"):
        registry.check({1}, 199_999)

    registry.expire(200_000)
    entry.heard_at = 0
    with pytest.raises(AssertionError, match="left by the scan"):
        registry.check({1}, 200_000)
