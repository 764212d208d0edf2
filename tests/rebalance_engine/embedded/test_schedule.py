from pathlib import Path

import pytest

from rebalance_engine.embedded.schedule import IllegalTimer, Schedule
from rebalance_engine.embedded.store import Draft, MessageStore
from rebalance_engine.remoting.messages import Host, StoredMessage, decode_messages

LEVELS = "1s 5s 1m"


class Waiting:
    """A schedule on a store."""

    def __init__(self, directory: Path, delivered: dict[int, int] | None = None) -> None:
        self.store = MessageStore(directory, Host("10.0.0.1", 1), segment_bytes=10_000, max_bytes=90_000)
        self.schedule = Schedule(self.store, LEVELS, delivered or {}, has_timer=True)

    def put(self, body: str, at: int, **properties: str) -> bool:
        """Store a message; say whether it waits."""
        draft = self.schedule.divert(
            Draft(
                topic="T",
                queue_id=2,
                body=body.encode(),
                properties=properties,
                born_timestamp=1,
                born_host=Host("10.0.0.9", 1),
            ),
            at,
        )
        return self.schedule.entered(draft, self.store.append(draft, at), at)

    def seen(self) -> list[StoredMessage]:
        return [decode_messages(data)[0] for data in self.store.messages("T", 2, 0, 99)]


def test_a_message_without_a_delay_is_seen_at_once(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)

    assert not waiting.put("now", 0)
    assert (waiting.schedule.next_due, len(waiting.seen())) == (None, 1)


def test_a_delayed_message_is_seen_in_its_own_queue_when_it_is_due(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)

    waits = waiting.put("later", 10, DELAY="2", TAGS="A")
    early = waiting.schedule.deliver(5_009)
    due = waiting.schedule.deliver(5_010)

    (message,) = waiting.seen()
    assert (waits, early, [arrival[:2] for arrival in due]) == (True, (), [("T", 2)])
    assert (message.body, message.store_timestamp) == (b"later", 5_010)
    assert "DELAY" not in message.properties


def test_a_level_that_is_too_high_is_the_highest(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)

    waiting.put("later", 0, DELAY="9")

    assert waiting.schedule.next_due == 60_000


def test_the_earliest_is_due_first(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)
    waiting.put("second", 0, DELAY="2")
    waiting.put("first", 0, DELAY="1")

    waiting.schedule.deliver(9_000)

    assert [message.body for message in waiting.seen()] == [b"first", b"second"]


def test_a_timer_is_due_at_its_time_within_a_second(tmp_path: Path) -> None:
    waiting = Waiting(tmp_path)

    waiting.put("at", 1_000, TIMER_DELIVER_MS="7500")
    waiting.put("in", 1_000, TIMER_DELAY_SEC="9")

    assert waiting.schedule.next_due == 7_000
    assert len(waiting.schedule.deliver(20_000)) == 2


@pytest.mark.parametrize("properties", [{"TIMER_DELAY_SEC": "999999"}, {"TIMER_DELAY_MS": "soon"}])
def test_a_timer_out_of_reach_is_refused(tmp_path: Path, properties: dict[str, str]) -> None:
    with pytest.raises(IllegalTimer):
        Waiting(tmp_path).put("never", 0, **properties)


def test_a_time_that_is_over_is_now(tmp_path: Path) -> None:
    assert not Waiting(tmp_path).put("now", 9_000, TIMER_DELIVER_MS="8000")


def test_what_waits_goes_on_waiting_after_a_restart(tmp_path: Path) -> None:
    before = Waiting(tmp_path)
    before.put("due before", 0, DELAY="1")
    before.put("due after", 0, DELAY="2")
    before.put("timer", 0, TIMER_DELIVER_MS="4000")
    before.schedule.deliver(1_000)
    kept = before.schedule.offsets()
    before.store.close()

    after = Waiting(tmp_path, kept)
    after.schedule.deliver(9_000)

    assert kept == {0: 0, 1: 1, 2: 0}
    assert [message.body for message in after.seen()] == [b"due before", b"timer", b"due after"]
    assert after.schedule.offsets() == {0: 1, 1: 1, 2: 1}
