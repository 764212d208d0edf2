from collections.abc import Callable
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
    put,
    read_clusters,
    removed,
    result,
)

pytestmark = pytest.mark.spark
Q0, Q1 = QUEUE.format("east", 0), QUEUE.format("west", 1)
Hold = tuple[Any, ...]
Files = dict[str, list[str]]
EXPIRED = "SCAN: remove expired channel from ConsumerManager consumerTable. channel=10.0.0.2:51234, consumerGroup={}"
NOTIFIED = "receive broker's notification[10.0.0.9:10911], the consumer group: g changed, rebalance immediately"
SHUT_DOWN = "the consumer [g] shutdown OK"
START4 = "the consumer [g] start OK."
TAKEN = [java5(1, added("g", Q0)), java5(1.1, result("g", "A", [Q0]))]
OTHERS = broker(60, joined("h", "x"))  # the log goes on


def good_bye(broker: str) -> str:
    return f"unregister client[Producer: null Consumer: g] from broker[{broker} 0 10.0.0.9:10911] success"


def left(group: str, client: str) -> str:
    channel = "[id: 0x1, L:/10.0.0.1:10911 - R:/10.0.0.2:51234]"
    who = f"ClientChannelInfo [channel={channel}, clientId={client}, language=JAVA]"
    return f"unregister a consumer[{group}] from consumerGroupInfo {who}"


def made(client: str) -> str:
    return f"Created a new client Instance, InstanceIndex:0, ClientID:{client}, ClientConfig:ClientConfig{{x}}"


def stopped() -> Files:
    """Three stop; of B's shutdown no line tells the end, of C's none the beginning."""
    first, second = java5(4, good_bye("east"), thread="Thread-1"), java5(4.2, good_bye("west"), thread="Thread-1")
    end = java5(7.5, SHUT_DOWN, thread="Thread-1")
    held = [java5(1, added("g", Q0)), java5(1, added("g", Q1)), java5(1.1, result("g", "A", [Q0, Q1]))]
    b, c = ([line.replace("clientId=A", f"clientId={client}") for line in held] for client in "BC")
    return {
        "web1/a.log": [*held, java5(3, removed("g", Q1)), first, second, end],
        "web2/a.log": [*b, first, second],
        "web3/a.log": [*c, end],
        "web4/a.log": [java5(60, result("h", "D", []))],
    }


def copied() -> Files:
    """The second log is longer than the first, of whose end it is a copy; a second process of one id is none."""
    lines = [
        *(java5(1, added("g", Q0)), java5(1, added("g", Q1)), java5(2, result("g", "A", [Q0, Q1]))),
        *(java5(at, persisted("g", "A", queue, 7)) for at in (6, 11) for queue in (Q0, Q1)),
        *(java5(14, removed("g", Q1)), java5(16, persisted("g", "A", Q0, 7)), java5(90, removed("g", Q0))),
    ]
    return {
        "web1/a.log": lines[:-1],
        "copied/a.log": lines[5:],
        "twin/a.log": [java5(7, persisted("g", "A", Q0, 7)), java5(50, removed("g", Q0))],
        "web2/a.log": [java5(500, added("g", Q0)), java5(501, result("g", "B", [Q0]))],
    }


def cut() -> Files:
    """Brokers see A, C and D until 70 s. A's log ends at 20 s; C hung, and was given up before; D's log goes on.

    G's log ends at 20 s as well, and brokers see it stop in the second of 50 s: it was neither sooner nor later.
    """
    seen, both, files = [], [QUEUE.format("east", 0), QUEUE.format("west", 1)], Files()
    for group, client, last in (("g", "A", 20), ("h", "C", 20), ("k", "D", 65), ("m", "G", 20)):
        lines = [(1, added(group, queue)) for queue in both] + [(1.1, result(group, client, both))]
        lines += [(at, persisted(group, client, queue, 7)) for at in range(6, last + 1, 5) for queue in both]
        files[f"{client}/a.log"] = [java5(at, line) for at, line in lines]
        seen += [(1, joined(group, client)), (70, closed(group, client))]
    seen = [one for one in seen if one != (70, closed("m", "G"))] + [(35, EXPIRED.format("h")), (50, left("m", "G"))]
    taken = [(added(group, Q0), result(group, client, [Q0])) for group, client in (("g", "B"), ("h", "E"), ("k", "F"))]
    return files | {
        "east/broker.log": [broker(at, line) for at, line in sorted(seen)],
        "web4/a.log": [java5(at, line) for pair in taken for at, line in zip((40, 40.1), pair, strict=True)],
        "web5/a.log": [java5(300, "RebalanceService service end")],
    }


