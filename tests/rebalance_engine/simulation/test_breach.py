import pytest

from rebalance_engine.simulation.breach import Breach, Rule, Weather, hold


def test_what_does_not_hold_is_a_breach() -> None:
    hold(1, Rule.ORDER, "one is true")

    with pytest.raises(Breach, match="nothing is") as broken:
        hold((), Rule.ORDER, "nothing is")
    assert broken.value.rule is Rule.ORDER


@pytest.mark.parametrize(
    ("since", "until", "names", "fair"),
    [
        (0, 9, ("A",), True),
        (0, 10, ("A",), False),
        (20, 99, ("A",), False),
        (21, 99, ("A",), True),
        (0, 99, ("B",), True),
        (0, 99, ("B", "A"), False),
    ],
)
def test_the_weather_is_foul_for_whom_and_while_it_is(
    since: int, until: int, names: tuple[str, ...], fair: bool
) -> None:
    weather = Weather()

    weather.turns_foul(10, 20, "A")

    assert weather.was_fair(since, until, *names) is fair


def test_a_storm_without_names_is_everybodys() -> None:
    weather = Weather()

    weather.turns_foul(10, 20)

    assert not weather.was_fair(0, 99, "A")
    assert weather.was_fair(30, 99, "A")


def test_a_pause_is_weather_too_and_a_storm_is_no_pause() -> None:
    weather = Weather()

    weather.stops(10, 20, "A")
    weather.turns_foul(30, 40, "A")

    assert [weather.was_awake(since, since + 5, "A") for since in (0, 8, 20, 35)] == [True, False, False, True]
    assert weather.was_awake(10, 20, "B")
