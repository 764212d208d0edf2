import pytest

from rebalance_engine.events import Departure, Exactness
from rebalance_engine.network.watcher.bounds import between, departed, left_since, read_expiry
from rebalance_engine.network.watcher.known import KnownMember

ANSWERED, HUNG = 10_000, 22_000  # the last answer, and when it was first asked in vain


def test_without_a_look_before_only_the_upper_bound_is_known() -> None:
    assert between(None, 20) == Exactness.at_most(20)
    assert between(10, 20) == Exactness.between(10, 20)
    assert between(30, 20) == Exactness.between(20, 20)


def left_after(*last_listed_at: int, wait: int | None = None) -> Departure:
    """Say how somebody who hung left, whose brokers listed it until then, each looked at a second later."""
    lost = {f"broker-{number}": (at, at + 1_000) for number, at in enumerate(last_listed_at)}
    member = KnownMember(max(last_listed_at), held_at=ANSWERED, hung_at=HUNG, lost=lost)
    return departed(member, max(last_listed_at) + 1_000, {} if wait is None else {"broker-0": wait})[0]


@pytest.mark.parametrize(
    ("last_listed_at", "departure"),
    [
        (
            141_999,
            Departure.UNKNOWN,
        ),  # it may have sent a heartbeat when it was asked
        (142_000, Departure.HEARTBEAT_EXPIRED),
        (167_000, Departure.HEARTBEAT_EXPIRED),  # the broker looked 10 s late, and so did we
        (168_000, Departure.UNKNOWN),  # a broker that waits longer had a heartbeat
    ],
)
def test_time_tells_of_an_expired_heartbeat_only_once_none_can_have_been_young_enough(
    last_listed_at: int, departure: Departure
) -> None:
    assert left_after(last_listed_at) is departure
    assert left_after(last_listed_at, 150_000) is departure
    assert left_after(150_000, last_listed_at) is departure


def test_who_hung_and_was_killed_is_not_said_to_have_let_its_heartbeat_expire() -> None:
    killed = KnownMember(107_000, held_at=0, hung_at=1_000, lost=dict.fromkeys(("east", "west"), (107000, 108000)))

    assert departed(killed, 108_000, {}) == (Departure.UNKNOWN, "it had answered nothing for 108 s")


def test_who_one_broker_lost_long_before_the_others_was_not_listed_all_the_time() -> None:
    assert left_after(50_000, 150_000) is Departure.UNKNOWN


def test_a_broker_that_waits_for_another_time_lets_heartbeats_expire_after_that() -> None:
    assert left_after(82_000, wait=60_000) is Departure.HEARTBEAT_EXPIRED
    assert left_after(81_999, wait=60_000) is left_after(108_000, wait=60_000) is Departure.UNKNOWN
    assert left_after(82_000, 142_000, wait=60_000) is Departure.HEARTBEAT_EXPIRED


@pytest.mark.parametrize("setting", [None, "", "-1", "1.5", "9999", "3600001", "9" * 5_000, "²" * 5])
def test_a_setting_that_no_broker_would_have_is_not_believed(setting: str | None) -> None:
    assert read_expiry(setting) is None
    assert read_expiry("60000") == 60_000


def test_who_never_answered_or_never_hung_tells_nothing() -> None:
    lost = {"east": (150_000, 151_000)}

    assert departed(KnownMember(150_000, held_at=ANSWERED, lost=lost), 151_000, {}) == (Departure.UNKNOWN, None)
    assert departed(KnownMember(150_000, hung_at=HUNG, lost=lost), 151_000, {}) == (Departure.UNKNOWN, None)


def test_who_left_may_have_been_leaving_since_the_first_broker_lost_it_but_not_since_one_that_lost_it_long_before() -> (
    None
):
    member = KnownMember(100_000)
    assert left_since(member) == 100_000

    member.lost = {"east": (93_000, 94_000), "west": (100_000, 101_000), "north": (40_000, 41_000)}
    assert left_since(member) == 93_000
    assert left_since(KnownMember(None)) is None
