from __future__ import annotations

from dataclasses import dataclass

import pytest
from django.test import Client

from dashboard.groups.kinds import (
    listeners_of,
    popping_words,
    programs_of,
    set_to_pop,
    through_proxies,
    without_owners,
)
from dashboard.groups.models import Finding, Group, Target
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.showing import row_of, row_shown
from dashboard.groups.small import figures_of, shrink
from dashboard.groups.words import state_of
from dashboard.people.roles import Role
from dashboard.push.publish import group_state
from rebalance_engine.events import EXACT, ConsumeType, MemberSeen, RequestModesSeen
from tests.dashboard.persons import person
from tests.dashboard.story import EAST, T0, held, joined, left, missed, route, seen, told


@dataclass(frozen=True)
class Told:
    language: str = "JAVA"
    version: str = "5.5.0"
    is_orderly: bool | None = False


OLD, MID, PYTHON, MUTE = Told(version="4.9.7"), Told(version="5.3.1"), Told("PYTHON", "5.1.4"), Told("", "", None)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([], ""),
        ([Told(), Told()], "Java 5.5.0"),
        ([OLD, Told(), Told()], "Java 5.5.0 (2), Java 4.9.7 (1)"),
        ([Told(), MUTE], "Java 5.5.0 (1), unknown of 1"),
        ([MUTE], "versions unknown"),
        (
            [Told(), OLD, Told(), PYTHON, MID],
            "Java 5.5.0 (2), Java 4.9.7 (1), Java 5.3.1 (1), 1 more version",
        ),
    ],
)
def test_programs_are_counted(members: list[Told], words: str) -> None:
    assert programs_of(members) == words


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([], ""),
        ([True, True], "orderly"),
        ([False], "concurrent"),
        ([True, False, False], "orderly (1), concurrent (2)"),
        ([False, None], "concurrent (1), unknown (1)"),
        ([None], "orderly or concurrent: unknown"),
    ],
)
def test_listeners_are_said_as_far_as_they_are_known(told: list[bool | None], words: str) -> None:
    assert listeners_of([Told(is_orderly=each) for each in told], model="CLUSTERING") == words


def test_in_a_broadcasting_group_everybody_has_everything() -> None:
    assert listeners_of([Told()], model="BROADCASTING") == "broadcasting: every member has every queue"


def test_members_that_pop_are_counted_by_their_own_word() -> None:
    assert popping_words(0) == ""
    assert popping_words(1) == "POP: 1 member takes messages from queues that nobody owns"


@pytest.mark.parametrize(
    ("popped_by", "words"),
    [
        (None, ""),
        ({}, ""),
        ({"east": []}, ""),
        ({"east": ["orders"]}, "Set to POP for orders on east: "),
        (
            {"west": ["d", "a"], "east": ["b", "c", "a"]},
            "Set to POP for a, b, c, 1 more on east, west: ",
        ),
    ],
)
def test_what_is_set_to_pop_is_said_as_a_setting(popped_by: dict[str, list[str]] | None, words: str) -> None:
    said = set_to_pop(popped_by)

    assert said.startswith(words)
    assert bool(said) == bool(words)


@pytest.mark.parametrize(
    ("silent", "n"),
    [
        ([], 0),
        (["10.0.0.1@7#123456789", "10.0.0.1@DEFAULT", "10.0.0.1@7#1@unit", "10.0.0.1@7@8@STREAM", "a@b@c@d"], 0),
        (["mbp@78774@2@3549a8wsr", "10.0.0.1@7#1"], 1),
        (["web-1@1@0@d1o2m9xh3k@x", "web-1@1@0@d1o2m9xh3k", "web-2@9@13@lxk2p0aa"], 2),
    ],
)
def test_who_is_silent_and_named_as_clients_of_grpc_are_is_told_apart(silent: list[str], n: int) -> None:
    said = through_proxies(silent)

    assert said.startswith(f"{n} silent member") if n else not said


def modes(at: int, *topics: str, broker: str = "east") -> RequestModesSeen:
    return RequestModesSeen(at=T0 + at, source=EAST, exactness=EXACT, group="g", broker=broker, topics=topics)


