from __future__ import annotations

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Member, MemberList, Presence, Subscription
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import (
    SOURCED,
    WITHOUT_SOURCE,
    assert_refused,
    assert_unique,
    make_group,
    make_member,
)


def test_a_member_is_there_once_and_one_that_left_has_a_departure(cluster: Cluster) -> None:
    columns = {"group": make_group(cluster), "client_id": "A", "left_at": T0 + 1, "departure": "unknown", **SOURCED}

    assert_refused(
        Member,
        columns,
        {"client_id": ""},
        {"registrations": 0},
        {"departure": None},
        {"left_at": None},
        {"left_at": T0 - 1},
        {"departure": "bored"},
        {"missing": "timeout"},
        {"missing_at": T0},
        {"missing": "bored", "missing_at": T0},
        {"consume_type": "SOMEHOW"},
        *WITHOUT_SOURCE,
    )
    assert_unique(Member, columns, client_id="B")


def test_what_a_member_holds_is_unknown_until_it_told_and_after_it_did_not_answer(cluster: Cluster) -> None:
    member = make_member(make_group(cluster))

    assert member.is_silent
    member.held_seen_at = T0
    assert not member.is_silent
    member.missing_at = T0 + 1
    assert member.is_silent


def test_who_was_not_asked_is_told_from_who_does_not_answer(cluster: Cluster) -> None:
    member = make_member(make_group(cluster))

    assert member.is_unasked
    member.held_seen_at = T0
    assert not member.is_unasked
    member.missing, member.missing_at = "timeout", T0 + 1
    assert not member.is_unasked
    member.missing = "not asked"
    assert member.is_unasked


def test_a_connection_is_there_once_and_one_that_ended_has_a_departure(cluster: Cluster) -> None:
    member = make_member(make_group(cluster))
    columns = {
        "member": member,
        "broker": "east",
        "address": "127.0.0.1:1",
        "gone_at": T0,
        "departure": "unknown",
        **SOURCED,
    }

    assert_refused(
        Presence,
        columns,
        {"broker": ""},
        {"address": ""},
        {"gone_at": None},
        {"departure": None},
        {"gone_at": T0 - 1},
        *WITHOUT_SOURCE,
    )
    assert_unique(Presence, columns, address="127.0.0.1:2")


def test_a_broker_has_one_list_of_members(cluster: Cluster) -> None:
    columns = {"group": make_group(cluster), "broker": "east", "clients": ["A", "A", "\0\ud800"], **SOURCED}

    assert_refused(
        MemberList,
        columns,
        {"broker": ""},
        {"clients": None},
        {"missing": "timeout"},
        {"missing_low": T0},
        {"missing": "timeout", "missing_at": T0, "missing_low": T0 + 1},
        *WITHOUT_SOURCE,
    )
    assert_unique(MemberList, columns, broker="west")
    assert MemberList.objects.get(broker="east").clients == ["A", "A", "\0\ud800"]


def test_a_topic_is_subscribed_once_by_a_member_and_once_by_the_group(cluster: Cluster) -> None:
    group = make_group(cluster)
    columns = {"group": group, "topic": "orders", "expression_type": "TAG", "sub_version": 1, **SOURCED}

    assert_refused(Subscription, columns, {"topic": ""}, {"expression_type": None}, *WITHOUT_SOURCE)
    assert_unique(Subscription, columns, topic="payments")
    assert_unique(Subscription, {**columns, "member": make_member(group)}, topic="payments")
