from __future__ import annotations

from dashboard.groups.lane import Lane
from tests.dashboard.story import T0


def lane(unowned: tuple[int | None, int | None], *, client: str = "A", taken: int | None = T0 + 5) -> Lane:
    return Lane("orders", "east", 0, client, "B", T0, taken, None, unowned, (0, 0), is_waiting=taken is None)


def test_what_lasts_is_worse_than_what_is_known_and_that_than_what_is_possible() -> None:
    lasting, known, possible = lane((5, 9), taken=None), lane((7, 9)), lane((0, 900))

    assert lasting.weight > known.weight > possible.weight
    assert (known.is_gap, possible.is_gap, possible.is_perhaps_gap) == (True, False, True)


def test_who_took_what_nobody_had_is_told_from_who_was_seen_first_with_it() -> None:
    assert lane((0, 0), client="").is_from_nobody
    assert not lane((0, 0)).is_from_nobody
    assert not Lane(
        "orders", "east", 0, "", "B", None, T0, None, (0, 0), (0, 0), is_waiting=False, is_first_seen=True
    ).is_from_nobody
