from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import MixedMember, allocate, allocate_mixed, broadcast
from rebalance_engine.allocation.contract import BadParameter, NoClients, NoQueues, UnknownParameter, UnknownStrategy
from rebalance_engine.allocation.mixed import Share
from tests.rebalance_engine.allocation.groups import CHARACTERS, Group, groups, ids_of, queues, queues_in_order

ASCII = "".join(filter(str.isascii, CHARACTERS))
BY_DASH = {"broker_room": {"rule": "prefix"}, "client_room": {"rule": "prefix"}}
ALIKE: list[tuple[str, dict[str, Any]]] = [
    ("AVG", {}),
    ("AVG_BY_CIRCLE", {}),
    ("CONSISTENT_HASH", {"virtual_nodes": 3}),
    ("MACHINE_ROOM", {"consumer_idcs": {"east", ""}}),
    ("GO_MACHINE_ROOM", {"consumer_idcs": ["east", ""]}),
    ("GO_CONSISTENT_HASH", {"virtual_nodes": 3}),
    ("CONFIG", {"config": {"A": queues(0)}}),
]


def test_two_strategies_in_one_group_leave_an_orphan_and_a_double_owner() -> None:
    result = allocate_mixed(queues(0, 1, 2, 3), [MixedMember("c1", "AVG"), MixedMember("c2", "AVG_BY_CIRCLE")])

    assert ids_of(result.held) == {"c1": [0, 1], "c2": [1, 3]}
    assert result.orphans == tuple(queues(2))
    assert result.double_owners == {queues(1)[0]: ("c1", "c2")}
    assert [share.failure for share in result.shares] == [None, None]


def test_average_is_the_default() -> None:
    result = allocate_mixed(queues(0, 1), [MixedMember("B"), MixedMember("A")])

    assert result.shares == (Share("B", tuple(queues(1))), Share("A", tuple(queues(0))))
    assert result.orphans == ()
    assert result.double_owners == {}


@pytest.mark.parametrize(("name", "params"), ALIKE)
@given(group=groups(duplicates=False, characters=ASCII))
def test_members_that_agree_get_what_the_whole_group_gets(name: str, params: dict[str, Any], group: Group) -> None:
    result = allocate_mixed(group.queues, [MixedMember(client_id, name, params) for client_id in group.clients])

    allocated = allocate(name, group.queues, group.clients, **params)
    owned = [queue for held in allocated.values() for queue in held]
    assert {client_id: set(held) for client_id, held in result.held.items()} == {
        client_id: set(held) for client_id, held in allocated.items()
    }
    assert set(result.orphans) == set(group.queues) - set(owned)
    assert result.double_owners.keys() == {queue for queue in owned if owned.count(queue) > 1}


def test_java_and_go_rings_do_not_fit_together() -> None:
    three = ["192.168.0.1@1001", "192.168.0.2@1002", "192.168.0.3@1003"]
    given_queues = [MessageQueue("TopicTest", "broker-a", number) for number in range(8)]
    kinds = ["CONSISTENT_HASH", "GO_CONSISTENT_HASH", "CONSISTENT_HASH"]

    result = allocate_mixed(
        given_queues, [MixedMember(c, kind, {"virtual_nodes": 10}) for c, kind in zip(three, kinds, strict=True)]
    )

    assert ids_of(result.held) == {three[0]: [2, 5], three[1]: [2, 3, 4, 6], three[2]: [0, 1, 3, 4, 6, 7]}
    assert result.orphans == ()
    assert sorted(queue.queue_id for queue in result.double_owners) == [2, 3, 4, 6]


def test_members_with_different_rooms_leave_gaps() -> None:
    given_queues = queues(0, 1, broker="r1@a") + queues(0, 1, broker="r2@a")

    result = allocate_mixed(
        given_queues,
        [
            MixedMember("A", "MACHINE_ROOM", {"consumer_idcs": {"r1"}}),
            MixedMember("B", "MACHINE_ROOM", {"consumer_idcs": {"r2"}}),
        ],
    )

    assert result.held == {"A": queues(0, broker="r1@a"), "B": queues(1, broker="r2@a")}
    assert result.orphans == (*queues(1, broker="r1@a"), *queues(0, broker="r2@a"))


