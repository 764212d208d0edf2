"""When brokers heard last of clients, by our clock; and when they are asked often."""

from dataclasses import replace

import pytest

from rebalance_engine.network.system_groups import INNER_PRODUCER
from rebalance_engine.network.watcher.beats import Beats
from rebalance_engine.network.watcher.known import Beat
from rebalance_engine.remoting.bodies.clients import ProducerInfo, ProducerTableInfo
from tests.rebalance_engine.network.watcher.seeing import by

HOUR_MS = 3_600_000


def table(*heard: tuple[str, int]) -> ProducerTableInfo:
    """What a broker tells: clients, and when it heard of each by its own clock."""
    infos = tuple(ProducerInfo(client_id=client, last_update_timestamp=at) for client, at in heard)
    return ProducerTableInfo(data={INNER_PRODUCER: infos, "orders": (ProducerInfo(client_id="P"),)})


def knowing(ahead: int, beat: int = 40_000, at: int = 61_000) -> Beats:
    """The clock of east is ahead by so much; it heard of A then, by our clock."""
    beats = Beats()
    beats.clock_heard("east", (60_000 + ahead) // 1_000 * 1_000, replace(by(60_010), asked_at=60_000))
    beats.heard("east", table(("A", beat + ahead)), replace(by(at + 10), asked_at=at))
    return beats


@pytest.mark.parametrize("ahead", [0, HOUR_MS, -30_000])
def test_a_brokers_time_is_ours_within_a_second_however_far_its_clock_is_off(ahead: int) -> None:
    assert knowing(ahead).of("A") == {"east": Beat(39_000, 40_010, 61_000)}


def test_every_further_look_at_the_clock_makes_it_closer_until_it_is_set() -> None:
    beats = knowing(0)
    beats.clock_heard("east", 119_000, replace(by(119_910), asked_at=119_900))  # 900 ms later in a second
    beats.heard("east", table(("A", 100_000)), by(120_000))
    close = beats.of("A")["east"]
    beats.clock_heard("east", 180_000 + HOUR_MS, replace(by(180_010), asked_at=180_000))
    beats.heard("east", table(("A", 170_000 + HOUR_MS)), by(181_000))

    assert (close.earliest, close.latest) == (99_900, 100_010)
    assert beats.of("A") == {"east": Beat(169_000, 170_010, 181_000)}


def test_where_a_broker_does_not_tell_its_time_no_heartbeat_is_later_than_the_answer_that_tells_it() -> None:
    beats = Beats()
    beats.clock_heard("east", None, by(60_000))
    beats.heard("east", table(("A", HOUR_MS), ("B", HOUR_MS + 25_000)), by(61_000))

    assert beats.of("A") == {"east": Beat(None, 36_000, 61_000)}


def test_a_clock_that_was_set_ahead_since_it_was_asked_counts_no_more() -> None:
    beats = knowing(0)
    beats.heard("east", table(("A", HOUR_MS)), by(62_000))

    assert beats.of("A") == {"east": Beat(None, 62_000, 62_000)}


def test_who_is_told_no_more_is_known_to_be_gone_for_a_while_and_of_two_under_one_id_the_later_counts() -> None:
    beats = knowing(0)
    beats.heard("east", table(("B", 61_000), ("B", 50_000)), by(62_000))
    gone = beats.of("A")["east"].gone_at
    beats.heard("east", table(), by(63_000))
    kept = beats.of("A")["east"].gone_at
    beats.heard("east", table(), by(HOUR_MS))
    beats.heard("east", table(), by(2 * HOUR_MS))

    assert (gone, kept, beats.of("A")) == (62_000, 62_000, {})
    assert knowing(0).of("B") == {}


def test_a_broker_that_is_too_old_to_tell_knows_nobody() -> None:
    beats = Beats()
    beats.heard("east", None, by(1_000))

    assert (beats.of("A"), beats.due({"A"}, 200_000)) == ({}, frozenset())


@pytest.mark.parametrize(("at", "is_due"), [(155_000, False), (156_000, True), (190_000, True)])
def test_a_broker_is_asked_often_from_just_before_a_heartbeat_expires(at: int, *, is_due: bool) -> None:
    beats = knowing(0)

    assert beats.due({"A"}, at) == (frozenset({"east"}) if is_due else frozenset())
    assert not beats.due({"B"}, at)
    assert not beats.due(set(), at)


def test_a_broker_is_asked_often_no_more_once_it_let_go_or_had_another_heartbeat_or_does_not_tell() -> None:
    gone, heard, late, mute = (knowing(0) for _ in range(4))
    gone.heard("east", table(), by(165_000))
    heard.heard("east", table(("A", 150_000)), by(165_000))
    late.heard("east", table(("A", 40_000)), by(190_000))
    mute.missed("east", 165_000)

    assert [each.due({"A"}, 166_000) for each in (gone, heard, late, mute)] == [frozenset()] * 4
    assert mute.due({"A"}, 175_000) == {"east"}


def test_brokers_that_wait_for_another_time_are_asked_by_that_but_not_past_120_s() -> None:
    short, long, unsaid = (knowing(0) for _ in range(3))
    short.expiry_heard("east", 60_000)
    long.expiry_heard("east", 600_000)
    unsaid.expiry_heard("east", 60_000)
    unsaid.expiry_heard("east", None)

    assert [bool(each.due({"A"}, 100_000)) for each in (short, long, unsaid)] == [True, False, False]
    assert [bool(each.due({"A"}, 160_000)) for each in (short, long, unsaid)] == [True, True, True]
