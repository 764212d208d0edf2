from __future__ import annotations

import re

import pytest
from django.template.loader import render_to_string
from django.test import Client

from dashboard.api.round_shapes import round_row
from dashboard.clusters.models import Cluster
from dashboard.groups import rounds
from dashboard.groups.lanes import lanes_of
from dashboard.groups.models import Group, Round, RoundCause
from dashboard.groups.owned import shares_in
from dashboard.groups.paragraph import sentence_of
from dashboard.groups.rebalancing import rebalance_once
from dashboard.groups.story import worst
from dashboard.people.roles import Role
from dashboard.push.publish import group_state
from rebalance_engine.events import Departure
from tests.dashboard.persons import person
from tests.dashboard.story import T0, held, joined, left, missed, route, seen, told, uses

pytestmark = pytest.mark.usefixtures("cluster")


def turn(at: int) -> Group:
    group = Group.objects.get(name="g")
    rebalance_once(group=group.pk, now=T0 + at)
    group.refresh_from_db()
    return group


@pytest.fixture
def group(cluster: object) -> Group:
    del cluster
    return begun()


def begun() -> Group:
    """Begin a round: C joins A and B."""
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []))
    return turn(5_200)


def close(at: int = 6_000) -> Group:
    told(held("A", at, [0, 1]), held("B", at, [2]), held("C", at + 1_000, [3]))
    return turn(at + 1_100)


def sentence(number: int = 1, at: int = 10_000) -> str:
    row = Round.objects.get(number=number)
    found = worst(lanes_of(row, now=T0 + at), shares_in(row=row, now=T0 + at))
    return sentence_of(row, found, now=T0 + at)


def test_an_open_round_is_said_to_be_open(group: Group) -> None:
    assert sentence() == "C joined. 1 queue is to change owner; still open after 5.0 s."
    assert rounds.latest_of(group=group) == Round.objects.get()


MOVED_FIRST = (("A", 7_000, [0, 1]), ("B", 7_000, [2]), ("C", 7_000, [3]))


def test_an_open_round_tells_what_moved_so_far_beside_what_its_target_is_to_move(group: Group) -> None:
    told(joined("D", 6_000, low=5_500), held("D", 6_100, []), *(held(*each) for each in MOVED_FIRST))
    turn(7_100)
    [row] = rounds.newest(group=group, most=5, now=T0 + 7_000)
    listed = " ".join(render_to_string("groups/_rounds.html", {"rounds": [row], "group": group, "now": T0}).split())
    answer = round_row(row, T0 + 7_000)

    assert (answer.closed_at, answer.moves, answer.moved_so_far, answer.to_move) == (None, None, 1, 3)
    assert answer.unknown["moves"] == "it has not ended yet"
    assert re.search(r"\b1\b[^,]*so far</span>, [^,]*\b3\b[^,]*to move by its target", listed)


def figures_of_open(to_move: int | None, moved: int, left_open: int) -> str:
    row = Round.objects.get()
    row.move_count = to_move
    facts = {"round": row, "moved_so_far": moved, "left_open": left_open, "group": row.group, "worst": worst([], {})}
    page = render_to_string("groups/_round_figures.html", {**facts, "now": T0, "shown_alone": True})
    return " ".join(re.sub("<[^>]+>", " ", page).split())


def test_what_changed_owner_so_far_stands_apart_from_what_the_target_of_the_round_gives_away(group: Group) -> None:
    del group
    few, more = figures_of_open(3, 1, 0), figures_of_open(1, 6, 3)

    assert "to change owner 3 changed owner so far 1 two owners" in few
    assert "to change owner 1 and 3 more by an earlier round, which this one superseded" in more
    assert "changed owner so far 6 those of earlier rounds too, or not as wanted two owners" in more


def test_by_which_round_another_one_was_superseded_stands_behind_a_comma(group: Group) -> None:
    Round.objects.filter(group=group).update(closed_at=T0 + 6_000, state="superseded", superseded_by=2)

    page = render_to_string("groups/_round_figures.html", {"round": Round.objects.get(), "group": group, "now": T0})

    assert re.search(r"</time>, <a href[^>]*>superseded by 2</a>", page)


