from __future__ import annotations

import pytest

from dashboard.groups.bands import Step
from dashboard.groups.cells import bands_of, cells_of
from dashboard.groups.lag import Waiting
from dashboard.groups.lately import Lately
from dashboard.groups.shares import Lasted
from tests.dashboard.story import T0

QUIET = Lately(T0, Lasted(), Lasted())


def texts(each: Lately) -> dict[str, tuple[str, str]]:
    return {name: (cell["text"].replace("\u00a0", " "), cell["mark"]) for name, cell in cells_of(each).items()}


def test_figures_carry_their_bounds() -> None:
    each = Lately(T0, Lasted(1_000, 2_000, 3_000), Lasted(0, 400, 900), twice=27, waiting=Waiting(874, False, None, T0))

    assert texts(each) == {
        "unowned": ("1.0 s – 3.0 s", "bound"),
        "overlap": ("≤ 900 ms", "bound"),
        "twice": ("≥ 27", "bound"),
        "lag": ("≥ 874", "bound"),
    }
    assert cells_of(each)["lag"]["below"] == "age unknown"


def test_what_is_exact_since_the_first_look_has_the_mark_of_it() -> None:
    each = Lately(T0, Lasted(1_000, 1_000, 1_000), Lasted(), first_at=T0 - 60_000)

    assert texts(each)["unowned"] == ("1.0 s", "exact")
    assert texts(each)["overlap"] == ("0", "exact")
    assert cells_of(each)["unowned"]["below"].startswith("since ")


def test_what_is_unknown_is_no_zero() -> None:
    assert texts(Lately(T0, None, None)) == dict.fromkeys(("unowned", "overlap", "twice", "lag"), ("–", "unknown"))
    assert texts(Lately(T0, Lasted(), Lasted(), is_open=True, has_most=False))["unowned"] == ("–", "unknown")
    assert texts(Lately(T0, Lasted(500, 500, 900), Lasted(), is_open=True, has_most=False))["unowned"] == (
        "≥ 500 ms",
        "bound",
    )


def test_a_bound_that_cannot_be_false_is_not_told() -> None:
    cells = cells_of(Lately(T0, None, None, twice=0, waiting=Waiting(0, False, None, T0)))

    assert [(cells[name]["text"], cells[name]["mark"]) for name in ("twice", "lag")] == [("–", "unknown")] * 2
    assert cells["twice"]["note"].startswith("none is known")


@pytest.mark.parametrize(
    ("each", "word"),
    [
        (Lately(T0, Lasted(0, 0, 48_000), Lasted(), is_open=True), "; not everybody answers"),
        (Lately(T0, Lasted(0, 0, 48_000), Lasted(), was_open=True), "; not everybody answered all the time"),
    ],
)
def test_who_did_not_answer_is_told_of_his_time(each: Lately, word: str) -> None:
    cell = cells_of(each)["unowned"]

    assert (cell["text"].replace("\u00a0", " "), cell["note"].endswith(word)) == ("≤ 48.0 s", True)
    assert cells_of(each)["overlap"]["text"] == "0"


def test_nothing_is_a_plain_zero() -> None:
    assert texts(QUIET)["unowned"] == ("0", "exact")
    assert texts(Lately(T0, Lasted(), Lasted(), waiting=Waiting(0, True, None, T0)))["lag"] == ("0", "exact")


def test_lag_says_how_long_the_first_message_waits_at_most_and_of_when_that_is() -> None:
    cell = cells_of(Lately(T0, None, None, waiting=Waiting(5, True, T0 - 12_000, T0)))["lag"]

    assert (cell["text"], cell["below"]) == ("5", "≤\u00a012.0\u00a0s")
    assert "22:13:20" in cell["note"]


def test_lag_that_is_older_than_it_should_be_shows_its_age_and_is_not_exact() -> None:
    cell = cells_of(Lately(T0 + 510_000, Lasted(), Lasted(), waiting=Waiting(0, True, None, T0)))["lag"]

    assert (cell["text"], cell["mark"], cell["below"]) == ("0", "old", "as of 8\u00a0min\u00a030\u00a0s ago")
    fresh = cells_of(Lately(T0 + 60_000, Lasted(), Lasted(), waiting=Waiting(0, True, None, T0)))["lag"]
    assert (fresh["mark"], fresh["below"]) == ("exact", "")
    some = cells_of(Lately(T0 + 510_000, Lasted(), Lasted(), waiting=Waiting(7, False, None, T0)))["lag"]
    assert (some["text"], some["mark"], some["below"]) == ("≥\u00a07", "bound", "as of 8\u00a0min\u00a030\u00a0s ago")


@pytest.mark.parametrize(
    ("each", "word"),
    [(Lately(T0, None, None), "not looked at yet"), (Lately(T0, None, None, is_too_much=True), "too much")],
)
def test_a_dash_says_why(each: Lately, word: str) -> None:
    assert word in cells_of(each)["unowned"]["note"]


def test_owners_of_a_broadcasting_group_are_not_unknown_they_do_not_apply() -> None:
    shared = cells_of(Lately(T0, None, None, is_shared=True))

    assert (shared["unowned"]["text"], shared["overlap"]["mark"]) == ("n/a", "none")
    assert shared["unowned"]["note"].startswith("broadcasting")


def test_bands_are_plain() -> None:
    each = Lately(T0, Lasted(), Lasted(), (Step(T0 - 5, T0, 2),), ())

    assert bands_of(each) == {"none": [[T0 - 5, T0, 2]], "perhaps_none": [], "two": [], "until": T0}
