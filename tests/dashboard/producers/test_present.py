from __future__ import annotations

from typing import Any, cast

import pytest

from dashboard.clusters.models import Broker, Cluster
from dashboard.producers import queries
from dashboard.producers.absences import Absence
from dashboard.producers.present import history_of, ladder_of, picks_of, rate, rows_of, share
from dashboard.producers.queries import picks_of as picks
from dashboard.producers.queries import producers_of, steps_for
from rebalance_engine.events import SendOutcome
from tests.dashboard.producers.conftest import Teller, both
from tests.dashboard.producers.test_queries import ALL
from tests.dashboard.story import T0, told

NOW = T0 + 4_000


def test_a_cell_says_what_is_known_and_no_more(reported: Teller) -> None:
    assert reported.client == "P"
    read = producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=NOW)

    rows: Any = rows_of(read, {}, now=NOW)  # plain values for a template

    [p, s] = rows
    east, west = p["cells"]
    assert (east["kind"], east["left_ms"], east["stage"], east["failed"]) == ("backs off", 9_900, 6, 1)
    assert east["stages"] == [True] * 6 + [False]
    assert (west["kind"], west["median_ms"], west["stage"]) == ("available", 12, None)
    assert (s["cells"][0]["median_ms"], s["cells"][1]) == (None, None)


def test_a_canarys_estimate_stands_in_the_cell_of_its_cluster_and_broker(reported: Teller, cluster: Cluster) -> None:
    assert reported.client == "P"
    read = producers_of(clusters=[cluster], access=ALL, now=NOW)

    [p, s] = cast("Any", rows_of(read, {(cluster.pk, "east"): 5, (cluster.pk + 1, "west"): 9}, now=NOW))

    assert [cell and cell["canary_ms"] for cell in (*p["cells"], *s["cells"])] == [5, None, 5, None]


def test_history_steps_and_picks_are_of_one_producer(reported: Teller) -> None:
    assert reported.client == "P"
    read = producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=NOW)
    p, s = read.rows

    assert [(each["broker"], each["sends"]) for each in history_of(p, read, now=NOW)] == [("east", 2), ("west", 1)]
    assert history_of(s, read, now=NOW) == []
    ladder: Any = ladder_of(p, steps_for(p), now=NOW)
    counts = [[count["n"] for count in each["counts"]] for each in ladder]
    assert [each for each in counts if any(each)] == [[1, 0]]
    [said] = picks_of(picks(p, now=NOW))
    assert (said["shares"], said["skipped"]) == ([("west", 4, 4)], [("east", "it is left alone")])


def test_the_history_reaches_to_now_and_shows_where_somebody_looks(reported: Teller) -> None:
    assert reported.client == "P"
    read = producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=T0 + 1_500, is_past=True)

    past: Any = history_of(read.rows[0], read, now=NOW, at=T0 + 1_500)
    live: Any = history_of(read.rows[0], read, now=NOW)

    assert [(each["broker"], each["sends"], each["until"]) for each in past] == [("east", 2, NOW), ("west", 1, NOW)]
    since = past[0]["since"]
    assert past[0]["picture"]["playhead"] == round(1_000 * (T0 + 1_500 - since) / (NOW - since), 1)
    assert live[0]["picture"]["playhead"] is None


def test_the_history_has_axes_and_bounds_of_what_was_sent_and_failed(reported: Teller) -> None:
    assert reported.client == "P"
    known = {"at": T0, "observed_at": T0, "origin": "admin answer"}
    cluster = Cluster.objects.get()
    Broker.objects.update_or_create(
        cluster=cluster, name="west", broker_id=0, defaults={"address": "a:1", "gone_at": T0 + 3_000, **known}
    )
    read = producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=NOW)

    east, west = cast("Any", history_of(read.rows[0], read, now=NOW))

    assert [step["words"] for step in east["steps"]] == ["100 ms", "550 ms", "3 s", "15 s"]
    assert all(0 <= tick["x"] <= 100 for tick in east["ticks"]) and east["ticks"]
    assert [band["words"] for band in east["bands"]] == ["isolated 10.0\u00a0s"]
    assert (east["failed"], east["failed_share"], west["failed"], west["failed_share"]) == (1, 50, 0, 0)
    assert east["per_second"] == rate(2, NOW - east["since"])
    assert (east["away_ms"], west["away_ms"], west["picture"]["away"][0]["width"] > 0) == (None, 1_000, True)


def test_a_broker_that_was_away_is_told_with_when_and_was_so_at_instants_of_then(reported: Teller) -> None:
    assert reported.client == "P"
    gone, back = T0 + 1_000, T0 + 2_000
    known = {"at": T0, "observed_at": T0, "origin": "admin answer", "address": "a:1"}
    before = [[NOW - 900_000, NOW - 800_000], [gone, back]]  # of which the first is older than the picture
    defaults = {**known, "absences": before}
    Broker.objects.update_or_create(cluster=Cluster.objects.get(), name="east", broker_id=0, defaults=defaults)
    read = producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=NOW)

    [east, west] = cast("Any", history_of(read.rows[0], read, now=NOW))

    assert (east["were_away"], east["away_ms"], west["were_away"]) == ([Absence(gone, back)], None, [])
    [band] = east["picture"]["away"]
    assert band["width"] == pytest.approx(1_000 * (back - gone) / (NOW - east["since"]), abs=0.2)
    for at, is_away in ((gone - 1, False), (gone, True), (back - 1, True), (back, False)):
        [p, *_] = cast("Any", rows_of(read, {}, now=at))
        assert p["cells"][0]["is_away"] is is_away