def test_a_round_that_ended_is_a_paragraph(group: Group) -> None:
    del group
    close()

    assert sentence() == (
        "C joined. 1 queue changed owner in 100 ms – 3.0 s. Perhaps 1 queue had two owners for a while, 900 ms at most."
        " Perhaps 1 queue had no owner for a while, 7.0 s at most."
    )


def test_a_round_in_which_nothing_moved_takes_no_time(group: Group) -> None:
    del group
    close()
    Round.objects.update(move_count=0)

    assert sentence().startswith("C joined. No queue changed owner. ")


def test_of_a_group_that_all_have_left_no_queue_is_said_to_have_changed_owner(group: Group) -> None:
    close()
    told(*(left(client, 20_000, Departure.UNREGISTERED) for client in "ABC"))
    turn(20_100)
    turn(150_000)
    row = Round.objects.get(number=2)

    assert (row.group, row.is_left_by_all, row.move_count) == (group, True, 4)
    assert "All members had left; 4 queues lost their owners. " in sentence(2, 151_000)
    assert "changed owner" not in sentence(2, 151_000)
    listed = render_to_string("groups/_rounds.html", {"rounds": [row], "group": group, "now": T0})
    assert "left without owner" in listed


def test_a_round_that_took_over_from_another_says_from_which_it_goes_on(group: Group, client: Client) -> None:
    told(left("B", 9_000, Departure.HEARTBEAT_EXPIRED))
    turn(9_100)
    assert Round.objects.get(number=2).wave == 1
    client.force_login(person(Role.VIEWER))

    listed = client.get(f"/groups/{group.pk}/rounds/").content.decode()
    first, second = (client.get(f"/groups/{group.pk}/rounds/{number}/").content.decode() for number in (1, 2))

    link = f'<a href="/groups/{group.pk}/rounds/1/">'
    assert "<th>goes on from</th>" in listed and listed.count(f"{link}round 1</a>") == 1
    assert f"{link}goes on from round 1, not settled then</a>" in second
    assert "goes on from" not in first


def test_who_came_and_who_went_is_named_whatever_else_changed(group: Group) -> None:
    row = Round.objects.get()
    first = row.causes.get()
    for number in range(5):
        RoundCause.objects.create(
            group=group, round=row, cause="route changed", evidence=f"orders has {number + 5} queues", at=T0 + 4_500,
            at_low=T0 + 4_500, at_high=T0 + 4_500, observed_at=T0 + 5_000, origin=first.origin,
        )  # fmt: skip

    assert sentence().startswith("C joined. And 5 more changes. 1 queue is to change owner")
    Round.objects.update(cause="route changed")
    assert sentence().startswith("1 member joined (C). Orders has 5 queues. And 4 more changes. 1 queue is")


def test_many_at_once_are_counted_and_named_as_far_as_they_are_few(group: Group) -> None:
    close()
    told(joined("D", 20_000, low=19_000), joined("E", 20_000, low=19_000), joined("F", 20_000, low=19_000))
    told(left("A", 20_100))
    turn(20_200)
    row = Round.objects.get(number=2)
    assert row.group == group
    assert row.cause == "many at once"

    assert sentence(2, 21_000).startswith(
        "Several members at once: 3 members joined (D, E and 1 more), 1 member left (A). "
    )


def test_how_long_a_round_took_is_said_as_far_as_it_is_known(group: Group) -> None:
    del group
    close()
    took = Round.objects.get()
    assert took.closed_at is not None
    assert (took.took_low, took.took_high) == (100, 3_000)  # C had nothing yet when it was asked

    begin = took.closed_at - 2_000
    Round.objects.update(opened_low=begin, opened_at=begin, lasted_low=2_000)
    assert "1 queue changed owner in 2.0 s." in sentence()
    Round.objects.update(lasted_low=500)
    assert "1 queue changed owner in 500 ms – 2.0 s." in sentence()
    Round.objects.update(lasted_low=43_600)  # it was let go long before it was seen what for
    first_to_last = (
        "1 queue changed owner in 43.6 s, from the first let go or taken to the last; the begin was seen later."
    )
    assert first_to_last in sentence()
    Round.objects.update(opened_low=took.closed_at - 3_100, opened_at=took.closed_at, last_cause_at=took.closed_at)
    Round.objects.update(lasted_low=0)
    assert "1 queue changed owner in ≤ 3.1 s." in sentence()
    Round.objects.update(opened_low=None)
    assert "1 queue changed owner; how long that took is unknown." in sentence()


