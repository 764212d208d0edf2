from itertools import pairwise

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import StructType

from rebalance_engine.pipeline import measures, schemas
from rebalance_engine.pipeline.wording import twice as twice_of

pytestmark = pytest.mark.spark


def frame(spark: SparkSession, schema: StructType, *rows: dict[str, object]) -> DataFrame:
    filed = {"cluster": "default", "day": "1970-01-01", "group": "g"}
    return spark.createDataFrame([tuple({**filed, **row}.get(name) for name in schema.names) for row in rows], schema)


def handoff(begin: int, giver: str, taker: str, **more: object) -> dict[str, object]:
    row: dict[str, object] = {"at_ms": begin, "topic": "orders", "broker": "east", "queue_id": 0, "pause_ms": 500}
    return {
        **row,
        "from_client": giver,
        "to_client": taker,
        "released_ms": begin,
        "taken_ms": begin,
        "refused_pulls": 0,
        **more,
    }


def opened(number: int, at: int, cause: str = "member joined", **more: object) -> dict[str, object]:
    row: dict[str, object] = {
        "number": number,
        "at_ms": at,
        "opened_ms": at,
        "last_cause_ms": at,
        "settled_ms": at + 500,
    }
    who = {"who": ["A"], "begun_by": "A", "members_before": [], "members_after": []}
    return {**row, "cause": cause, "causes": [cause], **who, **more}


def test_a_queue_that_goes_back_within_a_minute_flaps(spark: SparkSession) -> None:
    told = frame(
        spark, schemas.HANDOFFS, handoff(0, "A", "B"), handoff(30_000, "B", "A"), handoff(200_000, "A", "B"),
        handoff(300_000, "B", "C"),
    )  # fmt: skip

    assert [row["taken_ms"] for row in measures.flaps_of(told).collect()] == [30_000]


def test_a_days_costs_are_summed_and_what_is_unknown_stays_unknown(spark: SparkSession) -> None:
    moved = frame(spark, schemas.HANDOFFS, handoff(0, "A", "B", duplicates_most=3), handoff(90_000, "B", "A"))
    stretches = frame(
        spark,
        schemas.STRETCHES,
        {"at_ms": 0, "until_ms": 300, "clients": []},
        {"at_ms": 5, "until_ms": 15, "clients": ["A", "B"], "stopping_ms": 4},
        {"at_ms": 400, "until_ms": 450, "clients": [], "is_open": True, "unheard": 0},
        {"at_ms": 500, "until_ms": 510, "clients": [], "is_open": True, "unheard": 2},
        {"at_ms": 600, "until_ms": 9_600, "clients": [], "is_open": True, "is_deserted": True},
    )
    loads = frame(spark, schemas.MEMBER_LOADS, {"client": "A", "present_ms": 1000, "idle_ms": 100, "queue_ms": 1})
    skew = frame(spark, schemas.GROUP_LOADS, {"observed_ms": 10, "max_over_mean": 1.5, "clocks_apart": 1})
    rounds = frame(spark, schemas.ROUNDS, opened(1, 0, above_fewest=2))

    (row,) = measures.costs_of(rounds, moved, stretches, loads, skew).collect()

    assert (row["rounds"], row["handoffs"], row["pause_ms"], row["above_fewest"]) == (1, 2, 1000, 2)
    assert (row["unowned_ms"], row["unowned_most_ms"], row["unowned_open_ms"]) == (350, 360, 50)
    assert row["deserted_ms"] == 9_000
    assert (row["overlap_ms"], row["overlap_stopping_ms"], row["unheard"]) == (10, 4, 0)
    assert (row["max_over_mean"], row["idle_ms"], row["clocks_apart"]) == (1.5, 100, 1)
    assert (row["duplicates_least"], row["duplicates_most"], row["duplicates_unbounded"]) == (None, 3, 1)
    assert (row["lock_wait_ms"], row["refused_pulls"]) == (None, 0)


def test_refused_pulls_and_pauses_that_nobody_tells_are_no_zero(spark: SparkSession) -> None:
    cases: dict[str, tuple[int | None, ...]] = {"g": (None, None), "h": (None, 0), "i": (None, 2), "j": (1, 2)}
    rows = [
        handoff(90_000 * n, "A", "B", refused_pulls=refused, pause_ms=refused, group=group)
        for group, told in cases.items()
        for n, refused in enumerate(told)
    ]
    idle = {"client": "A", "present_ms": 1000, "idle_ms": 100, "queue_ms": 1, "group": "k"}
    rounds, stretches, skew = (frame(spark, getattr(schemas, one)) for one in ("ROUNDS", "STRETCHES", "GROUP_LOADS"))

    told = measures.costs_of(
        rounds, frame(spark, schemas.HANDOFFS, *rows), stretches, frame(spark, schemas.MEMBER_LOADS, idle), skew
    ).collect()

    assert {row["group"]: row["refused_pulls"] for row in told} == {"g": None, "h": None, "i": 2, "j": 3, "k": 0}
    # What did not move cannot have come twice by it.
    twice = {row["group"]: (row["duplicates_least"], row["duplicates_most"]) for row in told}
    assert (twice["g"], twice["k"]) == ((None, None), (0, 0))
    # A sum of pauses is a lower bound, of those that are known.
    assert {row["group"]: row["pause_ms"] for row in told} == {"g": None, "h": 0, "i": 2, "j": 3, "k": 0}