def test_the_ladder_is_unknown_where_the_sends_that_are_kept_do_not_reach_back(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries, "MOST_SENDS", 2)
    p = Teller(T0)
    told(both(), p.backs_off(500, 1_000), p.sent(50_000, 600), p.sent(80_000, 700), p.sent(1_000, 6, "west"))
    later = [p.sent(at, 700, "north") for at in (90_000, 91_000)]
    told(*later)

    def ladder(at: int) -> Any:  # noqa: ANN401 - plain values for a template
        read = producers_of(clusters=[cluster], access=ALL, now=at, is_past=True)
        steps = ladder_of(read.rows[0], steps_for(read.rows[0]), now=at)
        return read.brokers, next(each["counts"] for each in steps if each["from_ms"] == 550)

    def at_least(n: int | None, *, is_kept: bool = False) -> dict[str, object]:
        return {"n": n, "is_bound": True, "is_kept": is_kept}

    unknown, nothing = at_least(None), {"n": 0, "is_bound": False, "is_kept": True}
    assert ladder(T0 + 2_000) == (("east", "north", "west"), [unknown, unknown, nothing])
    assert ladder(T0 + 82_000) == (("east", "north", "west"), [at_least(2), unknown, nothing])
    assert ladder(T0 + 115_000)[1] == [at_least(1, is_kept=True), at_least(2), nothing]


def test_where_the_slowest_of_each_report_alone_is_told_the_ladder_has_bounds(cluster: Cluster) -> None:
    p = Teller(T0)
    told(p.sent(1_000, 120), p.sent(2_000, 700), p.sent(3_000, 5_000, outcome=SendOutcome.REMOTING_ERROR))
    read = producers_of(clusters=[cluster], access=ALL, now=T0 + 9_000)

    ladder: Any = ladder_of(read.rows[0], steps_for(read.rows[0]), now=T0 + 9_000)

    counts = {each["from_ms"]: (each["counts"][0]["n"], each["counts"][0]["is_bound"]) for each in ladder}
    assert counts.pop(50) == (None, True), "others may have been so quick"
    assert (counts.pop(100), counts.pop(550)) == ((1, True), (1, True))
    assert sorted(counts.values()) == [(0, False)] * (len(counts) - 1) + [(1, False)], "each failure is told"


def test_where_reports_count_all_sends_median_rate_and_shares_are_exact(cluster: Cluster) -> None:
    p = Teller(T0)
    told(p.counted(10_000, 11_000, {3: 20, 700: 1}), p.counted(10_000, 50_000, {5: 7}, "west"))
    told(p.sent(20_000, 3_000, outcome=SendOutcome.REMOTING_ERROR), p.counted(40_000, 41_000, {4: 8}))
    read = producers_of(clusters=[cluster], access=ALL, now=T0 + 50_000)

    [row] = cast("Any", rows_of(read, {}, now=T0 + 50_000))
    steps: Any = ladder_of(read.rows[0], steps_for(read.rows[0]), now=T0 + 50_000)

    east, west = (cell["counted"] for cell in row["cells"])
    assert (east["sends"], east["failed"], east["failed_share"], east["share"]) == (30, 1, "3.3", "81")
    assert (east["median_low"], east["median_high"], east["per_second"]) == (3, 3, "0.5")
    assert (west["sends"], west["share"], west["of_all"]) == (7, "19", 37)
    fall = {each["from_ms"]: [count["n"] for count in each["counts"]] for each in steps}
    assert (fall[550], fall[3_000]) == ([1, 0], [1, 0])
    before: Any = history_of(read.rows[0], read, now=T0 + 50_000)
    assert before[0]["counted"]["since"] == T0 + 9_300  # when it first told, not when the picture begins


def test_beside_a_broker_whose_sends_are_not_counted_none_has_a_share(reported: Teller) -> None:
    told(reported.counted(3_950, 3_960, {6: 20}, "west"), reported.counted(3_950, 3_960, {6: 20}, "north"))
    read = producers_of(clusters=list(Cluster.objects.all()), access=ALL, now=NOW)

    [p, _s] = cast("Any", rows_of(read, {}, now=NOW))

    counted = {cell["broker"]: cell["counted"] for cell in p["cells"]}
    assert counted["east"] is counted["west"] is None
    assert (counted["north"]["sends"], counted["north"]["share"]) == (20, None)


def test_a_share_is_rounded_up_and_of_nothing_unknown() -> None:
    assert (share(1, 3), share(0, 3), share(0, 0)) == (34, 0, None)
    assert (rate(27, 60_000), rate(1_620, 60_000)) == ("0.5", "27.0")
