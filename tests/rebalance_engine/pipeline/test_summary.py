from dataclasses import replace
from pathlib import Path

from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.reports import by_group, read_backtest, read_report
from rebalance_engine.pipeline.sources import CUT
from rebalance_engine.pipeline.summary import IN_HOLES, advice, summary
from tests.rebalance_engine.pipeline.test_reports import BROKER, COST, HANDOFF, LOOKED, folder, note, put

__all__ = ["folder"]


def flat(told: str) -> str:
    """Give a text as one line."""
    return " ".join(told.split())


def test_the_summary_tells_groups_storms_and_brokers(folder: Path) -> None:
    told = flat(summary(read_report(folder)))

    assert "slow" in told
    assert "paused at least 3.0 min" in told
    assert "overlap 1.6 s, and 2.5 s while one shut down" in told
    assert "overlap 2.0 s, " in told
    assert "twice: at least 4" in told
    assert "1970-01-01 00:00:00 UTC slow: 5 rounds, begun by A (member joined)" in told
    assert "Brokers that producers backed away from: unknown: no log was read of a producer" in told


def test_there_is_none_only_where_somebody_would_have_told(folder: Path) -> None:
    put(folder, "looked", {**LOOKED, "sends": 2, "isolations": 1})
    healthy = {"isolations": 0, "isolated_ms": 0, "isolated_share": 0.0, "unreachable": 0, "resent": 0}
    put(folder, "brokers", {"broker": "east", **healthy, "went_well_slowest_ms": 9})

    assert "Brokers that producers backed away from: none" in summary(read_report(folder))


def test_a_folder_in_which_no_consumer_speaks_tells_nothing_about_holds(tmp_path: Path) -> None:
    note(tmp_path, troubles={"x": "empty"}, refused=["no"])
    put(tmp_path, "looked", {**LOOKED, "expiries": 2})

    told = summary(read_report(tmp_path))

    assert told.startswith("What members held is unknown, and so are rounds and handoffs")
    assert "Storms: unknown: no log of a consumer was read" in told
    assert "1 file was read in part, or not:\n  x: empty\nno\n" in told


def test_groups_of_equal_name_are_told_by_cluster(folder: Path) -> None:
    note(folder, cluster="7")
    put(folder, "costs", {"group": "slow", **COST, "pause_ms": 5}, cluster="7")
    put(folder, "brokers", {**BROKER, "broker": "east", "resent": 2}, cluster="7")
    put(folder, "heartbeats", {"host": "web1", "failed": 3, "expired": None})
    best = {"is_best": True, "group": "slow"}
    put(folder, "backtest", {**best, "says": "keep"})
    put(folder, "backtest", {**best, "says": "change"}, cluster="7")

    report = read_report(folder)
    told = summary(report)

    paused = {row["group"]: row["pause_ms"] for row in by_group(report.costs)}
    assert paused == {"default: slow": 180_000, "default: <b>quick": 10, "7: slow": 5}
    assert told.startswith("3 groups, ")
    assert "default: slow: 5 rounds" in told
    assert "7: east: isolated" in told
    assert [row["host"] for row in report.heartbeats] == ["default: web1"]
    assert [line.split() for line in advice(read_backtest(folder)).splitlines()[1:]] == [
        ["7:", "slow", "change"],
        ["default:", "slow", "keep"],
    ]


def test_of_each_cluster_there_is_none_only_where_somebody_would_have_told(folder: Path) -> None:
    note(folder, cluster="b")
    put(folder, "looked", {**LOOKED, "holds": 2, "sends": 1, "isolations": 1})

    told = summary(read_report(folder)).splitlines()

    silent = "no log of a consumer was read"
    assert told[1].startswith("In cluster b: What members held is unknown")
    assert f"Storms: 1; unknown in cluster b: {silent}" in told
    backed = "no log was read of a producer that tells it (Java 5.1 and later)"
    assert f"Brokers that producers backed away from: none; unknown in cluster b: {backed}" in flat("\n".join(told))