@pytest.mark.usefixtures("cluster")
def test_modes_of_brokers_are_kept_until_one_has_none_any_more() -> None:
    told(modes(1, "orders"), modes(2, "audit", broker="west"))
    assert Group.objects.get().popped_by == {"east": ["orders"], "west": ["audit"]}

    told(modes(3))
    assert Group.objects.get().popped_by == {"west": ["audit"]}


@pytest.mark.usefixtures("cluster")
def test_a_groups_page_says_what_is_set_to_pop_and_who_may_come_through_a_proxy(client: Client) -> None:
    client.force_login(person(Role.VIEWER))
    told(*seen("A"), modes(1, "orders"), joined("mbp@78774@2@3549a8wsr", 1))
    group = Group.objects.get()

    page = client.get(f"/groups/{group.pk}/").content.decode()

    assert "Set to POP for orders on east" in page
    assert "1 silent member has an id as gRPC clients have" in page


@pytest.mark.usefixtures("cluster")
def test_of_a_group_without_members_it_is_said_whom_brokers_do_not_list(client: Client) -> None:
    client.force_login(person(Role.VIEWER))
    told(route(4), *seen("A"), left("A", 5))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 10)
    Group.objects.update(member_count=0, queue_count=4)

    page = client.get(f"/groups/{Group.objects.get().pk}/").content.decode()

    assert "Brokers do not list who comes through a proxy" in page


GRPC = "mbp@78774@2@3549a8wsr"
POP = ConsumeType.POP.value


def turned(at: int) -> Group:
    """Rebalance the group of these tests, and give its row."""
    rebalance_once(group=Group.objects.get().pk, now=T0 + at)
    return Group.objects.get()


def pages(client: Client, group: Group, at: int) -> list[str]:
    """Give what the page of a group says in its head, now and at a past instant."""
    client.force_login(person(Role.VIEWER))
    found = [client.get(f"/groups/{group.pk}/{query}").content.decode() for query in ("", f"?at={T0 + at}")]
    return [page[page.index('id="figures"') : page.index('id="as-of"')] for page in found]


@pytest.mark.usefixtures("cluster")
def test_a_group_that_comes_through_proxies_has_no_target_and_is_not_said_to_be_silent(client: Client) -> None:
    told(route(4), *seen(GRPC)[:-1], missed(GRPC, 5))
    group = turned(10)

    state = group_state(group=group.pk)

    assert state is not None
    assert (state.queues, [cell.target for cell in state.members], state.head.strategy) == ((), [()], "")
    assert state_of(row_of(group)).words == "no queues that members own: all come through a proxy"
    assert figures_of(state)["proxied"] == row_of(group).proxied == 1
    assert (group.unasked_count, group.orphan_count, group.double_count, group.is_converged) == (0, 0, 0, True)
    client.force_login(person(Role.VIEWER, name="vera"))
    [listed] = client.get("/api/v1/groups").json()["rows"]
    assert (listed["proxied"], listed["says"]) == (1, "no queues that members own: all come through a proxy")
    assert listed["unknown"]["strategy"] == "there are no queues that members own: nothing is divided"
    for page in pages(client, group, 10):
        assert "1 silent member has an id as gRPC clients have" in page
        assert "no queues to divide" in page
        assert "assumed" not in page


@pytest.mark.usefixtures("cluster")
def test_beside_members_who_divide_one_that_comes_through_a_proxy_is_to_have_nothing(client: Client) -> None:
    told(route(4), *seen("A"), *seen(GRPC)[:-1], held("A", 5, [0, 1]), missed(GRPC, 5))
    group = turned(10)

    state = group_state(group=group.pk)

    assert state is not None
    assert [(cell.client, cell.target) for cell in state.members] == [("A", (0, 2)), (GRPC, ())]
    assert state_of(row_of(group)).words == "1 of 2 members comes through a proxy, and cannot be asked"
    assert not Target.objects.filter(member__client_id=GRPC).exists()
    client.force_login(person(Role.VIEWER))
    page = client.get(f"/groups/{group.pk}/").content.decode()
    assert "no owner that can be asked: taken through a proxy, perhaps" in page
    assert page.count("through a proxy: it owns no queues, and cannot be asked") == 2  # of members, and of the map
    assert "unknown: no answer" not in page[page.index('data-part="table"') :]
    members = client.get(f"/api/v1/groups/{group.pk}/members").json()["rows"]
    assert members[1]["unknown"]["held"] == "it comes through a proxy: it owns no queues, and cannot be asked"


