from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rebalance_engine import MessageQueue
from rebalance_engine.findings import spell
from rebalance_engine.findings.seers import (
    Division,
    different_lists,
    different_routes,
    disputed_queues,
    duplicate_ids,
    subscription_mismatch,
    without_permission,
)
from rebalance_engine.group import GroupView, Member
from rebalance_engine.tables import QueueTable

QUEUES = [MessageQueue("orders", "east", 0), MessageQueue("orders", "west", 0)]
VIEW = GroupView.of("g", QUEUES, [Member(client_id="A"), Member(client_id="B")])


def test_one_id_from_two_addresses_is_proven_by_what_each_broker_has() -> None:
    addresses = {"A": {"east": ("10.0.0.2:5", "10.0.0.1:5"), "west": ("10.0.0.1:6",)}}

    [fault] = duplicate_ids(VIEW, {"east": ("A", "A", "B"), "west": ("A", "B")}, addresses)

    assert fault.subject == "A"
    assert fault.sentence.startswith("2 connections call themselves A: members count it 2 times")
    assert fault.proof == ("east lists A 2 times", "east has it from 10.0.0.1:5, 10.0.0.2:5")


def test_one_connection_to_each_broker_is_no_duplicate() -> None:
    addresses = {"A": {"east": ("10.0.0.1:5",), "west": ("10.0.0.1:6",)}}

    assert list(duplicate_ids(VIEW, {"east": ("A", "B"), "west": ("A", "B")}, addresses)) == []


def test_who_is_no_member_is_no_duplicate() -> None:
    assert list(duplicate_ids(VIEW, {"east": ("C", "C")}, {"C": {"east": ("10.0.0.1:5", "10.0.0.2:5")}})) == []


def test_a_mismatch_names_the_topics_that_differ_and_what_each_member_says() -> None:
    told = {
        "A": {"orders": "TAG *", "payments": "TAG *", "%RETRY%g": "TAG *"},
        "B": {"orders": "TAG blue", "payments": "TAG *"},
    }

    [fault] = subscription_mismatch(VIEW, told)

    assert "different things (orders)" in fault.sentence
    assert fault.proof == (
        "A subscribes to orders TAG *, payments TAG *",
        "B subscribes to orders TAG blue, payments TAG *",
    )


def test_the_retry_topic_and_who_says_nothing_are_not_compared() -> None:
    assert (
        list(subscription_mismatch(VIEW, {"A": {"orders": "TAG *", "%RETRY%g": "TAG *"}, "B": {"orders": "TAG *"}}))
        == []
    )
    assert list(subscription_mismatch(VIEW, {"A": {"orders": "TAG *"}})) == []
    assert list(subscription_mismatch(VIEW, {"A": {"orders": "TAG *"}, "B": {}})) == []


def test_many_differing_topics_are_counted() -> None:
    told = {"A": {f"t{n}": "TAG *" for n in range(5)}, "B": {"other": "TAG *"}}

    [fault] = subscription_mismatch(VIEW, told)

    assert "(other, t0, t1 and 3 more)" in fault.sentence


def test_lists_are_compared_of_brokers_that_have_queues_alone() -> None:
    assert list(different_lists(VIEW, {"east": ("A", "B"), "west": ("B", "A"), "north": ()})) == []
    assert list(different_lists(VIEW, {"east": ("A",)})) == []  # the other one has not told

    [fault] = different_lists(VIEW, {"east": ("A", "B"), "west": ()})

    assert fault.sentence.startswith("Brokers list different members: west does not have A, B.")
    assert fault.proof == ("east lists A, B", "west lists nobody")


def test_how_many_more_brokers_lack_members_is_said_in_one_number_and_in_the_other() -> None:
    queues = [MessageQueue("orders", broker, 0) for broker in ("east", "north", "south", "west")]
    view = GroupView.of("g", queues, [Member(client_id="A"), Member(client_id="B")])
    lists: dict[str, tuple[str, ...]] = {"east": ("A", "B"), "north": ("A",), "south": ("B",)}

    [one] = different_lists(view, lists)
    [two] = different_lists(view, {**lists, "west": ("A",)})

    assert "does not have B (and 1 more broker lacks some)." in one.sentence
    assert "does not have B (and 2 more brokers lack some)." in two.sentence


def test_name_servers_are_compared_by_what_members_divide() -> None:
    told = Division(4, 6, True)
    same = {"n1": {"east": told}, "n2": {"east": told, "west": Division(4, 2, True)}}
    other = {"n1": {"east": told}, "n2": {"west": told}}

    [fault] = different_routes(VIEW, {"orders": other})

    assert list(different_routes(VIEW, {"orders": same})) == []
    assert list(different_routes(VIEW, {"orders": {"n1": {"east": told}}})) == []
    assert fault.subject == "orders"
    assert "(4 queues each, and not the same)" in fault.sentence
    assert fault.proof == ("n1 says east: 4 queues, permission RW", "n2 says west: 4 queues, permission RW")


def test_how_many_queues_each_gives_is_said() -> None:
    routes = {"orders": {"n1": {"east": Division(4, 6, True)}, "n2": {"east": Division(8, 6, True)}}}

    [fault] = different_routes(VIEW, routes)

    assert "(4 or 8 queues)" in fault.sentence


def test_disputed_are_the_queues_that_not_every_name_server_has() -> None:
    queues = QueueTable.from_routes([("orders", "east", 6), ("orders", "west", 2), ("bills", "east", 4)])
    told = Division(4, 6, True)
    first = {"east": told, "west": Division(2, 6, True)}

    def disputed(**routes: Mapping[str, Division]) -> list[str]:
        found = disputed_queues(queues, {"orders": routes, "bills": {"n1": {"east": told}}})
        return [spell(queue) for queue in queues.take(np.array(sorted(found), dtype=np.intp))]

    more = {**first, "east": Division(6, 6, True)}
    assert disputed(n1=more, n2=more) == []
    assert disputed(n1=more, n2=first) == ["orders/east/4", "orders/east/5"]
    assert disputed(n1=first) == ["orders/east/4", "orders/east/5"]  # only one that is mute has told of them
    assert disputed(n1=more, n2={"east": Division(6, 6, True)}) == ["orders/west/0", "orders/west/1"]
    assert disputed(n1=more, n2={**more, "west": Division(2, 2, True)}) == ["orders/west/0", "orders/west/1"]
    assert disputed(n1=more, n2={**more, "west": Division(2, 6, False)}) == ["orders/west/0", "orders/west/1"]
    assert len(disputed(n1=more, n2={})) == 8
    assert disputed() == []


def test_what_may_not_be_read_has_no_owner_on_purpose() -> None:
    [fault] = without_permission(VIEW, {"orders": {"n1": {"east": Division(1, 2, True)}}})

    assert (fault.subject, fault.sentence) == (
        "orders/east",
        "orders may not be read on east: its queue has no owner on purpose.",
    )
    assert fault.proof == ("n1 says 1 queue, permission -W",)


def test_what_one_name_server_lets_be_read_is_not_closed_on_purpose() -> None:
    routes = {"orders": {"n1": {"east": Division(4, 2, True)}, "n2": {"east": Division(4, 6, True)}}}

    assert list(without_permission(VIEW, routes)) == []
    assert list(without_permission(VIEW, {"orders": {"n1": {"east": Division(0, 2, True)}}})) == []
    assert list(without_permission(VIEW, {"orders": {"n1": {"east": Division(4, 2, False)}}})) == []
