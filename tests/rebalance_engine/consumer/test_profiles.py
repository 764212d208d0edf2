import pytest

from rebalance_engine.consumer.profiles import CPP, GO, NoMembers, OrderlyRemoval, OrderlyRun, Profile, Truncation, java


@pytest.mark.parametrize(
    ("version", "usable", "in_5", "probes", "in_5_2"),
    [
        ("4.9.4", False, False, False, False),
        ("4.9.5", True, False, False, False),
        ("4.9.7", True, False, False, False),
        ("5.0.0", True, True, True, False),
        ("5.1.4", True, True, True, False),
        ("5.2.0", True, True, True, True),
        ("5.3.1", True, True, True, True),
        ("5.3.2", True, True, False, True),
        ("5.5.0", True, True, False, True),
    ],
)
def test_the_version_matrix(version: str, usable: bool, in_5: bool, probes: bool, in_5_2: bool) -> None:
    profile = java(version)

    assert profile.new_queue_is_locked is usable
    assert (profile.dispatch_delay, profile.lock_retry) == ((500, 500) if in_5 else (0, None))
    assert (profile.knows_assignment, profile.probes_assignment) == (in_5, probes)
    assert (profile.round_floor, profile.round_retry) == ((1_000, 1_000) if in_5_2 else (0, None))
    removal = OrderlyRemoval.FORCES_UNLOCK if in_5_2 else OrderlyRemoval.DELAYS_UNLOCK
    assert (profile.removal, profile.removal_wait) == (removal, 500 if in_5_2 else 1_000)
    assert profile.channel_heartbeat is in_5_2
    assert (profile.repair_delay, profile.repair_wakes) == ((0, True) if in_5_2 else (10_000, False))


@pytest.mark.parametrize("profile", [CPP, GO], ids=str)
def test_cpp_and_go_have_no_floor_no_dispatch_delay_and_do_not_wait_for_listeners(profile: Profile) -> None:
    assert (profile.round_floor, profile.dispatch_delay, profile.removal_wait) == (0, 0, 0)


@pytest.mark.parametrize(
    ("profile", "idles"), [(java("4.9.4"), True), (java("4.9.5"), False), (CPP, False), (GO, False)], ids=str
)
def test_a_new_orderly_queue_idles_until_the_next_renewal_in_java_up_to_4_9_4(profile: Profile, idles: bool) -> None:
    assert profile.idles_until_renewal is idles


def test_java_4_asks_for_locks_even_when_broadcasting() -> None:
    assert java("4.9.7").locks_broadcasting
    assert not java("5.0.0").locks_broadcasting


FLOW = ("queue_messages", "queue_mib", "span", "topic_messages", "topic_mib", "flow_delay", "sync_flow_delay")
DELAYS = ("error_delay", "paused_delay", "busy_delay", "pull_batch", "suspend", "pull_timeout")


@pytest.mark.parametrize(
    ("profile", "flow", "delays"),
    [
        (java("4.9.7"), (1_000, 100, 2_000, -1, -1, 50, None), (1_000, 1_000, 20, 32, 15_000, 30_000)),
        (java("5.5.0"), (1_000, 100, 2_000, -1, -1, 50, None), (1_000, 1_000, 20, 32, 15_000, 30_000)),
        (CPP, (1_000, None, None, -1, -1, 3_000, 1_000), (1_000, 1_000, None, 32, 15_000, 30_000)),
        (GO, (1_024, 512, 1_000, 102_400, 51_200, 50, None), (3_000, 30_000, None, 32, 20_000, 30_000)),
    ],
    ids=str,
)
def test_the_pull_path_has_each_client_s_numbers(profile: Profile, flow: tuple, delays: tuple) -> None:
    assert tuple(getattr(profile, name) for name in FLOW) == flow
    assert tuple(getattr(profile, name) for name in DELAYS) == delays
    assert profile.pull_bytes == (262_144 if profile.knows_assignment else None)


TIMEOUTS = ("list_timeout", "offset_timeout", "end_timeout", "back_timeout", "pull_timeout")


