from __future__ import annotations

from pytest_django import DjangoAssertNumQueries

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerList
from dashboard.people.roles import Access, Role, Scope
from dashboard.producers.absences import Absence
from dashboard.producers.queries import (
    MOST_BROKERS,
    PAGE,
    Neighbours,
    Producers,
    neighbours_of,
    page_of,
    picks_of,
    producers_of,
    searched,
    steps_for,
    with_most_to_say,
)
from rebalance_engine.producer import Skip
from tests.dashboard.producers.conftest import Teller, stock
from tests.dashboard.story import T0, told

ALL = Access("vera", (Scope(Role.VIEWER),))
SOME = Access("vera", (Scope(Role.VIEWER, "*", "orders-*"),))


def read(access: Access = ALL, at: int = 4_000) -> Producers:
    return producers_of(clusters=list(Cluster.objects.all()), access=access, now=T0 + at)


def test_who_leaves_a_broker_alone_comes_first_and_a_stock_producer_is_unknown(reported: Teller) -> None:
    assert reported.client == "P"

    found = read()

    p, s = found.rows
    assert (p.client, p.is_reporting, p.topics) == ("P", True, ("orders",))
    assert [(each.broker, each.left_ms(T0 + 4_000)) for each in p.leaves_alone(T0 + 4_000)] == [("east", 9_900)]
    assert (s.client, s.is_reporting, s.groups, s.version) == ("S", False, ("P_G",), "V5_5_0")
    assert s.standings[0].kind(T0 + 4_000) == "unknown"
    assert (found.brokers, found.count) == (("east", "west"), 2)


def test_what_was_told_is_no_state_of_now_where_nothing_of_the_cluster_answers(
    reported: Teller, cluster: Cluster
) -> None:
    told(reported.backs_off(4_000, 300_000, "west"))
    told_at = 4_000
    assert reported.client == "P"
    for watched_at, at, is_unheard in (
        (None, told_at + 20_000, False),
        (None, told_at + 20_001, True),
        (T0 + told_at, told_at + 20_001, True),
        (T0 + told_at + 1, told_at + 20_001, False),
    ):
        Cluster.objects.update(watched_at=watched_at)

        [p] = [row for row in read(at=at).rows if row.client == "P"]

        assert p.is_unheard is is_unheard, (watched_at, at)
        assert bool(p.leaves_alone(T0 + at)) is not is_unheard
        assert ({each.kind(T0 + at) for each in p.standings} == {"unknown"}) is is_unheard
        assert bool(picks_of(p, now=T0 + at)) is not is_unheard
    Cluster.objects.update(watched_at=None)
    assert not any(row.is_unheard for row in past(told_at + 30_000).rows)
    assert cluster.pk


def test_who_may_not_see_all_groups_sees_no_producer(reported: Teller) -> None:
    assert reported.client == "P"

    assert read(SOME).rows == ()


def test_brokers_that_did_not_tell_and_those_that_are_gone_are_named(reported: Teller, cluster: Cluster) -> None:
    assert reported.client == "P"
    known = {"at": T0, "observed_at": T0, "origin": "admin answer"}
    for name in ("west", "east"):  # of one that is gone nobody asks
        ProducerList.objects.create(cluster=cluster, broker=name, missing="refused", missing_at=T0, **known)
    Broker.objects.create(cluster=cluster, name="east", broker_id=0, address="a:1", gone_at=T0, **known)

    found = read()

    assert found.untold == (("west", "refused"),)
    assert found.absences == {(cluster.pk, "east"): (Absence(T0, None),)}


def test_a_producer_that_is_gone_is_not_shown_as_if_it_were_there(reported: Teller, cluster: Cluster) -> None:
    stock(cluster, reported.client)
    assert [row.client for row in read(at=90_000).rows] == ["P", "S"]

    Producer.objects.filter(client_id="P").update(gone_at=T0 + 60_000)

    assert [row.client for row in read(at=90_000).rows] == ["S"]
    assert [row.client for row in past(59_000).rows] == ["P", "S"]
    told(reported.sent(61_000, 5))
    assert [row.client for row in read(at=90_000).rows] == ["P", "S"]


def test_what_it_would_pick_is_known_as_far_as_it_told(reported: Teller) -> None:
    assert reported.client == "P"
    p, s = read().rows

    [now], [later] = picks_of(p, now=T0 + 4_000), picks_of(p, now=T0 + 20_000)

    assert (now.topic, now.shares, now.skipped) == ("orders", {"west": 4}, {"east": Skip.BACKS_OFF})
    assert later.shares == {"east": 2, "west": 2}
    assert picks_of(s, now=T0) == []
    assert steps_for(p).is_assumed is True