def test_languages_order_odd_names_differently() -> None:
    clients = ["\uff5e", "\U0001f600"]

    result = allocate_mixed(queues(0, 1), [MixedMember(clients[0], "AVG"), MixedMember(clients[1], "CPP_AVG")])

    assert result.held == {clients[0]: queues(1), clients[1]: queues(1)}
    assert result.orphans == tuple(queues(0))


# ---- own views ----


def test_a_member_that_does_not_see_the_newcomer_keeps_its_share() -> None:
    result = allocate_mixed(queues(0, 1, 2, 3), [MixedMember("A", clients=["A"]), MixedMember("B")])

    assert ids_of(result.held) == {"A": [0, 1, 2, 3], "B": [2, 3]}
    assert result.double_owners == dict.fromkeys(queues(2, 3), ("A", "B"))


def test_a_member_that_sees_one_that_is_gone_leaves_orphans() -> None:
    result = allocate_mixed(queues(0, 1), [MixedMember("B", clients=("B", "A"))])

    assert result.held == {"B": queues(1)}
    assert result.orphans == tuple(queues(0))


def test_a_member_with_old_routes_computes_on_its_own_queues() -> None:
    old = [*queues(3), *queues(1, 0)]

    result = allocate_mixed(queues(0, 1), [MixedMember("A"), MixedMember("B", queues=old)])

    assert ids_of(result.held) == {"A": [0], "B": [3]}  # B takes the second half of 0, 1 and 3
    assert result.orphans == tuple(queues(1))
    assert result.double_owners == {}


def test_queues_that_only_some_members_see_may_have_two_owners() -> None:
    result = allocate_mixed(
        queues(0),
        [MixedMember("A", queues=queues(7), clients=["A"]), MixedMember("B", queues=queues(7), clients=["B"])],
    )

    assert result.double_owners == {queues(7)[0]: ("A", "B")}
    assert result.orphans == tuple(queues(0))


def test_views_of_equal_content_and_shared_views_are_alike() -> None:
    shared = ["B", "A"]

    result = allocate_mixed(
        queues(0, 1),
        [MixedMember("A", clients=shared), MixedMember("B", clients=shared), MixedMember("B", clients=["A", "B"])],
    )

    assert [share.queues for share in result.shares] == [tuple(queues(0)), tuple(queues(1)), tuple(queues(1))]
    assert shared == ["B", "A"]


def test_a_member_that_its_broker_does_not_list_drops_everything() -> None:
    result = allocate_mixed(queues(0), [MixedMember("A", clients=["B"])])

    assert result.shares == (Share("A", ()),)
    assert result.orphans == tuple(queues(0))


def test_a_member_that_sees_no_queues_computes_nothing_and_does_not_fail() -> None:
    result = allocate_mixed(queues(0), [MixedMember("A", queues=[])])

    assert result.shares == (Share("A", ()),)


# ---- duplicates ----


def test_two_processes_of_one_id_own_the_same_queues_and_orphan_the_others() -> None:
    result = allocate_mixed(queues(0, 1, 2, 3), [MixedMember("A"), MixedMember("B"), MixedMember("A")])

    assert [share.client_id for share in result.shares] == ["A", "B", "A"]
    assert ids_of(result.held) == {"A": [0, 1], "B": [3]}
    assert result.orphans == tuple(queues(2))
    assert result.double_owners == dict.fromkeys(queues(0, 1), ("A", "A"))


def test_what_two_processes_of_one_id_compute_is_held_together() -> None:
    result = allocate_mixed(queues(0, 1, 2, 3), [MixedMember("A", "AVG"), MixedMember("A", "AVG_BY_CIRCLE")])

    assert ids_of(result.held) == {"A": [0, 1, 2]}
    assert result.orphans == tuple(queues(3))
    assert result.double_owners == {queues(0)[0]: ("A", "A")}


def test_a_queue_that_one_process_computes_twice_has_one_owner() -> None:
    told = [*queues(0, 0), *queues(0, topic="S")]

    result = allocate_mixed(queues(0) + queues(0, topic="S"), [MixedMember("A", "CONFIG", {"config": {"A": told}})])

    assert result.shares == (Share("A", tuple(queues(0) + queues(0, topic="S"))),)
    assert result.double_owners == {}


# ---- failures ----


