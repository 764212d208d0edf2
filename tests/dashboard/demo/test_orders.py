import pytest
from django.template.loader import render_to_string

from dashboard.demo.orders import (
    ADD_CONSUMER,
    HEAL_BROKER,
    KILL_CONSUMER,
    RESTART_BROKER,
    RESUME_CONSUMER,
    SLOW_BROKER,
    STALL_CONSUMER,
    VERBS,
    BadOrder,
    Order,
    act_of,
)
from dashboard.demo.script import Down, Go, Going, Join, Recover, Resume, Slow, Stall
from rebalance_engine.findings.flow import STUCK_MS

MEMBERS = {"billing": ("billing-1", "billing-2"), "search-index": ()}


def test_every_verb_means_something() -> None:
    acts = [
        act_of(Order(verb=ADD_CONSUMER, group="billing"), MEMBERS),
        act_of(Order(verb=KILL_CONSUMER, group="billing", target="127.0.0.1@billing-1"), MEMBERS),
        act_of(Order(verb=STALL_CONSUMER, group="billing", parameters={"for_s": 5}), MEMBERS),
        act_of(Order(verb=RESUME_CONSUMER, group="billing", target="127.0.0.1@billing-2"), MEMBERS),
        act_of(Order(verb=SLOW_BROKER, target="broker-b", parameters={"delay_ms": 50}), MEMBERS),
        act_of(Order(verb=RESTART_BROKER, target="broker-a"), MEMBERS),
        act_of(Order(verb=HEAL_BROKER, target="broker-c"), MEMBERS),
    ]

    assert acts == [
        Join("billing"),
        Go("billing", Going.CRASHES, "billing-1"),
        Stall("billing", 5_000, "billing-1"),
        Resume("billing", "billing-2"),
        Slow("broker-b", 50, 30_000),
        Down("broker-a", 12_000),
        Recover("broker-c"),
    ]
    assert len(acts) == len(VERBS)


def test_a_member_that_is_ordered_to_stall_does_so_until_that_is_a_finding_that_is_confirmed() -> None:
    looks_ms = 3 * 30_000  # offsets are asked for each 10 s at least where somebody looks, and a fault twice

    act = act_of(Order(verb=STALL_CONSUMER, group="billing"), MEMBERS)
    button = render_to_string("groups/_play.html", {"group": {"pk": 1}})

    assert isinstance(act, Stall)
    assert act.for_ms >= STUCK_MS + looks_ms
    assert f"hangs for {act.for_ms // 1_000} s" in button


@pytest.mark.parametrize("how", Going)
def test_a_consumer_can_be_killed_in_each_way(how: Going) -> None:
    order = Order(verb=KILL_CONSUMER, group="billing", parameters={"how": how.value})

    assert act_of(order, MEMBERS) == Go("billing", how, "billing-2")


@pytest.mark.parametrize(
    ("order", "word"),
    [
        (Order(verb="drop table"), "knows no verb 'drop table'"),
        (Order(verb=ADD_CONSUMER, group="<b>"), "no group '<b>'; it has billing"),
        (Order(verb=ADD_CONSUMER, group="invoices"), "does as its configuration says"),
        (Order(verb=KILL_CONSUMER, group="billing", target="127.0.0.1@nobody"), "no member '127.0.0.1@nobody'"),
        (Order(verb=KILL_CONSUMER, group="search-index"), "no member that lives"),
        (Order(verb=KILL_CONSUMER, group="billing", parameters={"how": "gently"}), "how is 'gently'"),
        (Order(verb=SLOW_BROKER, target="broker-z"), "no broker 'broker-z'"),
        (Order(verb=SLOW_BROKER, target="broker-a", parameters={"delay_ms": 0}), "delay_ms is 0"),
        (Order(verb=SLOW_BROKER, target="broker-a", parameters={"for_s": True}), "for_s is True"),
        (Order(verb=SLOW_BROKER, target="broker-a", parameters={"for_s": "9"}), "for_s is '9'"),
    ],
)
def test_an_order_that_makes_no_sense_is_refused_with_what_was_seen_and_needed(order: Order, word: str) -> None:
    with pytest.raises(BadOrder, match=word):
        act_of(order, MEMBERS)


def test_a_group_has_an_end() -> None:
    crowd = {"billing": tuple(f"billing-{number}" for number in range(12))}

    with pytest.raises(BadOrder, match="12 members; the demo carries 12"):
        act_of(Order(verb=ADD_CONSUMER, group="billing"), crowd)
