import pytest

from rebalance_engine.consumer import java
from rebalance_engine.simulation.breach import Breach, Rule, Weather
from rebalance_engine.simulation.pacing import JITTER, Paces
from rebalance_engine.simulation.timers import HEARTBEAT, ON_THE_WAY
from tests.rebalance_engine.simulation.stage import Stage

TOPICS = 2


@pytest.fixture
def paces() -> Paces:
    return Paces(Weather(), TOPICS)


@pytest.mark.parametrize(
    ("version", "gap", "is_right"), [("5.5.0", 950, True), ("5.5.0", 850, False), ("4.9.7", 0, True)]
)
def test_rounds_of_5_2_are_a_second_apart(paces: Paces, version: str, gap: int, is_right: bool) -> None:
    client = Stage(profile=java(version)).a
    paces.asked(client, 10)
    paces.asked(client, 10 + JITTER // 2)

    if is_right:
        paces.asked(client, 10 + gap)
    else:
        with pytest.raises(Breach, match="asked 3 times in 850 ms") as broken:
            paces.asked(client, 10 + gap)
        assert broken.value.rule is Rule.PACE


def test_faults_excuse_requests_that_come_together(paces: Paces) -> None:
    client = Stage().a
    paces.weather.turns_foul(0, 100, "A")

    for _ in range(9):
        paces.asked(client, 50)


def test_a_member_beats_every_half_a_minute(paces: Paces) -> None:
    client = Stage().a
    paces.beat(client, "east", 0)
    paces.beat(client, "west", 20_000)
    paces.beat(client, "east", HEARTBEAT + ON_THE_WAY)

    with pytest.raises(Breach, match="was silent for 33001 ms to east"):
        paces.beat(client, "east", 2 * (HEARTBEAT + ON_THE_WAY) + 1)