def test_what_went_back_to_its_member_or_was_held_by_two_or_by_nobody_knows_whom_is_no_zero(
    spark: SparkSession,
) -> None:
    """A return has a pause; nothing bounds what came twice by it, nor while two had a queue that none gave up.

    Where somebody unheard may have had a queue in between, nobody knows whether it returned.
    """
    back = handoff(0, "A", "A", pause_ms=20_000, duplicates_most=None, silence_most_ms=90_000, group="returned")
    twice = {"at_ms": 0, "until_ms": 5_000, "clients": ["A", "B"]}
    moved = handoff(0, "A", "B", overlap_ms=5_000, duplicates_least=0, duplicates_most=3, group="moved")
    perhaps = handoff(0, "A", "A", pause_ms=None, pause_is="unknown", group="unheard")
    rounds = [opened(1, 0, group=group) for group in ("quiet", "unheard")]
    skew = [
        {"observed_ms": 10, "max_over_mean": 1.0, "unheard": n, "group": g} for n, g in enumerate(("quiet", "unheard"))
    ]
    tables = (
        frame(spark, schemas.ROUNDS, *rounds),
        frame(spark, schemas.HANDOFFS, back, moved, perhaps),
        frame(spark, schemas.STRETCHES, {**twice, "group": "overlapped"}, {**twice, "group": "moved"}),
        frame(spark, schemas.MEMBER_LOADS),
        frame(spark, schemas.GROUP_LOADS, *skew),
    )

    told = {row["group"]: row.asDict() for row in measures.costs_of(*tables).collect()}

    names = ("handoffs", "returns", "pause_ms", "duplicates_most", "duplicates_unbounded", "overlap_unmoved_ms")
    assert {group: tuple(row[name] for name in names) for group, row in told.items()} == {
        "returned": (0, 1, 20_000, None, 1, 0),
        "quiet": (0, 0, 0, 0, 0, 0),
        "unheard": (0, 0, None, None, 0, 0),
        "overlapped": (0, 0, 0, 0, 0, 5_000),
        "moved": (1, 0, 500, 3, 0, 0),
    }
    assert (told["returned"]["silence_most_ms"], told["returned"]["silence_unbounded"]) == (None, 0)
    assert {group: twice_of(row) for group, row in told.items()} == {
        "returned": "unknown", "quiet": "0", "unheard": "unknown", "overlapped": "unknown", "moved": "0 to 3",
    }  # fmt: skip


def test_of_a_pause_it_is_told_how_long_the_new_owner_waited_for_the_lock(spark: SparkSession) -> None:
    """It waited since before the release, since after it, and not at all; of a fourth nobody knows the pause."""
    moved = frame(
        spark,
        schemas.HANDOFFS,
        handoff(1_000, "A", "B", taken_ms=5_000, pause_ms=4_500, lock_wait_ms=9_000, silence_most_ms=7_000),
        handoff(2_000, "A", "B", taken_ms=5_000, pause_ms=3_500, lock_wait_ms=1_000, silence_most_ms=9_000),
        handoff(3_000, "A", "B", taken_ms=5_000, pause_ms=2_500),
        handoff(4_000, "A", "B", taken_ms=5_000, pause_ms=None, lock_wait_ms=1_000),
    )
    kinds = (schemas.ROUNDS, schemas.STRETCHES, schemas.MEMBER_LOADS, schemas.GROUP_LOADS)
    rounds, stretches, members, groups = (frame(spark, kind).limit(0) for kind in kinds)

    (row,) = measures.costs_of(rounds, moved, stretches, members, groups).collect()

    assert (row["pause_ms"], row["pause_locked_ms"]) == (10_500, 4_000 + 1_000)
    assert (row["silence_most_ms"], row["silence_unbounded"]) == (9_000, 2)


def test_rounds_that_follow_each_other_closely_are_a_storm_and_the_first_began_it(spark: SparkSession) -> None:
    rounds = [opened(n, 20_000 * n, who=[f"C{n}"], begun_by=f"C{n}") for n in range(1, 6)]
    quiet = [opened(n, 1_000_000 * n) for n in range(6, 9)]

    (storm,) = measures.storms_of(
        frame(spark, schemas.ROUNDS, *rounds, *quiet), frame(spark, schemas.HANDOFFS, handoff(40_100, "A", "B"))
    ).collect()

    assert (storm["rounds"], storm["starter"], storm["at_ms"], storm["until_ms"]) == (5, "C1", 20_000, 100_500)
    assert storm["pause_ms"] == 500