def test_questions_do_not_grow_with_the_producers(
    reported: Teller, cluster: Cluster, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    assert reported.client == "P"
    for number in range(8):
        stock(cluster, f"S{number}")
        told(Teller(T0, f"P{number}").sent(1_000, 5))

    with django_assert_max_num_queries(8):
        assert read().count == 18


def past(at: int) -> Producers:
    return producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=T0 + at, is_past=True)


def test_a_past_instant_shows_what_was_told_by_then(reported: Teller) -> None:
    assert reported.client == "P"

    early, before, then = past(500), past(3_500), past(3_950)

    assert [row.client for row in early.rows] == ["S"]  # P had told nothing, and no broker listed it
    assert [(row.client, bool(row.leaves_alone(T0 + 3_500))) for row in before.rows] == [("P", False), ("S", False)]
    assert then.rows[0].leaves_alone(T0 + 3_950)[0].left_ms(T0 + 3_950) == 9_950
    assert [each.broker for each in past(1_500).rows[0].standings] == ["east"]
    assert len(past(1_500).rows[0].kept) == 2


def test_who_came_later_or_had_gone_is_not_there_at_a_past_instant(reported: Teller, cluster: Cluster) -> None:
    assert reported.client == "P"
    stock(cluster, "LATE")
    stock(cluster, "GONE")
    Producer.objects.filter(client_id="LATE").update(at=T0 + 9_000, observed_at=T0 + 9_000)
    Producer.objects.filter(client_id="GONE").update(gone_at=T0 + 5_000)

    assert [row.client for row in past(4_000).rows] == ["P", "GONE", "S"]
    assert [row.client for row in past(9_500).rows] == ["P", "LATE", "S"]


def test_the_ways_to_other_instants_are_where_a_time_alone_began_or_ended(reported: Teller) -> None:
    assert reported.client == "P"
    found = read(at=20_000)

    def ways(at: int) -> tuple[int | None, int | None]:
        near: Neighbours = neighbours_of(found, at=T0 + at, now=T0 + 20_000)
        return tuple(None if each is None else each - T0 for each in (near.previous, near.next))  # type: ignore[return-value]

    assert [ways(at) for at in (0, 3_900, 10_000, 20_000)] == [
        (None, 3_900),
        (None, 13_900),
        (3_900, 13_900),
        (13_900, None),
    ]
    assert neighbours_of(found, at=T0 + 5_000, now=T0 + 6_000).next is None  # it is still to come


def test_a_page_says_which_brokers_have_no_column_and_gives_them_to_those_that_are_sent_to(cluster: Cluster) -> None:
    for number in range(20):
        stock(cluster, f"S{number}", broker=f"a-{number:02}")
    p = Teller(T0)
    told(*(p.sent(1_000, 6, f"z-{number}") for number in range(3)))

    plain = page_of(read(), number=1, search="", now=T0 + 4_000)
    asked = page_of(searched(read(), "a-19"), number=1, search="a-19", now=T0 + 4_000)

    assert {"z-0", "z-1", "z-2"} <= set(plain.brokers)
    late = page_of(read(at=300_000), number=1, search="", now=T0 + 300_000)
    assert {"z-0", "z-1", "z-2"} <= set(late.brokers), "also where nothing of the cluster answers any more"
    assert (len(plain.brokers), len(plain.left_out)) == (MOST_BROKERS, 23 - MOST_BROKERS)
    assert ([row.client for row in asked.rows], asked.brokers, asked.left_out) == (["S19"], ("a-19",), ())


def test_producers_come_in_pages_and_are_searched(cluster: Cluster) -> None:
    for number in range(PAGE + 1):
        stock(cluster, f"S{number:03}")

    last = page_of(read(), number=99, search="", now=T0)

    assert (last.number, last.pages, last.count) == (2, 2, PAGE + 1)
    assert [row.client for row in last.rows] == [f"S{PAGE}"]
    assert [row.client for row in searched(read(), "s100 P_G shop east").rows] == ["S100"]
    assert searched(read(), "nobody").count == 0


def test_it_begins_with_who_leaves_a_broker_alone_or_did_so_last(reported: Teller) -> None:
    told(Teller(T0, "A").sent(1_000, 5), Teller(T0, "B").sent(1_000, 5), Teller(T0, "B").backs_off(2_000, 500))
    rows = sorted(read().rows, key=lambda row: row.client)

    now, later, before = (with_most_to_say(rows[:until], now=T0 + at) for until, at in ((3, 4_000), (2, 9_000), (1, 9)))

    assert reported.client == "P"
    assert [row and row.client for row in (now, later, before)] == ["P", "B", "A"]
    assert with_most_to_say([row for row in rows if row.client == "S"], now=T0) is None
