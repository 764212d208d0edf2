import pytest

from rebalance_engine import events
from rebalance_engine.events import Departure, Exactness, Origin, Source
from rebalance_engine.membership.facts import Witness
from rebalance_engine.membership.locks import Answer, Verdict
from rebalance_engine.membership.offsets import Commit
from rebalance_engine.membership.registry import Came, Change, Registry, TopicAdded, TopicRemoved, Went
from rebalance_engine.model import MessageQueue
from tests.rebalance_engine.membership.examples import QUEUE, consumer, presence, wants

SOURCE = Source(origin=Origin.SIMULATOR, broker="broker-a")
WITNESS = Witness(SOURCE, "broker-a")


def test_a_joining_member_is_told_with_its_presence_and_what_it_says_of_itself() -> None:
    registry = Registry()
    update = registry.register(presence(1), consumer(wants()), 5)

    facts = list(WITNESS.of_changes(update.changes, registry.find("g"), 5))

    assert [type(fact) for fact in facts] == [
        events.MemberJoined,
        events.PresenceSeen,
        events.MemberSeen,
        events.SubscriptionAdded,
    ]
    assert all(fact.at == 5 and fact.source is SOURCE for fact in facts)


def test_a_second_channel_of_one_id_is_a_presence_and_no_member() -> None:
    facts = list(WITNESS.of_changes([Came("g", presence(2), is_first=False)], None, 5))

    assert [type(fact) for fact in facts] == [events.PresenceSeen]


@pytest.mark.parametrize("departure", Departure)
def test_how_a_member_went_is_told(departure: Departure) -> None:
    gone, left = WITNESS.of_changes([Went("g", presence(1), departure, is_last=True)], None, 5)

    assert isinstance(gone, events.PresenceGone) and isinstance(left, events.MemberLeft)
    assert gone.departure is left.departure is departure


def test_a_takeover_tells_when_the_lock_ran_out() -> None:
    verdict = Verdict(QUEUE, Answer.TAKEN_OVER, "A", 1_000)

    expired, granted = WITNESS.of_locks([verdict], "g", "B", 90_000)

    assert isinstance(expired, events.LockExpired) and (expired.client, expired.at) == ("A", 61_000)
    assert isinstance(granted, events.LockGranted) and (granted.client, granted.expired_holder) == ("B", "A")


def test_a_renewal_and_a_vain_unlock_are_nothing_new() -> None:
    verdicts = [Verdict(QUEUE, Answer.RENEWED, "A", 0), Verdict(QUEUE, Answer.NOT_HELD)]

    assert list(WITNESS.of_locks(verdicts, "g", "A", 5)) == []


def test_an_offset_that_went_back_bounds_what_is_consumed_again() -> None:
    commit = Commit(group="g", topic="orders", queue_id=0, offset=5, before=9)

    (fact,) = WITNESS.of_commit(commit, "A", 7)

    assert isinstance(fact, events.Duplicates)
    assert (fact.count, fact.first_offset, fact.last_offset, fact.clients) == (4, 5, 8, ("A",))
    assert fact.exactness == Exactness.at_least(4)


def test_what_no_fact_can_hold_is_not_said() -> None:
    nobody = presence(1, "")
    changes: list[Change] = [
        Came("g", nobody, is_first=True),
        Went("", presence(1), Departure.UNKNOWN, is_last=True),
        TopicAdded("g", wants("")),
        TopicRemoved("g", ""),
    ]
    strange = [Verdict(MessageQueue("orders", "broker-a", -7), Answer.GRANTED)]

    assert list(WITNESS.of_changes(changes, None, 5)) == []
    assert list(WITNESS.of_locks(strange, "g", "A", 5)) == []
    assert list(WITNESS.of_locks([Verdict(QUEUE, Answer.GRANTED)], "", "A", 5)) == []
    commit = Commit(group="g", topic="orders", queue_id=0, offset=-5, before=9)
    assert list(WITNESS.of_commit(commit, None, 7)) == []
