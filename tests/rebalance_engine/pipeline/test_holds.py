from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from rebalance_engine.pipeline.holds import holds_of
from tests.rebalance_engine.pipeline.frames import (
    MIDNIGHT_MS,
    QUEUE,
    added,
    broker,
    closed,
    java4,
    java5,
    joined,
    persisted,
    read_holds,
    removed,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)


def put(folder: Path, name: str, *lines: str) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(lines), newline="")


def made(client: str) -> str:
    return f"Created a new client Instance, InstanceIndex:0, ClientID:{client}, ClientConfig:ClientConfig{{x}}"


def told(spark: SparkSession, folder: Path) -> list[tuple[Any, ...]]:
    """Give every hold as (queue, client, from, until, ended), times in seconds after midnight."""

    def seconds(at_ms: int | None) -> float | None:
        return None if at_ms is None else (at_ms - MIDNIGHT_MS) / 1000

    rows = read_holds(spark, folder).collect()
    holds = [
        (row["queue_id"], row["client_id"], seconds(row["from_ms"]), seconds(row["until_ms"]), row["ended"])
        for row in rows
    ]
    return sorted(holds, key=lambda hold: (*hold[:2], hold[2] or 0, *hold[3:]))


def test_a_hold_lasts_from_add_to_removal_and_the_next_to_the_end(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java5(1, added("g", Q0)),
        java5(1.1, result("g", "A", [Q0])),
        java5(5, removed("g", Q0)),
        java5(9, added("g", Q0)),
        java5(20, persisted("g", "A", Q0, 4)),
    )

    assert told(spark, tmp_path) == [(0, "A", 1, 5, "released"), (0, "A", 9, 20, "open")]


def test_a_shutdown_line_stops_and_a_log_that_breaks_off_while_shutting_down_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    unregister = "unregister client[Producer: null Consumer: g] from broker[east 0 10.0.0.9:10911] success"
    both = [java5(1, added("g", Q0)), java5(2, unregister, thread="Thread-1")]
    put(tmp_path, "web1/a.log", java5(0, result("g", "A", [Q0])), *both, java5(3, "the consumer [g] shutdown OK"))
    put(tmp_path, "web2/a.log", java5(0, result("g", "B", [Q0])), *both, java5(2.5, "NettyEventExecutor service end"))
    put(tmp_path, "web3/a.log", java5(500, result("g", "C", [])))

    assert told(spark, tmp_path) == [(0, "A", 1, 3, "stopped"), (0, "B", 1, 2.5, "stopped")]


def test_who_is_stopped_let_go_between_its_first_good_bye_and_the_end_of_its_shutdown(
    spark: SparkSession, tmp_path: Path
) -> None:
    def good_bye(broker: str, consumer: str = "g") -> str:
        return f"unregister client[Producer: null Consumer: {consumer}] from broker[{broker} 0 10.0.0.9:10911] success"

    first, second = java5(4, good_bye("east"), thread="Thread-1"), java5(4.2, good_bye("west"), thread="Thread-1")
    end = java5(7.5, "the consumer [g] shutdown OK", thread="Thread-1")
    held = [java5(1, added("g", Q0)), java5(1, added("g", Q1)), java5(1.1, result("g", "A", [Q0, Q1]))]
    removal = java5(3, removed("g", Q1))
    put(tmp_path, "web1/a.log", *held, removal, first, second, end)
    put(tmp_path, "web2/a.log", *(line.replace("clientId=A", "clientId=B") for line in held), first, second)
    put(tmp_path, "web3/a.log", *(line.replace("clientId=A", "clientId=C") for line in held), end)

    rows = read_holds(spark, tmp_path).where("queue_id = 0 OR client_id = 'A'").collect()

    def seconds(at_ms: int | None) -> float | None:
        return None if at_ms is None else (at_ms - MIDNIGHT_MS) / 1000

    assert sorted(
        (row["client_id"], row["queue_id"], row["ended"], seconds(row["until_after_ms"]), seconds(row["until_ms"]))
        for row in rows
    ) == [
        ("A", 0, "stopped", 4, 7.5),
        ("A", 1, "released", None, 3),
        ("B", 0, "stopped", 4, 4.2),
        ("C", 0, "stopped", None, 7.5),
    ]


