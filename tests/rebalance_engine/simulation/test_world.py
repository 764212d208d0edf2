from dataclasses import replace

import pytest

from rebalance_engine.events import DropReason, Fact, MemberLeft, QueueDropped, QueueTaken
from rebalance_engine.simulation.bounds import earliest_end
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.clock import EPOCH
from rebalance_engine.simulation.running import run
from rebalance_engine.simulation.world import World
from tests.rebalance_engine.simulation.small import cluster

WARM = 60_000


class Run:
    """A world, and the facts that it told."""

    def __init__(self, *steps: str, group: str = "AVG concurrent") -> None:
        self.facts: list[Fact] = []
        self.world = World(cluster(*steps, group=group), self.facts.append)

    def until(self, ms: int) -> None:
        self.world.clock.run_until(EPOCH + ms)

    def of(self, kind: type[Fact], since: int = WARM) -> list[Fact]:
        return [fact for fact in self.facts if isinstance(fact, kind) and fact.at - EPOCH >= since]


def held(run: Run, topic: str = "orders") -> dict[str, int]:
    ledger = run.world.ledger
    return {
        name: sum(queue.topic == topic for queue in ledger.held(member)) for name, member in run.world.members.items()
    }


def test_a_group_divides_the_queues() -> None:
    run = Run()
    run.until(WARM)

    run.world.check_settled()
    run.world.check_all()

    assert held(run) == {"A": 3, "B": 3, "C": 2}


@pytest.mark.parametrize(("step", "reason"), [("kill A", DropReason.LOST), ("stop A", DropReason.STOPPED)])
def test_who_goes_leaves_his_queues_to_the_others(step: str, reason: DropReason) -> None:
    run = Run(f"{WARM} {step}")
    run.until(WARM + 10_000)

    run.world.check_settled()

    reasons = [fact.reason for fact in run.of(QueueDropped) if isinstance(fact, QueueDropped)]
    assert reason in reasons
    assert held(run) == {"B": 4, "C": 4}


def test_who_dies_is_missed_after_two_minutes_only() -> None:
    run = Run(f"{WARM} die A")
    run.until(WARM + 80_000)
    with pytest.raises(Breach):
        run.world.check_settled()

    run.until(WARM + 155_000)

    run.world.check_settled()
    assert len(run.of(MemberLeft)) == 2


def test_a_paused_member_keeps_its_queues_and_does_nothing() -> None:
    run = Run(f"{WARM} pause A 30000")
    run.until(WARM + 29_000)

    source = {fact.source.client for fact in run.of(QueueTaken)}

    assert "A" not in source
    assert run.world.members["A"].is_paused
    run.until(WARM + 31_000)
    assert not run.world.members["A"].is_paused


def test_a_crashed_broker_comes_back_with_its_messages() -> None:
    run = Run(f"{WARM} crash east 5000")
    run.until(WARM + 1_000)
    gone = set(run.world.brokers)
    run.until(WARM + 110_000)

    run.world.check_settled()

    assert gone == {"west"}
    assert run.world.brokers.keys() == {"east", "west"}


def test_a_cut_member_is_a_member_again_after_it_heals() -> None:
    run = Run(f"{WARM} cut A east 20000")
    run.until(WARM + 19_000)
    is_cut = bool(run.world.network.cuts)
    run.until(WARM + 110_000)

    run.world.check_settled()

    assert (is_cut, run.world.network.cuts) == (True, set())


def test_a_slow_broker_is_quick_again() -> None:
    run = Run(f"{WARM} slow east 50 1000")
    run.until(WARM + 500)
    slow = dict(run.world.network.extra)
    run.until(WARM + 1_500)

    assert (slow, run.world.network.extra) == ({"east": 50}, {})


def test_notifications_that_are_lost_are_made_good_by_the_timer() -> None:
    run = Run(f"{WARM} mute 5000", f"{WARM + 1} kill A")
    run.until(WARM + 1_500)
    with pytest.raises(Breach):
        run.world.check_settled()

    run.until(WARM + 25_000)

    run.world.check_settled()


