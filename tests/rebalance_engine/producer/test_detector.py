from tests.rebalance_engine.producer.world import happened

ON_TWO = "route orders east:1 west:1"
FAILED = ("client java 5.3.0 avoids_faults detects luck=1", "start", ON_TWO, "broker east down", "send orders")


def probes(said: list[str]) -> list[str]:
    return [text.removeprefix("probes ").partition(":")[0] for text in said if text.startswith("probes")]


def test_every_3_s_each_broker_of_the_table_is_probed_in_turn() -> None:
    assert probes(happened(*FAILED, "wait 2996")) == []
    assert probes(happened(*FAILED, "wait 3000")) == ["east", "west"]
    assert probes(happened(*FAILED, "wait 9000")) == ["east", "west"] * 3


def test_a_broker_is_probed_no_sooner_than_the_interval_after_the_last_time() -> None:
    slowly = ("client java 5.3.0 avoids_faults detects detect_interval_ms=7000 luck=1", *FAILED[1:])

    assert [len(probes(happened(*slowly, f"wait {ms}"))) for ms in (3_000, 9_000, 12_000, 21_000)] == [2, 2, 4, 6]


def test_a_probe_that_succeeds_makes_reachable_and_shortens_nothing() -> None:
    lines = (*FAILED, "broker east takes 1", "wait 3000")

    assert "fact: east is reachable again" in happened(*lines)
    assert happened(*lines, "faults")[0] == "east: 0 ms, available from 10001"


def test_a_probe_that_is_refused_or_late_changes_nothing() -> None:
    for mood in ("refuses 17", "silent", "takes 201"):
        said = happened(*FAILED, f"broker east {mood}", "wait 3300", "faults")
        assert said[0] == "east: 0 ms, available from 10001, unreachable"


def test_a_probe_never_makes_a_broker_unreachable() -> None:
    assert happened(*FAILED, "broker west down", "wait 9000", "faults")[1] == "west: 1 ms, available from 0"


def test_a_broker_of_unknown_address_leaves_the_table() -> None:
    said = happened(*FAILED, "route orders west:1", "wait 33100", "faults")

    assert said == ["west: 1 ms, available from 0"]


def test_probes_wait_for_each_other_and_a_late_round_is_made_up_for() -> None:
    many = "client java 5.3.0 avoids_faults detects detect_timeout_ms=4000 luck=1"
    said = happened(many, "start", ON_TWO, "broker east down", "send orders", "broker east silent", "wait 11002")

    assert probes(said)[:4] == ["east", "west", "east", "west"]  # at 3000 and 7000, then at 7001 and 11001


def test_without_the_switch_or_before_5_1_4_nothing_is_probed() -> None:
    for client in ("java 5.3.0 avoids_faults", "java 5.1.3 avoids_faults detects", "cpp avoids_faults detects"):
        said = happened(f"client {client}", "start", ON_TWO, "broker east down", "send orders", "wait 9000")
        assert probes(said) == []