def test_a_terminal_obeys_nothing_of_a_log(folder: Path) -> None:
    bell = "a\x1b[2J\x07\nb"
    note(folder, troubles={bell: "empty"}, refused=[bell])
    put(folder, "costs", {"group": bell, **COST}, day="2026-11-23")
    put(folder, "storms", {"group": bell, "at_ms": 0, "until_ms": 9, "rounds": 5, "starter": bell, "cause": "x"},
        day="2026-11-23")  # fmt: skip
    put(folder, "backtest", {"is_best": True, "group": bell, "says": "keep"})

    told = summary(read_report(folder))

    assert told.count(r"a\x1b[2J\x07\nb") == 6
    assert "".join(told.split("\n")).isprintable()


def test_groups_whose_queues_have_no_owners_are_named_and_why(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "looked", {**LOOKED, "holds": 1})
    put(tmp_path, "models", {"group": "news", "model": "broadcasting"}, {"group": "jobs", "model": "POP"})
    put(tmp_path, "models", {"group": "news", "model": "broadcasting"}, day="2026-11-22")

    told = summary(read_report(tmp_path)).splitlines()

    assert told[0] == "0 groups, 0 rounds, 0 handoffs; 2 groups whose queues have no owners."
    at = told.index("Groups whose queues have no owners:")
    named = [line.split()[:2] for line in told[at + 1 :] if line.startswith("  ") and line[2] != " "]
    assert named == [["jobs", "POP:"], ["news", "broadcasting:"]]


def test_a_pause_of_which_nothing_is_known_is_no_bound(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {"group": "g", **COST, "pause_ms": None})

    report = read_report(tmp_path)

    assert "paused for a time that is unknown, overlap" in summary(report)
    assert "<dd>unknown<small>all queues together" in page(report)


def test_a_group_whose_queues_went_back_to_their_member_says_nothing_of_at_most(tmp_path: Path) -> None:
    note(tmp_path)
    none = {"handoffs": 0, "duplicates_least": None, "duplicates_most": None, "duplicates_unbounded": 13}
    put(tmp_path, "costs", {"group": "g", **COST, **none, "returns": 13})

    report = read_report(tmp_path)

    assert "0 handoffs, 13 returns to the same member, consumed twice: unknown" in flat(summary(report))
    assert "<dd>unknown<small>messages</small>" in page(report)


def test_handoffs_are_at_least_so_many_where_somebody_is_unheard(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {"group": "g", **COST, "handoffs": 1, "unheard": 1})
    put(tmp_path, "handoffs", {"group": "g", "from_client": "A", "to_client": "B", "taken_ms": 1_000, "pause_ms": 5})

    told = flat(summary(read_report(tmp_path)))

    assert "1 group, perhaps no rounds, at least 1 handoff." in told
    assert "at least 1 handoff, consumed twice" in told


def test_lock_waits_silence_and_idle_time_are_told(tmp_path: Path) -> None:
    note(tmp_path)
    waited = {"pause_locked_ms": 60_000, "silence_most_ms": 12_000, "silence_unbounded": 1}
    put(tmp_path, "costs", {"group": "g", **COST, **waited, "idle_ms": 30_000, "present_ms": 120_000})

    told = flat(summary(read_report(tmp_path)))

    assert "paused at least 90.0 s, of it 60.0 s waiting for locks" in told
    assert "a queue that was handed over was not consumed for at most 12.0 s in 3 handoffs, unknown in the rest" in told
    assert "members idle 30.0 s (25.00 % of their time)" in told


def test_client_ids_that_two_processes_used_are_named(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {"group": "g", **COST, "lock_lost_ms": 50_000})
    twice = {"group": "g", "client": "10.0.0.2@same", "at_ms": 0, "until_ms": 60_000, "queues": 4, "twice_ms": 240_000}
    put(tmp_path, "doubles", {**twice, "processes": ["web1/7", "web2/9"]})

    report = read_report(tmp_path)
    told = summary(report)

    assert "Client ids that two processes used at once:" in told.splitlines()
    held = "4 queues held by both, 4.0 min all together, from 1970-01-01 00:00:00 UTC on"
    assert f" 10.0.0.2@same of g, by web1/7 and web2/9: {held}" in flat(told)
    assert "members held queues whose locks they had lost for 50.0 s" in told
    assert "<h2 id='client-'>Client ids used twice</h2>" in page(report)
    assert "web1/7, web2/9" in page(report)