@pytest.mark.parametrize(
    ("profile", "timeouts"),
    [
        (java("4.9.7"), (3_000, 5_000, 6_000, 5_000, 30_000)),
        (java("5.5.0"), (3_000, 5_000, 6_000, 5_000, 30_000)),
        (CPP, (5_000, 5_000, 3_000, 3_000, 30_000)),
        (GO, (3_000, 3_000, 3_000, 3_000, 30_000)),
    ],
    ids=str,
)
def test_each_client_waits_so_long_for_answers(profile: Profile, timeouts: tuple) -> None:
    assert tuple(getattr(profile, name) for name in TIMEOUTS) == timeouts


@pytest.mark.parametrize("version", ["4.9.4", "5.1.4", "5.5.0"])
def test_what_no_java_client_does(version: str) -> None:
    profile = java(version)

    assert (profile.renewal_first, profile.renewal_every, profile.pull_max_idle) == (1_000, 20_000, 120_000)
    assert profile.unregisters and profile.unlocks_all and profile.notes_unlocks
    assert profile.bumps_version and profile.divides_for_polls and profile.pulls_to_the_end
    assert not profile.offset_can_fall and profile.stores_dropped and profile.orderly_run is OrderlyRun.MINUTE
    assert not profile.clears_dropped and not profile.sends_back_dropped and not profile.awaits_listeners
    assert not profile.gives_whole_pulls and not profile.notes_nothing_stored and not profile.reads_whole_file
    assert not profile.removes_at_random and not profile.renews_by_topic and not profile.sorts_queues
    assert profile.finds_by_time and not profile.reads_time_as_utc and profile.refused_renewal_unlocks
    assert not profile.notices_group_only and profile.version_unit == 1 and profile.pulls_with_version


def test_other_languages_differ_as_the_specification_says() -> None:
    assert (CPP.round_every, GO.round_every, java("5.5.0").round_every) == (10_000, 20_000, 20_000)
    assert CPP.notices_group_only and not GO.notices_group_only
    assert (CPP.no_members, GO.no_members) == (NoMembers.THROWS, NoMembers.DROPS)
    assert (CPP.truncation, GO.truncation) == (Truncation.NEVER, Truncation.STORES)
    assert (CPP.removal, GO.removal) == (OrderlyRemoval.UNLOCKS, OrderlyRemoval.KEEPS_LOCK)
    assert GO.version_unit == 1_000_000 and not CPP.bumps_version
    assert CPP.pulls_with_version and not GO.pulls_with_version
    assert CPP.unregisters and not GO.unregisters
    assert (CPP.repair_delay, GO.repair_delay) == (None, 10_000)
    assert CPP.offset_can_fall and not GO.offset_can_fall
    assert (CPP.orderly_run, GO.orderly_run) == (OrderlyRun.ONE_LOOK, OrderlyRun.UNBROKEN)
    assert CPP.removes_while_marking and GO.removes_while_marking and not java("5.5.0").removes_while_marking
    assert (CPP.renews_dropped, GO.renews_dropped) == (CPP.stores_dropped, GO.stores_dropped) == (False, True)
    assert CPP.sends_back_dropped and not GO.sends_back_dropped
    assert not CPP.pulls_to_the_end and not GO.pulls_to_the_end
    assert CPP.notes_unlocks and not GO.notes_unlocks
    assert CPP.renews_by_topic and CPP.sorts_queues and not GO.renews_by_topic and not GO.sorts_queues
    assert not CPP.new_queue_is_locked and not GO.new_queue_is_locked
    assert GO.notes_nothing_stored and not CPP.notes_nothing_stored
    assert CPP.round_floor == GO.round_floor == 0 and CPP.round_retry is GO.round_retry is None


def test_a_profile_says_what_travels_on_the_wire() -> None:
    assert java("4.9.7").version_number == 407
    assert java("5.1.4").version_number == 441
    assert str(java("5.3.2-SNAPSHOT")) == "java 5.3.2-SNAPSHOT"


@pytest.mark.parametrize("version", ["4.8.0", "five", "5", ""])
def test_an_unknown_version_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"the (Java )?client is"):
        java(version)