def test_a_killed_process_is_lost_when_a_broker_saw_its_connection_end(spark: SparkSession, tmp_path: Path) -> None:
    """The broker has the second only; the notification that it sends to the others has the millisecond."""
    notified = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
    put(tmp_path, "web1/a.log", java5(1, added("g", Q0)), java5(1.1, result("g", "A", [Q0])))
    put(tmp_path, "web2/a.log", java5(7.321, notified), java5(8, result("g", "B", [Q0], members=1)))
    put(
        tmp_path,
        "east/broker.log",
        broker(1, joined("g", "A")),
        broker(7, closed("g", "A")),
        broker(60, joined("h", "x")),
    )

    (row,) = read_holds(spark, tmp_path).collect()
    assert (row["client_id"], row["ended"]) == ("A", "lost")
    assert [at - MIDNIGHT_MS for at in (row["until_after_ms"], row["until_ms"])] == [7_000, 7_321]


def test_a_connection_that_ends_while_its_process_goes_on_loses_nothing(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/a.log",
        java5(1, added("g", Q0)),
        java5(1.1, result("g", "A", [Q0])),
        java5(20, persisted("g", "A", Q0, 1)),
        java5(30, removed("g", Q0)),
    )
    put(tmp_path, "east/broker.log", broker(7, closed("g", "A")), broker(31, joined("g", "A")))

    assert told(spark, tmp_path) == [(0, "A", 1, 30, "released")]


def test_a_process_that_was_stopped_for_a_while_goes_on_holding(spark: SparkSession, tmp_path: Path) -> None:
    """SIGSTOP, long enough for the broker to forget it; it wakes up, finds itself replaced and releases."""
    expired = "SCAN: remove expired channel from ConsumerManager consumerTable. channel=10.0.0.2:51234, consumerGroup=g"
    put(
        tmp_path,
        "web1/a.log",
        java5(1, added("g", Q0)),
        java5(1.1, result("g", "A", [Q0])),
        java5(200, removed("g", Q0)),
    )
    put(tmp_path, "east/broker.log", broker(1, joined("g", "A")), broker(130, expired), broker(300, joined("h", "x")))

    assert told(spark, tmp_path) == [(0, "A", 1, 200, "released")]


def test_a_process_that_starts_anew_in_the_same_log_lost_what_it_held(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/a.log",
        java5(0, made("A"), pid=1),
        java5(1, added("g", Q0), pid=1),
        java5(1.1, result("g", "A", [Q0]), pid=1),
        java5(6, persisted("g", "A", Q0, 3), pid=1),
        java5(30, made("A"), pid=1),
        java5(31, added("g", Q0), pid=1),
        java5(31.1, result("g", "A", [Q0]), pid=1),
    )

    assert told(spark, tmp_path) == [(0, "A", 1, 6, "lost"), (0, "A", 31, 31.1, "open")]


def test_a_client_that_comes_back_under_its_id_did_not_stop_when_its_successor_did(
    spark: SparkSession, tmp_path: Path
) -> None:
    channel = "[id: 0x1, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    left = f"unregister a consumer[g] from consumerGroupInfo ClientChannelInfo [channel={channel}, clientId=A, x]"
    put(
        tmp_path,
        "web1/a.log",
        java5(0, made("A"), pid=1),
        java5(1, added("g", Q0), pid=1),
        java5(1.1, result("g", "A", [Q0]), pid=1),
        java5(30, made("A"), pid=2),
        java5(31, added("g", Q0), pid=2),
        java5(31.1, result("g", "A", [Q0]), pid=2),
        java5(60, "the consumer [g] shutdown OK", pid=2),
    )
    put(tmp_path, "east/broker.log", broker(7, closed("g", "A")), broker(60, left))

    assert told(spark, tmp_path) == [(0, "A", 1, 7.5, "lost"), (0, "A", 31, 60, "stopped")]