def test_a_storm_that_a_broker_began_says_so_with_all_causes_and_costs_nothing_where_nothing_moved(
    spark: SparkSession,
) -> None:
    causes = ["broker back", "route changed", "broker back"]
    first = opened(1, 0, "many at once", causes=causes, who=[], begun_by="east")
    rounds = [first, *(opened(n, 20_000 * n, "route changed", who=[], begun_by=None) for n in range(2, 6))]

    (storm,) = measures.storms_of(
        frame(spark, schemas.ROUNDS, *rounds), frame(spark, schemas.HANDOFFS, handoff(900_000, "A", "B"))
    ).collect()

    assert (storm["starter"], storm["cause"], storm["pause_ms"]) == ("east", "broker back, route changed", 0)


def test_members_that_are_replaced_one_after_another_are_a_deploy(spark: SparkSession) -> None:
    rounds = frame(
        spark,
        schemas.ROUNDS,
        opened(1, 0, "member left", members_before=["A", "B"], members_after=["B"]),
        opened(2, 20_000, members_before=["B"], members_after=["B", "C"]),
        opened(3, 40_000, "member left", members_before=["B", "C"], members_after=["C"]),
        opened(4, 60_000, members_before=["C"], members_after=["C", "D"]),
    )

    moved = [handoff(100, "A", "B"), handoff(200, "B", "B", pause_ms=20_000, restart_ms=19_000)]

    (wave,) = measures.waves_of(rounds, frame(spark, schemas.HANDOFFS, *moved)).collect()

    assert (wave["left"], wave["joined"], wave["handoffs"], wave["rounds"]) == (["A", "B"], ["C", "D"], 1, 4)
    assert (wave["pause_ms"], wave["pause_restart_ms"]) == (20_500, 19_000)


def steps(
    *members: str, causes: tuple[str, ...] = (), begin_ms: int = 0, gap_ms: int = 20_000
) -> list[dict[str, object]]:
    """Make rounds that lead from each of several sets of members, as letters, to the next."""
    causes = causes or ("member left", "member joined")
    return [
        opened(
            n + 1,
            begin_ms + gap_ms * n,
            causes[n % len(causes)],
            who=sorted({*before} ^ {*after}),
            members_before=sorted(before),
            members_after=sorted(after),
        )
        for n, (before, after) in enumerate(pairwise(members))
    ]


def test_deploys_are_told_from_first_starts_and_last_stops_and_have_who_was_killed_or_restarted(
    spark: SparkSession,
) -> None:
    again = opened(2, 20_000, "member left", who=["A", "A"], members_before=["A", "B"], members_after=["A", "B"])
    groups = {
        "killed": [
            *steps("", "AB"),
            *steps("AB", "B", "BC", "C", "CD", causes=("connection closed",), begin_ms=30_000),
        ],
        "expired": steps("AB", "B", "BC", "C", "CD", causes=("heartbeat expired", "member joined")),
        "restarted": [again, {**again, "number": 3, "opened_ms": 50_000, "at_ms": 50_000, "who": ["B", "B"]}],
        "restarted slowly": steps("AB", "B", "AB", "A", "AB"),
        "all at once": [*steps("", "AB"), *steps("AB", "", "CD", begin_ms=500_000)],
        "started and stopped": steps("", "A", "AB", "ABC", "BC", "C", ""),
        "started and stopped at once": steps("", "ABC", ""),
        "grown": steps("AB", "ABC", "ABCD"),
        "half of it": steps("ABCD", "BCD", "BCDE", "CDE", "CDEF"),
        "scaled": steps("AB", "B", "BC", "C", "CD", "D", "DE"),
    }
    rows = [{**row, "group": group} for group, rounds in groups.items() for row in rounds]
    rounds, none = frame(spark, schemas.ROUNDS, *rows), frame(spark, schemas.HANDOFFS, handoff(0, "x", "y"))

    told = {
        row["group"]: ("".join(row["left"]), "".join(row["joined"]))
        for row in measures.waves_of(rounds, none).collect()
    }

    assert told == {
        "killed": ("AB", "CD"),
        "expired": ("AB", "CD"),
        "restarted": ("AB", "AB"),
        "restarted slowly": ("AB", "AB"),
        "all at once": ("AB", "CD"),
    }