# Each a cluster of its own: its files, and its holds: queue, client, from, until in seconds, ended.
CASES: dict[str, tuple[Files | Callable[[], Files], list[Hold]]] = {
    "a hold lasts from add to removal, and the next to the end": (
        {
            "web1/a.log": [
                *TAKEN, java5(5, removed("g", Q0)), java5(9, added("g", Q0)), java5(20, persisted("g", "A", Q0, 4)),
            ]
        },
        [(0, "A", 1, 5, "released"), (0, "A", 9, 20, "open")],
    ),
    "a shutdown line stops, and a log that breaks off while shutting down too": (
        {
            "web1/a.log": [*TAKEN, java5(2, good_bye("east"), thread="Thread-1"), java5(3, SHUT_DOWN)],
            "web2/a.log": [
                java5(0, result("g", "B", [Q0])), java5(1, added("g", Q0)),
                java5(2, good_bye("east"), thread="Thread-1"), java5(2.5, "NettyEventExecutor service end"),
            ],
            "web3/a.log": [java5(500, result("g", "C", []))],
        },
        [(0, "A", 1, 3, "stopped"), (0, "B", 1, 2.5, "stopped")],
    ),
    "who is stopped let go at the end of its shutdown": (
        stopped,
        [
            *((0, "A", 1, 7.5, "stopped"), (0, "B", 1, 4.2, "stopped"), (0, "C", 1, 7.5, "stopped")),
            *((1, "A", 1, 3, "released"), (1, "B", 1, 4.2, "stopped"), (1, "C", 1, 7.5, "stopped")),
        ],
    ),
    # The broker has the second only; the notification that it sends to the others has the millisecond.
    "a killed process is lost when a broker saw its connection end": (
        {
            "web1/a.log": TAKEN,
            "web2/a.log": [java5(7.321, NOTIFIED), java5(8, result("g", "B", [Q0], members=1))],
            "east/broker.log": [broker(1, joined("g", "A")), broker(7, closed("g", "A")), OTHERS],
        },
        [(0, "A", 1, 7.321, "lost")],
    ),
    "a connection that ends while its process goes on loses nothing": (
        {
            "web1/a.log": [*TAKEN, java5(20, persisted("g", "A", Q0, 1)), java5(30, removed("g", Q0))],
            "east/broker.log": [broker(7, closed("g", "A")), broker(31, joined("g", "A"))],
        },
        [(0, "A", 1, 30, "released")],
    ),
    # SIGSTOP, long enough for the broker to forget it; it wakes up, finds itself replaced and releases.
    "a process that was stopped for a while goes on holding": (
        {
            "web1/a.log": [*TAKEN, java5(200, removed("g", Q0))],
            "east/broker.log": [
                broker(1, joined("g", "A")), broker(130, EXPIRED.format("g")), broker(300, joined("h", "x")),
            ],
        },
        [(0, "A", 1, 200, "released")],
    ),
    "a process that starts anew in the same log lost what it held": (
        {
            "web1/a.log": [
                java5(0, made("A")), *TAKEN, java5(6, persisted("g", "A", Q0, 3)),
                java5(30, made("A")), java5(31, added("g", Q0)), java5(31.1, result("g", "A", [Q0])),
            ]
        },
        [(0, "A", 1, 6, "lost"), (0, "A", 31, 31.1, "open")],
    ),
    "a client that comes back under its id did not stop when its successor did": (
        {
            "web1/a.log": [
                java5(0, made("A")), *TAKEN, java5(30, made("A"), pid=2), java5(31, added("g", Q0), pid=2),
                java5(31.1, result("g", "A", [Q0]), pid=2), java5(60, SHUT_DOWN, pid=2),
            ],
            "east/broker.log": [broker(7, closed("g", "A")), broker(60, left("g", "A"))],
        },
        [(0, "A", 1, 7.5, "lost"), (0, "A", 31, 60, "stopped")],
    ),
    # Its log goes on, and its last own line is older than its end.
    "a client that is killed in a shared log ends when the others are told": (
        {
            "web1/rocketmq_client.log": [
                java4(0, START4), java4(1, added("g", Q0)), java4(1.1, result("g", "A", [Q0])),
                java4(3, persisted("g", "A", Q0, 9)), java4(5, persisted("g", "B", Q1, 9)), java4(7.321, NOTIFIED),
                java4(8, persisted("g", "B", Q1, 9)), java4(20, made("A")), java4(21, persisted("g", "B", Q1, 9)),
            ],
            "east/broker.log": [broker(0, joined("g", "A")), broker(7, closed("g", "A")), broker(22, joined("h", "x"))],
        },
        [(0, "A", 1, 7.321, "lost"), (1, "B", None, 22, "open")],
    ),
    # A 4.x log has neither pid nor thread, and belongs to all processes of one user.
    "two clients of one group in one log are told apart": (
        {
            "web1/rocketmq_client.log": [
                java4(0, START4), java4(0.2, START4), java4(1, added("g", Q0)), java4(1, added("g", Q1)),
                java4(1.1, result("g", "A", [Q0, Q1])), java4(5, persisted("g", "A", Q1, 7, every=False)),
                java4(5, removed("g", Q1)), java4(5.05, added("g", Q1)), java4(5.1, result("g", "B", [Q1], members=2)),
                java4(5.2, result("g", "A", [Q0], members=2)), java4(8, persisted("g", "A", Q0, 9)),
                java4(9, persisted("g", "B", Q1, 9)),
            ],
            "east/broker.log": [broker(0, joined("g", "A")), broker(0, joined("g", "B"))],
        },
        [(0, "A", 1, 9, "open"), (1, "A", 1, 5, "released"), (1, "B", 5.05, 9, "open")],
    ),
    "a log that is cut at its beginning tells no take that was not seen": (
        {
            "web1/a.log": [
                java5(5, persisted("g", "A", Q0, 3)), java5(5, persisted("g", "A", Q1, 3)), java5(9, removed("g", Q1)),
                java5(9.1, result("g", "A", [Q0])),
            ]
        },
        [(0, "A", None, 9.1, "open"), (1, "A", None, 9, "released")],
    ),
    "a queue that was not locked is not held": (
        {
            "web1/a.log": [
                java5(1, f"doRebalance, g, add a new mq failed, {Q0}, because lock failed"),
                java5(1.1, result("g", "A", [Q0])), java5(3, result("g", "A", [])),
            ]
        },
        [],
    ),
    "a log that is cut within a queue tells the rest": (
        {"web1/a.log": [*TAKEN, java5(6, persisted("g", "A", Q0, 7))[:-8]]}, [(0, "A", 1, 1.1, "open")],
    ),
    # It was made before the release.
    "a copy of a log under another host's name tells no hold twice": (
        {
            "web1/a.log": [*TAKEN, java5(90, removed("g", Q0))],
            "copied/a.log": TAKEN,
            "web2/a.log": [java5(500, added("g", Q0)), java5(501, result("g", "B", [Q0]))],
        },
        [(0, "A", 1, 90, "released"), (0, "B", 500, 501, "open")],
    ),
    "a copy of a log's end under another host's name tells no hold twice": (
        copied,
        [
            *((0, "A", None, 50, "released"), (0, "A", 1, 90, "released"), (0, "B", 500, 501, "open")),
            (1, "A", 1, 14, "released"),
        ],
    ),
    "what another takes after a log was cut was let go by then": (
        cut,
        [
            *((0, "A", 1, 40, "released"), (0, "B", 40, 40.1, "open"), (0, "C", 1, 70.5, "lost")),
            *((0, "D", 1, 70.5, "lost"), (0, "E", 40, 40.1, "open"), (0, "F", 40, 40.1, "open")),
            *((0, "G", 1, 50.5, "stopped"), (1, "A", 1, 70.5, "lost"), (1, "C", 1, 70.5, "lost")),
            *((1, "D", 1, 70.5, "lost"), (1, "G", 1, 50.5, "stopped")),
        ],
    ),
    "a line that stands there twice is one take": (
        {"web1/a.log": [TAKEN[0], *TAKEN, java5(20, persisted("g", "A", Q0, 4))]}, [(0, "A", 1, 20, "open")],
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def rows(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[Any]]:
    """Give the holds of every case: told in one go."""
    place = tmp_path_factory.mktemp("holds")
    for case, (files, _) in CASES.items():
        for name, lines in (files() if callable(files) else files).items():
            put(place / case, name, *lines)
    found: dict[str, list[Any]] = {case: [] for case in CASES}
    for row in read_clusters(spark, {case: place / case for case in CASES}).collect():
        found[row["cluster"]].append(row)
    return found


def seconds(at_ms: int | None) -> float | None:
    return None if at_ms is None else (at_ms - MIDNIGHT_MS) / 1000


@pytest.mark.parametrize("case", CASES)
def test_a_hold_lasts_as_long_as_lines_tell(rows: dict[str, list[Any]], case: str) -> None:
    holds = [
        (row["queue_id"], row["client_id"], seconds(row["from_ms"]), seconds(row["until_ms"]), row["ended"])
        for row in rows[case]
    ]

    assert sorted(holds, key=lambda hold: (*hold[:2], hold[2] or 0, *hold[3:])) == CASES[case][1]


def test_who_is_stopped_let_go_between_its_first_good_bye_and_the_end_of_its_shutdown(
    rows: dict[str, list[Any]],
) -> None:
    names = ("until_after_ms", "until_ms", "until_before_ms")
    ends = {
        (row["client_id"], row["queue_id"]): tuple(seconds(row[name]) for name in names)
        for row in rows["who is stopped let go at the end of its shutdown"]
    }

    assert ends[("A", 0)] == (4, 7.5, None)
    assert ends[("A", 1)] == (None, 3, None)
    assert ends[("B", 0)] == (4, 4.2, 9.2)
    assert ends[("C", 0)] == (None, 7.5, None)


def test_a_broker_that_sees_an_end_has_its_second_only(rows: dict[str, list[Any]]) -> None:
    (row,) = rows["a killed process is lost when a broker saw its connection end"]

    assert (seconds(row["until_after_ms"]), seconds(row["until_ms"])) == (7, 7.321)


def test_holds_whose_beginning_was_not_seen_are_none_of_the_table(spark: SparkSession) -> None:
    names = "cluster string, day string, group string, topic string, broker string, queue_id int, client_id string"
    spans = [
        ("c", "2026-11-21", "g", "orders", "east", number, "A", at, 9, "open") for number, at in ((0, None), (1, 5))
    ]

    found = holds_of(spark.createDataFrame(spans, f"{names}, from_ms long, until_ms long, ended string")).collect()

    assert [row["queue_id"] for row in found] == [1]