def test_one_way_requests_are_lost_for_a_while() -> None:
    run = Run(f"{WARM} lose 5000", f"{WARM} mute 5000")
    run.until(WARM + 10)
    network, member = run.world.network, run.world.members["A"]

    lost = sum(network.loses(member, member, "request") for _ in range(100))
    run.until(WARM + 6_000)

    assert 20 < lost < 80
    assert not any(network.loses(member, member, "request") for _ in range(100))


def test_a_connection_that_breaks_makes_brokers_disagree_for_a_moment() -> None:
    run = Run(f"{WARM} reset A east")
    run.until(WARM + 5_000)

    gone = {fact.source.broker for fact in run.of(MemberLeft)}
    run.until(WARM + 60_000)

    assert gone == {"east"}
    run.world.check_settled()


def test_requests_and_answers_are_dropped_for_a_while() -> None:
    run = Run(f"{WARM} drop 5000")
    run.until(WARM + 10)
    network, member = run.world.network, run.world.members["A"]

    dropped = sum(network.loses_call(member) for _ in range(1_000))
    spared = sum(network.loses_call(run.world.brokers["east"]) for _ in range(1_000))
    run.until(WARM + 120_000)

    assert 20 < dropped < 100
    assert spared == 0
    assert not any(network.loses_call(member) for _ in range(100))
    run.world.check_settled()


def test_a_topic_that_grows_is_divided_anew() -> None:
    run = Run(f"{WARM} grow orders east 7")
    run.until(WARM + 55_000)

    run.world.check_settled()

    assert sum(held(run).values()) == 11


def test_a_topic_is_given_up_and_wanted_again() -> None:
    run = Run(f"{WARM} unsubscribe orders", "90000 subscribe orders")
    run.until(85_000)
    run.world.check_settled()
    without = held(run)
    run.until(150_000)

    run.world.check_settled()

    assert sum(without.values()) == 0
    assert sum(held(run).values()) == 8


def test_a_topic_that_is_subscribed_to_later_is_not_in_the_beginning() -> None:
    run = Run("90000 subscribe orders")
    run.until(85_000)

    assert sum(held(run).values()) == 0


def test_a_twin_has_the_client_id_of_another() -> None:
    run = Run(f"{WARM} start twin java-5.5.0 as A")
    run.until(WARM + 10_000)

    run.world.check_settled()

    assert held(run)["twin"] == held(run)["A"] == 2


def test_a_dissenter_divides_by_its_own_strategy() -> None:
    run = Run(f"{WARM} start D java-5.5.0 by AVG_BY_CIRCLE")
    run.until(WARM + 10_000)

    run.world.check_settled()

    assert len([book for book in run.world.ledger.books if len(book.live) == 2]) > 0


@pytest.mark.parametrize("step", ["kill Z", "stop Z", "die Z", "pause Z 5", "crash north 5", "grow orders north 9"])
def test_a_step_without_its_object_does_nothing(step: str) -> None:
    run = Run(f"{WARM} {step}", f"{WARM} start A java-5.5.0")
    run.until(WARM + 5_000)

    run.world.check_settled()


@pytest.mark.parametrize("strategy", ["AVG_BY_CIRCLE", "CONSISTENT_HASH"])
def test_members_follow_the_strategy_of_the_group(strategy: str) -> None:
    run = Run(f"{WARM} kill B", group=f"{strategy} concurrent")
    run.until(WARM + 10_000)

    run.world.check_settled()


def test_messages_that_nobody_consumed_are_missed() -> None:
    run = Run("20000 pause A 60000")
    run.until(WARM)

    with pytest.raises(Breach, match="was never finished"):
        run.world.check_finished()


@pytest.mark.parametrize("extra", [1_000, 2_000, 60_000])
def test_a_broker_may_be_slower_than_its_clients_wait(extra: int) -> None:
    scenario = cluster(f"20000 slow east {extra} 5000", ends_at=0, sends="until 40000")

    assert run(replace(scenario, ends_at=earliest_end(scenario))).breach is None
