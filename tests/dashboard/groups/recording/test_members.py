from __future__ import annotations

import pytest

from dashboard.groups.models import Group, Member, MemberList, Presence, RoundCause, Subscription
from dashboard.groups.rebalancing import due_groups, rebalance_once
from rebalance_engine.events import (
    EXACT,
    Departure,
    MemberJoined,
    MemberListSeen,
    PresenceGone,
    PresenceSeen,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
)
from rebalance_engine.events import (
    Subscription as Subscribed,
)
from tests.dashboard.story import (
    EAST,
    REPORT,
    T0,
    held,
    joined,
    left,
    listed,
    missed,
    route,
    seen,
    subscribes,
    told,
    uses,
)

pytestmark = pytest.mark.usefixtures("cluster")


def about(at: int) -> dict:
    return {"at": T0 + at, "source": EAST, "exactness": EXACT, "group": "g"}


def causes() -> list[str]:
    return list(RoundCause.objects.order_by("pk").values_list("evidence", flat=True))


def test_a_member_that_is_seen_was_there_since_nobody_knows_when_and_is_no_cause() -> None:
    told(*seen("A", 5))

    member = Member.objects.get()
    assert (member.at, member.at_low, member.language, member.strategy) == (T0 + 5, None, "JAVA", "AVG")
    assert causes() == []


def test_a_report_makes_the_bounds_of_a_join_exact() -> None:
    told(joined("A", 1_000, low=0))

    told(MemberJoined(at=T0 + 300, source=REPORT, exactness=EXACT, group="g", client="A"))

    member = Member.objects.get()
    assert (member.at, member.at_low, member.at_high, member.origin) == (T0 + 300, T0 + 300, T0 + 300, "agent report")
    assert causes() == ["A joined"]


def test_who_comes_back_is_the_same_row_with_nothing_known_of_what_it_holds() -> None:
    told(route(1), *seen("A"), held("A", 10, [0]), left("A", 20, Departure.UNREGISTERED), joined("A", 30))

    member = Member.objects.get()
    assert (member.at, member.left_at, member.is_silent) == (T0 + 30, None, True)
    assert causes() == ["A left: unregistered", "A joined"]


def test_a_heartbeat_that_expired_is_a_cause_of_its_own() -> None:
    told(*seen("A"), left("A", 20, Departure.HEARTBEAT_EXPIRED))

    assert RoundCause.objects.get().cause == "heartbeat expired"


def test_a_strategy_that_becomes_known_is_no_change_and_another_one_is() -> None:
    told(*seen("A"), uses("A", 5, "AVG"))
    assert causes() == []

    told(uses("A", 9, "CONFIG"))

    assert causes() == ["A uses CONFIG now, not AVG"]


def test_the_strategy_of_an_earlier_life_is_no_change_of_this_one() -> None:
    told(*seen("A"), left("A", 20), joined("A", 30, low=25), uses("A", 31, "AVG"))
    before = causes()

    assert told(uses("A", 15, "CONFIG")).facts == 0

    assert (Member.objects.get().strategy, causes()) == ("AVG", before)


def test_an_id_that_a_broker_lists_twice_is_registered_twice() -> None:
    told(*seen("A"), MemberListSeen(**about(5), broker="east", clients=("A", "A")))
    told(MemberListSeen(**about(6), broker="west", clients=("A",)))

    assert Member.objects.get().registrations == 2
    assert MemberList.objects.count() == 2


def test_that_a_broker_lists_nobody_of_a_new_group_is_news() -> None:
    """Whoever comes through a proxy that runs apart is in no list: the group has no members, which is to be said."""
    told(listed(5))

    group = Group.objects.get()
    assert due_groups(now=T0 + 10) == [group.pk]
    rebalance_once(group=group.pk, now=T0 + 10)
    group.refresh_from_db()
    assert (group.member_count, group.queue_count) == (0, 0)


def test_the_same_members_in_another_order_are_no_news() -> None:
    told(*seen("A"), *seen("B"), listed(5, "A", "B"))
    before = Group.objects.get().inputs_version

    assert told(listed(6, "B", "A")).facts == 0

    assert Group.objects.get().inputs_version == before
    assert MemberList.objects.get().clients == ["A", "B"]


def test_an_id_that_is_listed_twice_in_any_order_is_news_once() -> None:
    told(*seen("A"), *seen("B"), listed(5, "A", "B"))

    assert told(listed(6, "B", "A", "A")).facts == 1
    assert told(listed(7, "A", "B", "A")).facts == 0
    assert Member.objects.get(client_id="A").registrations == 2

    assert told(listed(8, "B", "A")).facts == 1
    assert Member.objects.get(client_id="A").registrations == 1


def test_a_connection_comes_goes_and_comes_back() -> None:
    there: dict = {"client": "A", "broker": "east", "address": "127.0.0.1:5"}
    told(*seen("A"), PresenceSeen(**about(1), **there, language="GO"))
    told(PresenceGone(**about(5), **there, departure=Departure.CONNECTION_CLOSED))
    assert Presence.objects.get().departure == "connection closed"

    told(PresenceSeen(**about(9), **there))

    row = Presence.objects.get()
    assert (row.gone_at, row.language, row.at) == (None, "GO", T0 + 9)


def test_what_is_missing_is_missing_since_the_first_answer_that_did_not_come() -> None:
    told(route(1), *seen("A"), held("A", 10, [0]), missed("A", 20))
    again = told(missed("A", 30))

    assert again.facts == 0
    assert Member.objects.get().missing_at == T0 + 20
    told(held("A", 40, [0]))
    assert Member.objects.get().missing_at is None


def test_a_topic_that_comes_or_goes_is_a_cause_and_another_version_is_none() -> None:
    told(*seen("A"))
    before = Group.objects.get().inputs_version
    newer = Subscribed(topic="orders", expression="*", expression_type="TAG", sub_version=9)

    told(SubscriptionReplaced(**about(5), client="A", subscription=newer))
    assert Group.objects.get().inputs_version == before
    assert Subscription.objects.get().sub_version == 9

    payments = Subscribed(topic="payments", expression="*", expression_type="TAG", sub_version=1)
    told(SubscriptionAdded(**about(6), client="A", subscription=payments))
    told(SubscriptionRemoved(**about(7), client="A", topic="payments"))
    told(subscribes("A", 8, "bills"))

    assert causes() == [
        "A subscribes to payments",
        "A no longer subscribes to payments",
        "A subscribes to bills, no longer orders",
    ]