@pytest.mark.usefixtures("cluster")
def test_a_group_that_pops_is_not_said_to_divide_by_anything(client: Client) -> None:
    pops = MemberSeen(at=T0 + 5, source=EAST, exactness=EXACT, group="g", client="A", consume_type=ConsumeType.POP)
    told(route(4), *seen("A"), pops, held("A", 6, []))
    group = turned(10)

    assert (group.strategy, group.is_strategy_assumed, group.is_converged) == ("", False, True)
    assert state_of(row_of(group)).words == "POP: no queues that members own"
    state = group_state(group=group.pk)
    assert state is not None
    assert (state.head.popping, figures_of(state)["popping"], row_of(group).popping) == (1, 1, 1)
    assert row_shown(state, group=group, at=T0 + 10).popping == 1
    client.force_login(person(Role.VIEWER, name="vera"))
    [listed] = client.get("/api/v1/groups").json()["rows"]
    assert (listed["popping"], listed["says"]) == (1, "POP: no queues that members own")
    for page in pages(client, group, 10):
        assert "POP: 1 member takes messages from queues that nobody owns" in page
        assert "no queues to divide" in page
    page = client.get(f"/groups/{group.pk}/").content.decode()
    assert '<p class="dim" data-of-nothing>' in page
    assert "Queues are not divided among members that take messages by POP" in page
    assert "<div data-of-cells hidden>" in page
    assert "(mean" not in page


@pytest.mark.usefixtures("cluster")
def test_what_nobody_owns_beside_a_member_that_pops_is_not_said_to_be_nobodys(client: Client) -> None:
    pops = MemberSeen(at=T0 + 5, source=EAST, exactness=EXACT, group="g", client="B", consume_type=ConsumeType.POP)
    told(route(4), *seen("A"), *seen("B"), pops, held("A", 6, [0, 1]), held("B", 6, []))
    group = turned(10)
    told(held("A", 40_000, [0, 1]), held("B", 40_000, []))
    group = turned(40_010)

    assert not Finding.objects.exists()
    assert (group.orphan_count, group.is_converged) == (0, True)
    assert state_of(row_of(group)).words == "held as wanted; POP: 1 of 2 members"
    state = group_state(group=group.pk)
    assert state is not None
    assert set(shrink(state).faults) == {1, 3}
    client.force_login(person(Role.VIEWER))
    now, then = (client.get(f"/groups/{group.pk}/{query}").content.decode() for query in ("", f"?at={T0 + 40_000}"))
    assert now.count("no owner: who takes messages by POP takes these too") == 2
    assert then.count("no owner: who takes messages by POP takes these too") == 2


@pytest.mark.parametrize(
    ("consume_types", "proxied", "strategy", "is_so"),
    [
        pytest.param({GRPC: POP, "A": None}, [GRPC], "", False, id="who does both is one of two"),
        pytest.param({GRPC: POP, "A": POP}, [GRPC], "", True, id="all of them"),
        pytest.param({"A": POP}, [], "AVG", False, id="there is a strategy"),
        pytest.param({}, [], "", False, id="nobody is there"),
    ],
)
def test_nothing_is_divided_where_each_member_takes_messages_without_owning_queues(
    consume_types: dict[str, str | None], proxied: list[str], strategy: str, is_so: bool
) -> None:
    told_of = without_owners(consume_types=consume_types, proxied=proxied, popped_by=None, strategy=strategy)

    assert told_of["divides_nothing"] is is_so