@pytest.mark.parametrize(
    ("name", "params", "failure"),
    [
        (
            "GO_MACHINE_ROOM",
            {"consumer_idcs": ["r1"] * 5},
            "Panic: runtime error: index out of range [2] with length 2",
        ),
        ("GO_CONSISTENT_HASH", {"virtual_nodes": 0}, "Panic: runtime error: integer divide by zero"),
        ("MACHINE_ROOM_NEARBY-AVG", BY_DASH, "UnresolvedRoom: Machine room is null for consumer id A"),
    ],
)
def test_a_member_whose_strategy_throws_is_told_as_a_failure(name: str, params: dict[str, Any], failure: str) -> None:
    given_queues = queues(0, 1, broker="r1@b-a")

    result = allocate_mixed(given_queues, [MixedMember("A", name, params), MixedMember("B")])

    assert result.shares[0] == Share("A", (), failure)
    assert result.shares[1] == Share("B", tuple(queues(1, broker="r1@b-a")))
    assert result.orphans == tuple(queues(0, broker="r1@b-a"))


def test_a_member_that_sees_nobody_fails() -> None:
    java = allocate_mixed(queues(0), [MixedMember("A", clients=[])])
    go = allocate_mixed(queues(0), [MixedMember("A", "GO_AVG", clients=[])])

    assert java.shares == (Share("A", (), "IllegalArgument: cidAll is null or cidAll empty"),)
    assert go.shares == (Share("A", ()),)


def test_a_failure_for_one_topic_leaves_the_others() -> None:
    rooms = {"broker_room": lambda queue: None if queue.topic == "S" else "r1", "client_room": lambda _name: "r1"}
    given_queues = queues(0) + queues(0, topic="S") + queues(0, topic="R")

    result = allocate_mixed(given_queues, [MixedMember("A", "MACHINE_ROOM_NEARBY-AVG", rooms)])

    assert result.held == {"A": queues(0, topic="R") + queues(0)}
    assert result.shares[0].failure == f"UnresolvedRoom: Machine room is null for mq {queues(0, topic='S')[0]}"


def test_one_failure_for_many_topics_is_told_once() -> None:
    given_queues = queues(0) + queues(0, topic="S")

    result = allocate_mixed(given_queues, [MixedMember("A", clients=[])])

    assert result.shares[0].failure == "IllegalArgument: cidAll is null or cidAll empty"


# ---- broadcasting ----


@given(groups(), st.sampled_from(("AVG", "GO_AVG")))
def test_broadcasting_gives_everybody_everything_and_has_no_double_owners(group: Group, name: str) -> None:
    members = [MixedMember(client_id, name) for client_id in group.clients]

    result = allocate_mixed(group.queues, members, broadcasting=True)

    assert result.double_owners == {}
    assert result.orphans == ()
    assert all(set(share.queues) == set(group.queues) for share in result.shares)
    assert broadcast(group.queues, group.clients) == dict.fromkeys(group.clients, queues_in_order(group.queues))


def test_a_broadcast_queue_that_nobody_sees_is_an_orphan() -> None:
    members = [MixedMember("A", queues=queues(0)), MixedMember("B", queues=queues(0, 1))]

    result = allocate_mixed(queues(0, 1, 2), members, broadcasting=True)

    assert ids_of(result.held) == {"A": [0], "B": [0, 1]}
    assert result.orphans == tuple(queues(2))
    assert result.double_owners == {}


def test_the_lists_of_a_broadcast_are_each_members_own() -> None:
    lists = broadcast(queues(1, 0), ["A", "B", "A"])

    lists["A"].clear()

    assert lists == {"A": [], "B": queues(0, 1)}


# ---- errors ----


def test_there_must_be_queues_and_members() -> None:
    with pytest.raises(NoQueues, match="there are no queues to allocate: at least one is needed"):
        allocate_mixed([], [MixedMember("A")])
    with pytest.raises(NoClients, match="there are no clients to allocate to: at least one is needed"):
        allocate_mixed(queues(0), [])


@pytest.mark.parametrize("broadcasting", [False, True])
def test_a_strategy_or_parameter_that_makes_no_sense_is_refused(broadcasting: bool) -> None:
    for member, error in (
        (MixedMember("A", "NOPE"), UnknownStrategy),
        (MixedMember("A", "AVG", {"virtual_nodes": 1}), UnknownParameter),
        (MixedMember("A", "CONSISTENT_HASH", {"virtual_nodes": -1}), BadParameter),
    ):
        with pytest.raises(error):
            allocate_mixed(queues(0), [MixedMember("B"), member], broadcasting=broadcasting)