def test_who_does_not_answer_is_named(group: Group) -> None:
    del group
    told(missed("A", 6_000))
    turn(6_100)

    assert sentence().endswith("Unknown: what A holds.")


def test_a_round_that_another_one_took_over_says_so(group: Group) -> None:
    told(joined("D", 15_000, low=14_000), held("D", 15_100, []))
    turn(15_200)

    assert "round 2 took over after" in sentence()
    first, second = Round.objects.order_by("number")
    assert rounds.neighbours_of(first) == (None, second)
    assert rounds.neighbours_of(second) == (first, None)
    assert [row.number for row in rounds.newest(group=group, most=5, now=T0)] == [2, 1]
    assert ((page := rounds.page_of(group=group, number=9, now=T0)).number, page.count) == (1, 2)


def test_what_lasts_beyond_the_end_of_a_round_says_so() -> None:
    """Members that divide by two strategies hold what each should have: one queue has two owners, one has nobody."""
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    turn(20)
    told(joined("B", 5_000), *seen("B", 5_000)[1:], uses("B", 5_000, "AVG_BY_CIRCLE"))
    told(held("A", 6_000, [0, 1]), held("B", 6_000, [1, 3]))
    turn(6_100)
    told(held("A", 99_000, [0, 1]), held("B", 99_000, [1, 3]))
    turn(99_100)

    assert Round.objects.get().state == "closed"
    assert "so far." in sentence(at=100_000)
    assert "That lasts beyond the end of the round." in sentence(at=100_000)
    page = render_to_string(
        "groups/_round_figures.html",
        {
            "round": Round.objects.get(),
            "group": Group.objects.get(),
            "worst": worst(
                lanes_of(Round.objects.get(), now=T0 + 100_000),
                shares_in(row=Round.objects.get(), now=T0 + 100_000),
            ),
        },
    )
    assert page.count("so far, beyond the end of the round") == 2


def test_the_map_is_said_in_words(group: Group) -> None:
    state = group_state(group=group.pk)
    assert state is not None

    rows = rounds.held_by(state)

    assert [(each["held"], each["wanted"], each["extra"], each["count"]) for each in rows] == [
        (["orders/east 0–1"], [], [], 2),
        (["orders/east 2–3"], [], ["orders/east 3"], 2),
        ([], ["orders/east 3"], [], 0),
    ]


def test_what_is_unknown_is_not_said_to_be_nothing(group: Group) -> None:
    told(missed("A", 6_000))
    state = group_state(group=turn(6_100).pk)
    assert state is not None
    del group

    assert rounds.held_by(state)[0]["held"] is None
    assert rounds.held_by(state)[0]["count"] is None


def test_an_open_round_of_a_cluster_that_is_put_aside_lasted_until_its_last_answer(client: Client) -> None:
    told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    turn(20)
    told(joined("C", 5_000, low=4_000), held("C", 5_100, []), held("A", 5_200, [0]), held("B", 5_200, [2, 3]))
    group = turn(5_300)
    opened_at = group.rounds.get(closed_at=None).opened_at
    Cluster.objects.update(lease_epoch=1, lease_holder="", watched_at=opened_at + 63_000)
    client.force_login(person(Role.VIEWER))

    for address in (f"/groups/{group.pk}/", f"/groups/{group.pk}/rounds/"):
        page = " ".join(client.get(address).content.decode().split())
        assert '<td class="num"> 1 min 03 s so far </td>' in page
