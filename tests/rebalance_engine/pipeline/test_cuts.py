"""A log of a group's only member that was cut: what brokers tell of it makes figures bounds."""

from typing import Any

from rebalance_engine.pipeline.sorting import whole
from rebalance_engine.pipeline.stories import tell
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span

ROUTED, ALONE = ["east|1|6", "west|1|6"], ["east|1|6"]


def of(what: str, at: int) -> dict[str, object]:
    return clue(what, at, client_id="A")


def unowned(rows: list[tuple[str, dict[str, Any]]], queue_id: int = 0) -> tuple[int, int]:
    """Give for how long nobody had the queue, at least and at most."""
    mine = [row for row in kinds(rows, "stretch") if row["queue_id"] == queue_id and not row["clients"]]
    lasts = [(whole(row["until_ms"]) - whole(row["at_ms"]), row["unheard"]) for row in mine]
    return sum(ms for ms, doubt in lasts if not doubt), sum(ms for ms, _ in lasts)


def test_a_client_that_brokers_saw_go_within_a_hole_of_its_log_may_have_been_another_process_behind_it() -> None:
    """Its log lacks 20,000 to 60,000; a broker saw it go at 30,000 and come at 45,000: the queue may have been free."""
    seen = [of("joined", 500), of("closed", 30_000), of("joined", 45_000)]
    clues = [*seen, clue("hole", 20_000, client_id="A", number=60_000), clue("input ends", 90_000)]

    rows = list(tell([span("A", 1_000, 90_000, ended="open")], clues))

    assert unowned(rows) == (0, 30_000)
    assert [row["unheard"] for row in kinds(rows, "group load")] == [1]


def test_where_no_broker_saw_it_go_it_had_its_queue_all_through_the_hole() -> None:
    clues = [of("joined", 500), clue("hole", 20_000, client_id="A", number=60_000), clue("input ends", 90_000)]

    assert unowned(list(tell([span("A", 1_000, 90_000, ended="open")], clues))) == (0, 0)


def test_of_a_client_whose_log_begins_behind_several_connections_the_first_one_counts() -> None:
    """Its log begins at 60,000; it was idle at no time that is known, since it may have had its queue from 500 on."""
    seen = [of("joined", 500), of("closed", 30_000), of("joined", 45_000), clue("log begins", 60_000, client_id="A")]

    rows = list(tell([span("A", 60_000, 90_000, ended="open")], [*seen, clue("input ends", 90_000)]))

    assert unowned(rows)[0] == 0
    assert unowned(rows)[1] >= 30_000
    assert [row["idle_ms"] for row in kinds(rows, "member load")] in ([0], [None])


def test_behind_a_hole_in_the_only_members_log_a_queue_that_nobody_has_may_be_one_that_its_topic_lost() -> None:
    """The route that lost east is in the hole; that it has it again is told at 70,000."""
    routes = [clue("route", at, topic="orders", queues=ROUTED) for at in (600, 70_000)]
    clues = [of("joined", 500), *routes, clue("hole", 20_000, client_id="A", number=45_000)]
    spans = [span("A", 1_000, 50_000), span("A", 75_000, 90_000, ended="open")]
    other = span("A", 1_000, 90_000, broker="west", queue_id=0, ended="open")

    rows = list(tell([*spans, other], [*clues, clue("input ends", 90_000)]))

    assert unowned(rows) == (5_000, 25_000)
    assert [row["routes_unknown"] for row in kinds(rows, "group load")] == [1]


def test_members_of_one_log_have_one_hole_and_none_of_them_tells_the_routes_of_it() -> None:
    """Of B in a log of its own, which goes on, it is known which queues the topic had."""
    routes = [clue("route", at, topic="orders", queues=ROUTED) for at in (600, 70_000)]
    holes = [clue("hole", 20_000, client_id=name, number=45_000) for name in ("A", "B")]
    spans = [span("A", 1_000, 50_000), span("A", 75_000, 90_000, ended="open")]
    other = span("B", 1_000, 90_000, broker="west", queue_id=0, ended="open")

    def told(*lacking: dict[str, object]) -> tuple[tuple[int, int], object]:
        rows = list(tell([*spans, other], [*routes, *lacking, clue("input ends", 90_000)]))
        return unowned(rows), *(row["routes_unknown"] for row in kinds(rows, "group load"))

    assert told(*holes) == ((5_000, 25_000), 1)
    assert told(holes[0])[1] == 0


def test_a_queue_whose_broker_is_back_when_no_log_tells_routes_any_more_is_perhaps_unowned() -> None:
    """A's log ends at 40,000, where east was out of the route; it comes back, and A stops at 80,000, as brokers say."""
    routes = [
        clue("route", 600, topic="orders", queues=ROUTED),
        clue("route", 30_000, topic="orders", queues=["west|1|6"]),
    ]
    lives = [of("joined", 500), of("left", 80_000), clue("log ends", 40_000, client_id="A")]
    spans = [span("A", 1_000, 30_000), span("A", 1_000, 80_000, broker="west", ended="stopped")]

    def told(*more: dict[str, object]) -> tuple[int, int]:
        rows = list(tell(spans, [*lives, *routes, *more, clue("input ends", 90_000)]))
        return unowned([(kind, row) for kind, row in rows if row.get("broker") == "east"])

    assert told() == (0, 0)
    assert told(clue("joined", 50_000, client_id="A", broker="east"))[1] >= 30_000
