import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.world import World
from tests.rebalance_engine.simulation.small import cluster

WARM = 60_000


def world(*steps: str, group: str = "AVG concurrent") -> World:
    made = World(cluster(*steps, group=group), lambda _fact: None)
    made.clock.run_until(EPOCH + WARM)
    return made


def test_every_message_of_a_producer_is_written_down_by_who_sent_and_who_stored_it() -> None:
    made = world()

    made.watches.sends.check_ended()

    assert sum(book.end for book in made.ledger.books if book.queue.topic == "orders") > 250


def test_locks_that_brokers_grant_are_written_down() -> None:
    made = world(group="AVG orderly")

    held = {queue: lock.client for queue, lock in made.ledger.ordering.locks.all()}

    assert held == {queue: name for name, member in made.members.items() for queue in made.ledger.held(member)}


def test_commits_are_written_down() -> None:
    made = world()

    book = made.ledger.book(MessageQueue("orders", "east", 0))

    assert book.commits[-1].offset <= book.watermark
    assert {stored.by.holder.name for stored in book.commits if stored.by} <= {"A", "B", "C"}


def test_a_broker_that_serves_what_it_was_not_told_is_noticed() -> None:
    made = world()
    made.watches.broker_starts("east")  # as if nobody had told it anything

    with pytest.raises(Breach, match=r"east (serves|lists)"):
        made.clock.run_until(EPOCH + WARM + 60_000)