def test_clients_that_could_not_be_told_apart_are_named_as_unknown(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {"group": "g", **COST})
    put(tmp_path, "mixed", {"group": "g", "host": "web1", "folder": "web1/logs", "clients": 3, "at_ms": 0})
    put(
        tmp_path,
        "mixed",
        {"group": "g", "host": "web1", "folder": "web1/logs", "clients": 3, "at_ms": 9},
        day="2026-11-22",
    )

    report = read_report(tmp_path)
    told = summary(report).splitlines()

    assert "clients that write into one folder could not be told apart" in flat(summary(report))
    at = told.index("  web1, web1/logs: 3 clients of g")
    assert told[at + 1] == ""
    assert "<li class=below>web1, web1/logs: 3 clients of g</li>" in page(report)


def test_where_clocks_differ_counts_are_about_and_what_they_are_made_from_in_doubt(tmp_path: Path) -> None:
    """What is missing and what never was may be more than each other: not even *at least* holds then."""
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "unheard": 1})
    put(tmp_path, "handoffs", {**HANDOFF, "group": "g"})
    before = flat(summary(read_report(tmp_path)))
    put(tmp_path, "clocks", {"host": "web1", "broker_host": "b", "at_ms": 0, "least_ms": 17_000, "most_ms": 21_000})

    report = read_report(tmp_path)

    assert before.startswith("1 group, perhaps no rounds, at least 1 handoff.")
    assert flat(summary(report)).startswith("1 group, perhaps no rounds, about 1 handoff.")
    doubt = "handoffs, loads, idle time and what was held during a shutdown are in doubt"
    assert doubt in flat(summary(report))
    assert doubt in page(report)


def test_a_group_says_itself_that_its_members_clocks_differ_and_which_figures_are_in_doubt(tmp_path: Path) -> None:
    note(tmp_path)
    more = {"returns": 0, "silence_most_ms": 5_000, "overlap_stopping_ms": 100, "idle_ms": 5, "flaps": 0}
    put(tmp_path, "costs", {**COST, **more, "group": "apart", "clocks_apart": 2}, {**COST, **more, "group": "agreeing"})
    report = read_report(tmp_path)

    told, tables = flat(summary(report)), page(report)

    apart, agreeing = (told.partition(f" {name} paused")[2].partition("agreeing")[0] for name in ("apart", "agreeing"))
    assert "while one shut down, about 4 handoffs, consumed" in apart
    assert "consumed twice: at least 2, at most 7 in about 4 handoffs, unknown in the rest" in apart
    assert "not consumed for at most 5.0 s in about 4 handoffs, unknown in the rest" in apart
    assert "and about 100 ms while one shut down" in apart
    assert "skew about 1.20" in apart
    assert "members idle about 5 ms" in apart
    assert "hosts of its members whose clocks differ: 2, so that its counts and loads are in doubt" in apart
    assert "about" not in agreeing
    assert "doubt" not in agreeing
    for name, cell in (("rounds", "about 3"), ("handoffs", "about 4"), ("moves above the fewest", "perhaps none")):
        assert f"data-name='{name}'>{cell}</td>" in tables
    assert "data-name='hosts whose clocks differ'>2</td>" in tables


def test_where_somebody_is_unheard_that_no_handoff_is_told_says_not_that_there_was_none(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "handoffs": 0, "unheard": 1})

    assert flat(summary(read_report(tmp_path))).startswith("1 group, perhaps no rounds, perhaps no handoffs.")


