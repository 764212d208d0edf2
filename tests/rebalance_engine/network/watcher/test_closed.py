from rebalance_engine.events import Exactness
from rebalance_engine.network.watcher.closed import Closed
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig
from tests.rebalance_engine.network.watcher.seeing import by


def said(closed: Closed, at: int, **enabled: bool) -> list[tuple[str, str, bool]]:
    configs = [
        (name, SubscriptionGroupConfig(group_name=name, consume_enable=is_enabled))
        for name, is_enabled in enabled.items()
    ]
    return [(fact.group, fact.broker, fact.is_enabled) for fact in closed.heard("east", configs, by(at))]


def test_only_who_may_not_consume_is_told_of_and_only_once() -> None:
    closed = Closed({})

    assert said(closed, 1, G=True, H=False) == [("H", "east", False)]
    assert said(closed, 2, G=True, H=False) == []
    assert said(closed, 3, G=False, H=True) == [("G", "east", False), ("H", "east", True)]


def test_what_was_known_before_is_taken_back_where_it_is_so_no_more() -> None:
    closed = Closed({"G": {"east", "west"}, "H": {"east"}})

    assert said(closed, 1, G=False) == [("H", "east", True)]


def bounds(closed: Closed, at: int, **enabled: bool) -> dict[str, Exactness]:
    configs = [(name, SubscriptionGroupConfig(group_name=name, consume_enable=on)) for name, on in enabled.items()]
    return {fact.group: fact.exactness for fact in closed.heard("east", configs, by(at))}


def test_a_change_is_of_after_the_last_look_and_what_is_seen_first_may_have_been_so_for_any_time() -> None:
    closed = Closed({})

    assert bounds(closed, 1, G=True, H=False) == {"H": Exactness.at_most(1)}
    assert bounds(closed, 2, G=True, H=False) == {}
    assert bounds(closed, 3, G=False, H=True, I=False) == {
        "G": Exactness.between(2, 3),
        "H": Exactness.between(2, 3),
        "I": Exactness.at_most(3),
    }
    assert bounds(closed, 4) == {"G": Exactness.at_most(4), "I": Exactness.at_most(4)}


def test_who_takes_over_knows_since_when_what_is_other_than_was_stored_is_so() -> None:
    closed = Closed({"H": {"east"}}, 5, {"G", "H"})

    assert bounds(closed, 9, G=False, H=True, I=False) == {
        "G": Exactness.between(5, 9),
        "H": Exactness.between(5, 9),
        "I": Exactness.at_most(9),
    }


def test_nobody_of_a_group_is_notified_if_every_broker_that_has_it_says_so() -> None:
    closed = Closed({})

    def told(broker: str, **notifies: bool) -> None:
        configs = [
            (name, SubscriptionGroupConfig(group_name=name, notify_consumer_ids_changed_enable=does))
            for name, does in notifies.items()
        ]
        assert list(closed.heard(broker, configs, by(1, broker))) == []

    both = {"east", "west"}
    told("east", G=False, H=False, I=True)
    assert closed.muted(both) is None
    told("west", G=False, I=False)
    assert closed.muted(both) == frozenset("GH")
    told("west", G=True)
    assert closed.muted(both) == frozenset("H")
    assert closed.muted({"east"}) == frozenset("GH")
    assert closed.muted(set()) is None

    told("west", G=True, I=True)
    closed.notifies_heard("west", is_on=False)
    assert closed.muted(both) == frozenset("GH")  # east notifies I
    closed.notifies_heard("east", is_on=False)
    assert closed.muted(both) == frozenset("GHI")
    closed.notifies_heard("west", is_on=True)
    assert closed.muted(both) == frozenset("H")
    assert (closed.is_off("east"), closed.is_off("west")) == (True, False)
