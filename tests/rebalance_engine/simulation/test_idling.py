import pytest

from rebalance_engine.simulation.drawing import draw
from rebalance_engine.simulation.idling import idle
from rebalance_engine.simulation.scenario import read


def found(*lines: str) -> list[tuple[str, str]]:
    """Give the steps that are idle, after A was started at 1."""
    return [(str(step), why) for step, why in idle(read("\n".join(("1 start A go", *lines))).steps)]


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (("5 start A go",), "A runs already; it needs to be stopped or killed before"),
        (("5 kill A", "6 kill A"), "A does not run; it needs to be started before"),
        (("5 die A", "6 stop A"), "A does not run; it needs to be started before"),
        (("5 kill A", "6 pause A 9"), "A does not run; it needs to be started before"),
        (("5 kill A", "6 reset A east"), "A does not run; it needs to be started before"),
        (("5 stop A", "6 kill A", "7 kill A"), "A does not run; it needs to be started before"),
        (("5 stop A", "6 stop A"), "A was told to stop already; once is needed"),
        (("5 pause A 10", "14 pause A 3"), "A stands still until 15; it needs to run"),
        (("5 crash east 10", "14 crash east 3"), "east is down until 15; it needs to be up"),
        (("5 crash east 10", "14 grow orders east 9"), "east is down until 15; it needs to be up"),
    ],
)
def test_the_last_of_these_has_nothing_to_do(lines: tuple[str, ...], why: str) -> None:
    assert found(*lines) == [(lines[-1], why)]


@pytest.mark.parametrize(
    "lines",
    [
        ("5 kill A", "6 start A go", "7 kill A"),
        ("5 stop A", "6 start A go", "7 stop A"),
        ("5 stop A", "6 kill A", "7 start A go"),
        ("5 stop A", "6 pause A 9"),
        ("5 pause A 10", "15 pause A 10"),
        ("5 pause A 10", "6 kill A", "7 start A go", "8 pause A 3"),
        ("5 pause A 10", "6 stop A"),
        ("5 crash east 10", "6 crash west 10", "15 crash east 10"),
        ("5 crash east 10", "6 grow orders west 9"),
        ("0 cut A east 9", "5 cut A east 9"),
    ],
)
def test_each_of_these_does_something(lines: tuple[str, ...]) -> None:
    assert found(*lines) == []


def test_what_does_nothing_changes_nothing() -> None:
    assert [step for step, _ in found("5 start A go", "6 pause A 10", "7 pause A 30", "20 pause A 5")] == [
        "5 start A go",
        "7 pause A 30",
    ]


def test_times_count_and_not_the_order_of_lines() -> None:
    assert found("9 kill A", "5 pause A 2") == []
    assert found("9 pause A 2", "5 kill A") == [("9 pause A 2", "A does not run; it needs to be started before")]


@pytest.mark.parametrize("seed", range(100))
def test_all_that_is_drawn_does_something(seed: int) -> None:
    assert list(idle(draw(seed).steps)) == []