def test_where_no_log_tells_for_a_time_which_queues_a_topic_had_rounds_are_about_so_many(tmp_path: Path) -> None:
    """A line of a route that is lost may have opened a round; what was handed over is told by other lines."""
    note(tmp_path)
    rows = ({**COST, "group": "g", "routes_unknown": 1}, {**COST, "group": "h"})
    put(tmp_path, "costs", *rows)
    report = replace(read_report(tmp_path), round_count=6, handoff_count=8)

    told, tables = flat(summary(report)), page(report)

    assert told.startswith("2 groups, about 6 rounds, 8 handoffs.")
    assert told.count("topics of which, for a time, no log tells which queues they had: 1") == 1
    assert [f"data-name='rounds'>{cell}</td>" in tables for cell in ("about 3", "3", "about 4")] == [True, True, False]
    assert "data-name='handoffs'>4</td>" in tables


def test_holes_in_clients_logs_are_counted_and_named(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {"group": "g", **COST})
    hole = {"group": "g", "host": "web1", "client": "10.0.0.2@A", "at_ms": 0}
    put(tmp_path, "holes", {**hole, "until_ms": 9_000}, {**hole, "host": "web2", "until_ms": 30_000})

    report = read_report(tmp_path)
    told = summary(report).splitlines()

    assert f"2 holes in clients' logs: {IN_HOLES}" in flat(summary(report))
    at = told.index("  web2: 10.0.0.2@A of g, 30.0 s from 1970-01-01 00:00:00 UTC on")
    assert told[at + 1] == "  web1: 10.0.0.2@A of g, 9.0 s from 1970-01-01 00:00:00 UTC on"
    assert "<li class=below>web1: 10.0.0.2@A of g, 9.0 s from 1970-01-01 00:00:00 UTC on</li>" in page(report)


def test_names_of_east_asia_stand_in_columns(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {"group": "订单消费组", **COST}, {"group": "orders", **COST})

    lines = [line for line in summary(read_report(tmp_path)).splitlines() if " paused " in line]

    assert [len(line.split(" paused ")[0].encode("gb18030")) for line in lines] == [12, 12]


def test_names_of_a_thousand_characters_are_cut_wherever_they_stand(tmp_path: Path) -> None:
    note(tmp_path)
    long = "g" * 1_000
    put(tmp_path, "costs", {"group": long, **COST})
    put(tmp_path, "models", {"group": long, "model": "POP"})
    put(tmp_path, "storms", {"group": long, "at_ms": 0, "rounds": 5, "starter": long, "cause": "member joined"})
    put(tmp_path, "brokers", {**BROKER, "broker": long})
    put(tmp_path, "backtest", {"group": long, "is_best": True, "says": "keep AVG"})

    told = summary(read_report(tmp_path))

    assert f"{'g' * 39}…: 5 rounds, begun by {'g' * 39}… (member joined)" in flat(told)
    assert max(map(len, told.splitlines())) <= 100


def test_a_terminal_of_100_columns_has_room_for_every_line(tmp_path: Path) -> None:
    note(
        tmp_path,
        refused=["refused: 212 lines of web2 (java4): no log tells its zone; give it, as --zone web2=UTC " * 2],
    )
    waited = {"pause_locked_ms": 60_000, "silence_most_ms": 12_000, "silence_unbounded": 1, "idle_ms": 5_000}
    unowned = {"unowned_ms": 600_000, "unowned_most_ms": 700_000, "unowned_open_ms": 9_000, "deserted_ms": 8_640_000}
    put(tmp_path, "costs", {"group": "orders-of-the-whole-shop", **COST, **waited, **unowned, "overlap_stopping_ms": 9})
    put(tmp_path, "backtest", {"group": "orders-of-the-whole-shop", "is_best": True, "says": "keep AVG, since " * 12})

    lines = summary(read_report(tmp_path)).splitlines()

    assert max(map(len, lines)) <= 100
    column = lines[lines.index("Groups by pause:") + 1].index("paused")
    assert column == 2 + len("orders-of-the-whole-shop ")
    facts = lines[
        lines.index("Groups by pause:") + 1 : lines.index("Storms: unknown: no log of a consumer was read") - 1
    ]
    assert {line[:column].strip() for line in facts} == {"orders-of-the-whole-shop", ""}


