import pytest

from rebalance_engine.simulation.whole_numbers import whole_number


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("7", 7),
        ("007", 7),
        ("0" * 19 + "7", 7),
        ("0" * 20 + "7", None),
        ("9" * 5_000, None),
        ("1", None),
        ("9", 9),
        ("10", None),
        ("", None),
        ("-7", None),
        (" 7", None),
        ("7_7", None),
        ("²", None),
        ("\u0667", None),  # seven, in Arabic
    ],
)
def test_a_number_is_read_whole_or_not_at_all(word: str, number: int | None) -> None:
    assert whole_number(word, 2, 9) == number
