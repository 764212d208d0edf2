"""What a message costs our consumer and producer, and what it costs the Java ones, on the same real broker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tests.bench.report import Row
from tests.cluster.contract import Setup
from tests.cluster.lines import Client, Seen
from tests.cluster.members import Option, java_consumers, java_producer, python_consumers, python_producer
from tests.cluster.rocketmq import RELEASES, RealCluster, running

TOPIC, QUEUES = "measured", 4  # on each of two brokers
MESSAGES, QUICK_MESSAGES = 60_000, 3_000
WARM = 2_000  # messages that Java sends before the time counts, so that its compiler is done; Python the same
BYTES = 200
SENDERS = (1, 32)
GIVEN_S = 300


@dataclass(frozen=True, slots=True)
class Speed:
    """What one message takes, in seconds."""

    s: float
    cpu_s: float


def run(*, quick: bool) -> Iterator[Row]:
    """Let each side send, then each side read all that was sent."""
    count = QUICK_MESSAGES if quick else MESSAGES
    with running(Setup(release=RELEASES[0])) as cluster:
        for senders in SENDERS:
            each = count // 4 if senders == 1 else count
            topic = cluster.create_topic(f"{TOPIC}-{senders}", QUEUES)
            java, python = (_send(cluster, topic, side, senders, each) for side in ("java", "python"))
            yield from _rows(f"send, {senders} at a time", each, python, java)
        java, python = (_read(cluster, f"{TOPIC}-{SENDERS[-1]}", side, 2 * count) for side in ("java", "python"))
        yield from _rows("consume", 2 * count, python, java)


def _rows(what: str, count: int, ours: Speed, theirs: Speed) -> Iterator[Row]:
    note = f"{1 / ours.s:,.0f} a second, Java {1 / theirs.s:,.0f}"
    yield Row(f"{what}: a message", f"{count:,}", ours.s, "s", "Java client", theirs.s, note=note)
    yield Row(f"{what}: its processor time", f"{count:,}", ours.cpu_s, "s", "Java client", theirs.cpu_s)


def _send(cluster: RealCluster, topic: str, side: str, senders: int, count: int) -> Speed:
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "topic": topic, "name": f"{side}-{senders}"}
    options |= {"count": count, "pad": BYTES, "quiet": True, "senders": senders, "warm": WARM}
    folder = cluster.folder / "clients"
    producer = java_producer(cluster.java, options, folder) if side == "java" else python_producer(options, folder)
    speed = _timed(producer)
    assert not producer.seen("failed")
    return speed


def _read(cluster: RealCluster, topic: str, side: str, count: int) -> Speed:
    options: dict[str, Option] = {"namesrv": cluster.namesrv, "topics": topic, "group": f"reads-{side}"}
    options |= {"name": f"reads-{side}", "quiet": True, "until": count}
    folder = cluster.folder / "clients"
    consumer = (
        java_consumers(cluster.java, [options], folder) if side == "java" else python_consumers([options], folder)
    )
    return _timed(consumer)


def _timed(client: Client) -> Speed:
    try:
        timed: Seen = client.wait("timed", within_s=GIVEN_S)[0]
    finally:
        client.kill()
    messages = int(str(timed["messages"]))
    return Speed(int(str(timed["ns"])) / messages / 1e9, int(str(timed["cpu_ns"])) / messages / 1e9)
