import pytest

from rebalance_engine.remoting.versions import ANNOUNCED, version_name, version_number

# what MQVersion.values() of the released 5.5.0 says
NUMBERS = {
    "4.1.0-SNAPSHOT": 232,
    "4.6.0": 333,
    "4.9.3": 399,
    "4.9.4": 401,
    "4.9.7": 407,
    "4.9.8": 409,
    "5.0.0": 413,
    "5.1.0": 433,
    "5.1.4": 441,
    "5.2.0": 453,
    "5.3.0": 473,
    "5.3.1": 475,
    "5.3.3": 479,
    "5.4.0": 493,
    "5.5.0": 513,
}


@pytest.mark.parametrize(("name", "number"), NUMBERS.items())
def test_a_number_stands_for_its_release(name: str, number: int) -> None:
    assert version_name(number) == name
    assert name.endswith("SNAPSHOT") or version_number(name) == number


@pytest.mark.parametrize("number", [-1, 0, 62, 211, 612, 40_000])
def test_a_number_without_a_rule_is_shown_as_it_is(number: int) -> None:
    assert version_name(number) == str(number)


@pytest.mark.parametrize("name", ["3.4.9", "6.0.0", "5.10.0", "5.1", "five"])
def test_no_number_is_made_up(name: str) -> None:
    with pytest.raises(ValueError, match="it needs to be"):
        version_number(name)


def test_we_announce_a_release_that_owes_no_obedience_to_go_away() -> None:
    assert version_name(ANNOUNCED) == "5.1.4"