def test_members_replaced_one_after_another_are_no_storm_unless_rounds_overlap_or_somebody_comes_and_goes_again(
    spark: SparkSession,
) -> None:
    deploy = steps("ABC", "BC", "BCD", "CD", "CDE", "DE", "DEF")
    groups = {
        "deploy": deploy,
        "start and stop": steps("", "A", "AB", "ABC", "BC", "C", ""),
        "overlapping": [{**row, "superseded": True} for row in deploy],
        "back and forth": steps("AB", "A", "AB", "A", "AB"),
        "back and then stopped": steps("B", "AB", "B", "AB", "B", causes=("member joined", *LOST, "member left")),
        "killed twice": steps("B", "AB", "B", "AB", "B", causes=("member joined", "connection closed")),
    }
    rows = [{"superseded": False, **row, "group": group} for group, rounds in groups.items() for row in rounds]
    rounds, none = frame(spark, schemas.ROUNDS, *rows), frame(spark, schemas.HANDOFFS, handoff(0, "x", "y"))

    storms = {row["group"]: row["rounds"] for row in measures.storms_of(rounds, none).collect()}
    bare = rounds.where("group = 'back and forth'").withColumn("group", F.lit("heard"))
    both = {row["group"]: row["pause_ms"] for row in measures.storms_of(rounds, none, bare).collect()}

    assert storms == {"overlapping": 6, "back and forth": 4, "killed twice": 4}
    assert both == {**dict.fromkeys(storms, 0), "heard": None}


LOST = ("connection closed", "member joined")


def test_who_would_have_told_of_what_is_counted(spark: SparkSession) -> None:
    def looked(*events: dict[str, object]) -> dict[str, int]:
        base = {"process": "p", "layout": "java5", "client_id": "A"}
        (row,) = measures.looked_of(frame(spark, schemas.EVENTS, *({**base, **event} for event in events))).collect()
        return {name: count for name, count in row.asDict().items() if name not in ("cluster", "day") and count}

    inner: dict[str, object] = {"what": "producer started", "group": "CLIENT_INNER_PRODUCER"}
    assert looked({"what": "added"}, inner) == {"holds": 1, "heartbeats": 1}
    assert looked({"what": "pop added"}) == {"holds": 1, "heartbeats": 1}
    assert looked({"what": "producer started"}, {"what": "persisted all", "layout": "go", "process": "q"}) == {
        "sends": 1, "isolations": 1, "heartbeats": 1, "holds": 1, "offsets": 1,
    }  # fmt: skip
    assert looked({"what": "heartbeat data", "queues": [], "layout": "java4"}) == {"sends": 1, "heartbeats": 1}
    locks: dict[str, object] = {"what": "granted", "layout": "broker", "process": "east/filter"}
    assert looked({"what": "joined", "layout": "broker", "process": "east/broker"}, locks) == {"expiries": 1}


def test_lost_heartbeats_are_counted_by_host_and_what_the_others_would_tell_is_unknown(spark: SparkSession) -> None:
    events = frame(
        spark,
        schemas.EVENTS,
        {"what": "heartbeat failed", "host": "web1"},
        {"what": "heartbeat failed", "host": "web1"},
        {"what": "expired", "host": "east", "other": "10.0.0.2:51234"},
    )

    told = {row["host"]: (row["failed"], row["expired"]) for row in measures.heartbeats_of(events).collect()}

    assert told == {"web1": (2, None), "10.0.0.2": (None, 1)}


def test_a_host_is_one_row_where_a_client_of_its_logs_has_an_address_at_a_broker(spark: SparkSession) -> None:
    """One expires on a new channel of web2's only address; d's id is in two hosts' logs; of two hosts is a gateway."""
    log: dict[str, object] = {"what": "result", "layout": "java5"}
    broker: dict[str, object] = {"layout": "broker", "host": "east"}
    events = frame(
        spark,
        schemas.EVENTS,
        *({**log, "host": host, "client_id": name} for host, name in (("web1", "a"), ("web2", "b"), ("web3", "e"))),
        *({**log, "host": host, "client_id": "d"} for host in ("web1", "web2")),
        {"what": "heartbeat failed", "host": "web2", "layout": "java5"},
        {**broker, "what": "joined", "client_id": "b", "other": "10.0.0.2:51000"},
        {**broker, "what": "joined", "client_id": "a", "other": "10.0.0.9:51000"},
        {**broker, "what": "joined", "client_id": "e", "other": "10.0.0.9:51001"},
        {**broker, "what": "joined", "client_id": "d", "other": "10.0.0.9:51002"},
        *(
            {**broker, "what": "expired", "other": channel}
            for channel in ("10.0.0.9:51000", "10.0.0.2:51000", "10.0.0.2:51234", "10.0.0.9:51002", "[fe80::1]:51002")
        ),
    )

    told = {row["host"]: (row["failed"], row["expired"]) for row in measures.heartbeats_of(events).collect()}

    assert told == {"web1": (None, 1), "web2": (1, 2), "10.0.0.9": (None, 1), "[fe80::1]": (None, 1)}