def test_skew_is_told_of_one_day_and_of_several(folder: Path) -> None:
    uneven, unknown = {**COST, "group": "slow", "max_over_mean": 1.5}, {**COST, "group": "odd", "max_over_mean": None}
    put(folder, "costs", uneven, unknown, day="2026-11-23")

    told = flat(summary(read_report(folder)))

    assert "skew 1.20 to 1.50 by day (the largest load over the mean one, weighted by time)" in told
    assert "skew 1.20 (the largest" in told
    assert "skew unknown" in told


def test_copies_that_are_left_out_on_purpose_stand_behind_all_troubles(tmp_path: Path) -> None:
    copies = {f"a{n}/client.log": "not read: a copy of web1/client.log" for n in range(12)}
    note(tmp_path, troubles={**copies, "b/old.log": "empty", "web2/client.log": CUT}, refused=["refused: web3"])

    told = summary(read_report(tmp_path)).splitlines()

    at = told.index("2 files were read in part, or not:")
    assert told[at + 1].startswith("  web2/client.log: cut")
    at = told.index("  b/old.log: empty")
    assert told[at + 1 : at + 4] == [
        "refused: web3",
        "12 files are copies of others, and were left out on purpose:",
        "  a0/client.log: a copy of web1/client.log",
    ]
    assert told[at + 13] == "  and 2 more"


def test_the_summary_says_how_many_it_does_not_name(folder: Path) -> None:
    storm = {"at_ms": 0, "rounds": 5, "starter": "A", "cause": "x"}
    double = {"client": "A", "processes": [], "queues": 1, "twice_ms": 9, "at_ms": 0}
    named: dict[str, dict[str, object]] = {"costs": {**COST}, "storms": storm, "doubles": double}
    named["brokers"] = {**BROKER, "resent": 2}
    for table, row in named.items():
        put(folder, table, *({**row, "group": f"g{n}", "broker": f"b{n}"} for n in range(12)))

    more = [line for line in summary(read_report(folder)).split("\n") if line.startswith("  and ")]
    assert more == ["  and 3 more", *["  and 2 more"] * 3]


def test_hosts_whose_logs_were_read_by_a_layout_that_no_real_log_has_proved_are_named(tmp_path: Path) -> None:
    layouts = {"web1": "java5", "web2": "go", "web3": "cpp", "web4": None}
    note(tmp_path, files={f"{host}/a.log": {"host": host, "layout": layout} for host, layout in layouts.items()})

    told = summary(read_report(tmp_path))

    assert "layout that is not verified on real logs" in flat(told)
    assert [line for line in told.splitlines() if line.startswith("  web")] == ["  web3 (cpp)", "  web2 (go)"]


def test_beside_a_host_of_such_a_layout_stand_the_groups_that_it_has_members_of(tmp_path: Path) -> None:
    note(tmp_path, files={f"{host}/a.log": {"host": host, "layout": "go"} for host in ("web1", "web2")})
    many = [("web1", "orders"), *(("web2", f"g{n}") for n in range(7))]
    rows: list[dict[str, object]] = [{"host": host, "layout": "go", "group": group} for host, group in many]
    put(tmp_path, "unproved", *rows)

    told = summary(read_report(tmp_path)).splitlines()

    assert [line for line in told if line.startswith("  web")] == [
        "  web1 (go): orders",
        "  web2 (go): g0, g1, g2, g3, g4 and 2 more",
    ]


def test_where_all_layouts_are_proved_nothing_is_said_of_it(tmp_path: Path) -> None:
    note(tmp_path, files={"web1/a.log": {"host": "web1", "layout": "java5"}})

    assert "verified" not in summary(read_report(tmp_path))


def test_hosts_of_several_clusters_whose_layouts_are_not_proved_are_told_apart(tmp_path: Path) -> None:
    for cluster in ("east", "west"):
        note(tmp_path, cluster=cluster, files={"web1/a.log": {"host": "web1", "layout": "go"}})

    assert read_report(tmp_path).unverified == {"go": ["east: web1", "west: web1"]}
