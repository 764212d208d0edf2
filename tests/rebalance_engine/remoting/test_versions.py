import pytest

from rebalance_engine.remoting.versions import ANNOUNCED, Release, changed_until, release, version_name, version_number

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


@pytest.mark.parametrize(
    ("text", "read"), [("5.3.1", (5, 3, 1)), ("5.3", (5, 3, 0)), ("5.3.4-SNAPSHOT", (5, 3, 4)), ("4.9.10", (4, 9, 10))]
)
def test_a_release_is_read(text: str, read: Release) -> None:
    assert release(text, "it") == read


@pytest.mark.parametrize("text", ["", "5", "5.3.1.2", "v5.3", "5.x", "5.3.12345"])
def test_what_is_no_release_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="the broker is"):
        release(text, "the broker")


def test_changes_add_up_to_a_release() -> None:
    changes = {"5.0.0": {"a": 1, "b": 1}, "5.2.0": {"a": 2}, "5.3.0": {"a": 3}}

    assert changed_until("4.9.9", "4.9.0", changes, "it") == {}
    assert changed_until("5.2.9", "4.9.0", changes, "it") == {"a": 2, "b": 1}
    with pytest.raises(ValueError, match="known is 4"):
        changed_until("4.8.9", "4.9.0", changes, "it")
