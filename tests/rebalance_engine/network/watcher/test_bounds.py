from dataclasses import replace

import pytest

from rebalance_engine.events import Departure, Exactness
from rebalance_engine.network.watcher.bounds import (
    Expiry,
    between,
    departed,
    expired_by_beat,
    left_since,
    read_expiry,
)
from rebalance_engine.network.watcher.known import Beat, KnownMember

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


@pytest.mark.parametrize(
    ("told_at", "last_listed_at", "lost_at", "expiry"),
    [
        (119_000, 119_500, 119_900, Expiry.NO),  # killed: no heartbeat had expired yet
        (119_000, 119_900, 120_100, Expiry.PERHAPS),  # between the looks
        (120_000, 120_900, 121_500, Expiry.PERHAPS),  # it came between 0 and 1 s
        (121_000, 120_900, 121_500, Expiry.SURE),  # who tells the heartbeat has the client
        (120_000, 121_000, 121_500, Expiry.SURE),
        (144_000, 145_000, 146_000, Expiry.SURE),  # the broker looked 10 s late, and so did we
        (144_000, 145_000, 146_001, Expiry.NO),  # a broker that has it for longer had another heartbeat
        (125_000, 129_500, 130_001, Expiry.NO),  # nobody looked for 5 s: one may have come, and a kill
        (60_000, 60_000, 130_000, Expiry.NO),
    ],
)
def test_the_last_heartbeat_that_a_broker_told_says_whether_it_expired(
    told_at: int, last_listed_at: int, lost_at: int, expiry: Expiry
) -> None:
    assert expired_by_beat(Beat(0, 1_000, told_at), 120_000, last_listed_at, lost_at) is expiry


def test_of_a_heartbeat_of_which_nobody_knows_since_when_it_may_be_only_what_is_sure_is_told() -> None:
    beat = Beat(None, 1_000, 119_000)

    assert expired_by_beat(beat, 120_000, 119_900, 121_500) is Expiry.NO
    assert expired_by_beat(beat, 120_000, 121_000, 121_500) is Expiry.SURE


def test_who_tells_heartbeats_lets_go_of_them_after_120_s_however_long_he_waits_for_consumers() -> None:
    beat = Beat(0, 1_000, 61_000)

    assert expired_by_beat(beat, 60_000, 61_000, 62_000) is Expiry.SURE
    assert expired_by_beat(replace(beat, told_at=121_000), 600_000, 121_000, 122_000) is Expiry.SURE


@pytest.mark.parametrize(
    ("east", "west", "departure"),
    [
        ((121_000, 121_500), (121_000, 121_500), Departure.HEARTBEAT_EXPIRED),
        ((119_900, 120_100), (128_000, 129_000), Departure.HEARTBEAT_EXPIRED),  # who is killed is lost by both at once
        ((119_900, 120_100), (119_900, 120_100), Departure.UNKNOWN),
        ((60_000, 61_000), (128_000, 129_000), Departure.UNKNOWN),  # one lost it for another reason
    ],
)
def test_a_heartbeat_expired_if_one_broker_says_so_and_no_other_one_lost_the_member_before(
    east: tuple[int, int], west: tuple[int, int], departure: Departure
) -> None:
    lost = {"east": east, "west": west}
    beats = {broker: Beat(0, 1_000, last) for broker, (last, _) in lost.items()}
    member = KnownMember(west[0], held_at=2_000, hung_at=22_000, lost=lost)

    assert departed(member, west[1], {}, beats)[0] is departure


def test_what_is_told_too_seldom_leaves_what_the_first_question_in_vain_tells() -> None:
    beats = {"east": Beat(0, 1_000, 60_000), "west": Beat(0, 1_000, 60_000)}
    lost = dict.fromkeys(beats, (142_000, 143_000))

    def left(beats: dict[str, Beat]) -> Departure:
        return departed(KnownMember(142_000, held_at=ANSWERED, hung_at=HUNG, lost=lost), 143_000, {}, beats)[0]

    assert left(beats) is Departure.HEARTBEAT_EXPIRED
    assert left({**beats, "west": Beat(22_000, 22_500, 60_000)}) is Departure.UNKNOWN  # it sent one since


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