def test_a_client_that_is_killed_in_a_shared_log_ends_when_the_others_are_told(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Its log goes on, and its last own line is older than its end."""
    notified = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        java4(0, "the consumer [g] start OK."),
        java4(1, added("g", Q0)),
        java4(1.1, result("g", "A", [Q0])),
        java4(3, persisted("g", "A", Q0, 9)),
        java4(5, persisted("g", "B", Q1, 9)),
        java4(7.321, notified),
        java4(8, persisted("g", "B", Q1, 9)),
        java4(20, made("A")),
        java4(21, persisted("g", "B", Q1, 9)),
    )
    put(
        tmp_path,
        "east/broker.log",
        broker(0, joined("g", "A")),
        broker(7, closed("g", "A")),
        broker(22, joined("h", "x")),
    )

    assert told(spark, tmp_path)[0] == (0, "A", 1, 7.321, "lost")


def test_two_clients_of_one_group_in_one_log_are_told_apart(spark: SparkSession, tmp_path: Path) -> None:
    """A 4.x log has neither pid nor thread, and belongs to all processes of one user."""
    start = [java4(0, "the consumer [g] start OK."), java4(0.2, "the consumer [g] start OK.")]
    put(
        tmp_path,
        "web1/rocketmq_client.log",
        *start,
        java4(1, added("g", Q0)),
        java4(1, added("g", Q1)),
        java4(1.1, result("g", "A", [Q0, Q1])),
        java4(5, persisted("g", "A", Q1, 7, every=False)),
        java4(5, removed("g", Q1)),
        java4(5.05, added("g", Q1)),
        java4(5.1, result("g", "B", [Q1], members=2)),
        java4(5.2, result("g", "A", [Q0], members=2)),
        java4(8, persisted("g", "A", Q0, 9)),
        java4(9, persisted("g", "B", Q1, 9)),
    )
    put(tmp_path, "east/broker.log", broker(0, joined("g", "A")), broker(0, joined("g", "B")))

    assert [(queue, client, begin) for queue, client, begin, _, _ in told(spark, tmp_path)] == [
        (0, "A", 1),
        (1, "A", 1),
        (1, "B", 5.05),
    ]


def test_a_log_that_is_cut_at_its_beginning_tells_no_take_that_was_not_seen(
    spark: SparkSession, tmp_path: Path
) -> None:
    put(
        tmp_path,
        "web1/a.log",
        java5(5, persisted("g", "A", Q0, 3)),
        java5(5, persisted("g", "A", Q1, 3)),
        java5(9, removed("g", Q1)),
        java5(9.1, result("g", "A", [Q0])),
    )

    assert told(spark, tmp_path) == [(0, "A", None, 9.1, "open"), (1, "A", None, 9, "released")]
    assert holds_of(read_holds(spark, tmp_path)).count() == 0


def test_a_queue_that_was_not_locked_is_not_held(spark: SparkSession, tmp_path: Path) -> None:
    failed = f"doRebalance, g, add a new mq failed, {Q0}, because lock failed"
    put(tmp_path, "web1/a.log", java5(1, failed), java5(1.1, result("g", "A", [Q0])), java5(3, result("g", "A", [])))

    assert told(spark, tmp_path) == []


def test_a_log_that_is_cut_within_a_queue_tells_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    put(
        tmp_path,
        "web1/a.log",
        java5(1, added("g", Q0)),
        java5(1.1, result("g", "A", [Q0])),
        java5(6, persisted("g", "A", Q0, 7))[:-8],
    )

    assert told(spark, tmp_path) == [(0, "A", 1, 1.1, "open")]


def test_a_copy_of_a_log_under_another_hosts_name_tells_no_hold_twice(spark: SparkSession, tmp_path: Path) -> None:
    """It was made before the release."""
    lines = [java5(1, added("g", Q0)), java5(2, result("g", "A", [Q0])), java5(90, removed("g", Q0))]
    put(tmp_path, "web1/a.log", *lines)
    put(tmp_path, "copied/a.log", *lines[:2])
    put(tmp_path, "web2/a.log", java5(500, added("g", Q0)), java5(501, result("g", "B", [Q0])))

    assert told(spark, tmp_path) == [(0, "A", 1, 90, "released"), (0, "B", 500, 501, "open")]


def test_a_copy_of_a_logs_end_under_another_hosts_name_tells_no_hold_twice(spark: SparkSession, tmp_path: Path) -> None:
    """The second is longer than the first, of whose end it is a copy; a second process of one id is none."""
    lines = [
        *(java5(1, added("g", Q0)), java5(1, added("g", Q1)), java5(2, result("g", "A", [Q0, Q1]))),
        *(java5(at, persisted("g", "A", queue, 7)) for at in (6, 11) for queue in (Q0, Q1)),
        *(java5(14, removed("g", Q1)), java5(16, persisted("g", "A", Q0, 7)), java5(90, removed("g", Q0))),
    ]
    put(tmp_path, "web1/a.log", *lines[:-1])
    put(tmp_path, "copied/a.log", *lines[5:])
    put(tmp_path, "twin/a.log", java5(7, persisted("g", "A", Q0, 7)), java5(50, removed("g", Q0)))
    put(tmp_path, "web2/a.log", java5(500, added("g", Q0)), java5(501, result("g", "B", [Q0])))

    assert told(spark, tmp_path) == [
        *((0, "A", None, 50, "released"), (0, "A", 1, 90, "released"), (0, "B", 500, 501, "open")),
        (1, "A", 1, 14, "released"),
    ]


def test_what_another_takes_after_a_log_was_cut_was_let_go_by_then(spark: SparkSession, tmp_path: Path) -> None:
    """Brokers see A, C and D until 70 s. A's log ends at 20 s; C hung, and was given up before; D's log goes on.

    G's log ends at 20 s as well, and brokers see it stop in the second of 50 s: it was neither sooner nor later.
    """
    seen, both = [], [QUEUE.format("east", 0), QUEUE.format("west", 1)]
    for host, group, client, last in (
        ("web1", "g", "A", 20),
        ("web2", "h", "C", 20),
        ("web3", "k", "D", 65),
        ("web6", "m", "G", 20),
    ):
        lines = [(1, added(group, queue)) for queue in both] + [(1.1, result(group, client, both))]
        lines += [(at, persisted(group, client, queue, 7)) for at in range(6, last + 1, 5) for queue in both]
        put(tmp_path, f"{host}/a.log", *(java5(at, line) for at, line in lines))
        seen += [(1, joined(group, client)), (70, closed(group, client))]
    expired = "SCAN: remove expired channel from ConsumerManager consumerTable. channel=10.0.0.2:51234, consumerGroup=h"
    channel = "[id: 0x1, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    who = f"ClientChannelInfo [channel={channel}, clientId=G, language=JAVA]"
    left = f"unregister a consumer[m] from consumerGroupInfo {who}"
    seen = [one for one in seen if one != (70, closed("m", "G"))] + [(35, expired), (50, left)]
    put(tmp_path, "east/broker.log", *(broker(at, line) for at, line in sorted(seen)))
    taken = [(added(group, Q0), result(group, client, [Q0])) for group, client in (("g", "B"), ("h", "E"), ("k", "F"))]
    put(tmp_path, "web4/a.log", *(java5(at, line) for pair in taken for at, line in zip((40, 40.1), pair, strict=True)))
    put(tmp_path, "web5/a.log", java5(300, "RebalanceService service end"))

    found = [hold for hold in told(spark, tmp_path) if hold[1] in "ACDG"]

    assert [(queue, client, until, ended) for queue, client, _, until, ended in found] == [
        *((0, "A", 40, "released"), (0, "C", 70.5, "lost"), (0, "D", 70.5, "lost"), (0, "G", 50.5, "stopped")),
        *((1, "A", 70.5, "lost"), (1, "C", 70.5, "lost"), (1, "D", 70.5, "lost"), (1, "G", 50.5, "stopped")),
    ]


def registers(*seconds: float) -> list[str]:
    return [broker(second, "register broker[0]to name server 10.0.0.8:9876 OK") for second in seconds]


def test_a_line_that_stands_there_twice_is_one_take(spark: SparkSession, tmp_path: Path) -> None:
    one = java5(1, added("g", Q0))
    put(tmp_path, "web1/a.log", one, one, java5(1.1, result("g", "A", [Q0])), java5(20, persisted("g", "A", Q0, 4)))

    assert told(spark, tmp_path) == [(0, "A", 1, 20, "open")]


@pytest.mark.parametrize(
    ("log", "is_watched"),
    [
        ([broker(0, joined("g", "A")), *registers(*range(10, 101, 30))], True),
        ([broker(0, joined("h", "C")), *registers(*range(10, 101, 30))], False),
        ([broker(0, joined("g", "B")), *registers(*range(10, 101, 30))], False),
        ([*registers(25, 55, 85), broker(100, joined("g", "B"))], True),
        ([*registers(-30), broker(0, joined("g", "A")), *registers(100)], False),
        ([*registers(-30), broker(0, joined("g", "A")), broker(100, joined("g", "B"))], False),
        ([broker(0, joined("g", "A")), broker(100, joined("g", "B"))], True),
    ],
    ids=["names it", "another group", "others", "began later", "a hole", "a hole, then others", "says little"],
)
def test_a_broker_watches_a_member_where_its_log_would_tell_its_end(
    spark: SparkSession, tmp_path: Path, log: list[str], *, is_watched: bool
) -> None:
    """Who falls silent may live on, its log may be cut; a broker that says nothing of an end shows that it does."""
    put(tmp_path, "web1/a.log", java5(20, added("g", Q0)), java5(30, persisted("g", "A", Q0, 4)))
    put(tmp_path, "east/broker.log", *log)

    assert told(spark, tmp_path) == [(0, "A", 20, 100 if is_watched else 30, "open")]


def test_a_notification_that_no_broker_explains_shows_that_their_logs_lack_lines(
    spark: SparkSession, tmp_path: Path
) -> None:
    """A is killed at 31; where a broker says that C comes then, nothing tells that it was."""
    told_of_change = (
        "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
    )
    put(tmp_path, "web1/a.log", java5(2, added("g", Q0)), java5(30, persisted("g", "A", Q0, 4)))
    both = [java5(2, result("g", "B", [])), java5(31.2, told_of_change), java5(90, persisted("g", "B", Q1, 4))]
    put(tmp_path, "web2/b.log", *both)
    lines = [broker(0, joined("g", "A")), broker(0, joined("g", "B")), *registers(10, 40, 70, 100)]
    put(tmp_path, "east/broker.log", *lines)
    put(tmp_path / "explained", "web1/a.log", (tmp_path / "web1/a.log").read_text())
    put(tmp_path / "explained", "web2/b.log", *both)
    put(tmp_path / "explained", "east/broker.log", *sorted([*lines, broker(31, joined("g", "C"))]))

    def of_a(folder: Path) -> list[tuple[Any, ...]]:
        return [hold for hold in told(spark, folder) if hold[1] == "A"]

    assert of_a(tmp_path / "explained") == [(0, "A", 2, 100, "open")]
    for part in ("web1/a.log", "web2/b.log", "east/broker.log"):
        (tmp_path / "explained" / part).unlink()
    assert of_a(tmp_path) == [(0, "A", 2, 31.2, "lost")]
