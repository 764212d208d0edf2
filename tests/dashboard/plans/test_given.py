"""Members whose programs were never given the list that stands here for them."""

from __future__ import annotations

import pytest
from django.test import Client

from dashboard.groups.models import Group, Member
from dashboard.plans.given import not_given
from dashboard.plans.models import ByConfig
from rebalance_engine.group import GroupView
from rebalance_engine.group import Member as Seen
from rebalance_engine.model import MessageModel, MessageQueue
from tests.dashboard.plans.test_editing import at, group, send  # noqa: F401 - a fixture
from tests.dashboard.story import T0

QUEUES = [MessageQueue("orders", "east", number) for number in range(4)]
LISTS = {"A": QUEUES[:1], "B": QUEUES[1:]}


def view(*held: tuple[MessageQueue, ...] | list[MessageQueue] | None, strategy: str = "CONFIG") -> GroupView:
    members = [
        Seen(client_id=name, held=None if each is None else tuple(each), strategy=strategy)
        for name, each in zip("AB", held, strict=True)
    ]
    return GroupView.of("g", QUEUES, members)


def test_who_holds_what_is_not_in_its_list_was_not_given_it() -> None:
    assert not_given(LISTS, view(QUEUES[:2], QUEUES[2:])) == ("A",)
    assert not_given(LISTS, view(QUEUES[:1], QUEUES[1:])) == ()


def test_who_holds_less_may_not_have_been_able_to_take_the_rest() -> None:
    assert not_given(LISTS, view(QUEUES[:1], QUEUES[1:2])) == ()
    assert not_given({"A": QUEUES[:2], "B": QUEUES[2:]}, view([], QUEUES[1:])) == ("B",)  # A waits for what B keeps


def test_who_holds_nothing_though_nobody_else_has_what_it_was_given_has_no_list() -> None:
    assert not_given(LISTS, view([], [])) == ("A", "B")
    assert not_given({"A": QUEUES}, view(QUEUES, [])) == ()


def test_nothing_is_said_of_who_is_silent_or_divides_otherwise_or_where_all_have_all() -> None:
    assert not_given(LISTS, view(None, QUEUES[1:])) == ()
    assert not_given(LISTS, view(QUEUES[:2], QUEUES[2:], strategy="AVG")) == ()
    broadcasting = GroupView.of("g", QUEUES, [Seen(client_id="A", strategy="CONFIG")], MessageModel.BROADCASTING)
    assert not_given(LISTS, broadcasting) == ()


@pytest.mark.usefixtures("cluster")
def test_page_and_dry_run_say_so_once_members_had_the_time_to_take_it(client: Client, group: Group) -> None:  # noqa: F811
    Member.objects.update(strategy="CONFIG")
    send(client, group, '{"A": ["orders/east/0-2"], "B": ["orders/east/3"]}')
    pages = [at(group), f"/groups/{group.pk}/plan/?strategy=CONFIG"]
    assert not any("hold what this list says" in client.get(page).content.decode() for page in pages)

    ByConfig.objects.update(at=T0)

    for page in pages:
        assert (
            "1 member does not hold what this list says: its program has another list, or none (B)"
            in client.get(page).content.decode()
        )
    assert "hold what this list says" not in client.get(f"/groups/{group.pk}/plan/?strategy=AVG").content.decode()
