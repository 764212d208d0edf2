from __future__ import annotations

import pytest

from dashboard.clusters.calling import LONGEST_NAME, BadName, check_name


@pytest.mark.parametrize("name", ["shop", "orders east", "127.0.0.1:9876", "订单", "עברית", "x" * LONGEST_NAME, "a\\b"])
def test_a_name_that_can_be_seen_is_a_name(name: str) -> None:
    assert check_name(name) == name


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        ("", "0 characters"),
        ("x" * (LONGEST_NAME + 1), "101 characters"),
        ("a\r\nb", "U+000D"),
        ("a\u202eb", "U+202E"),
        ("a\u00a0b", "U+00A0"),
        ("\ud800", "U+D800"),
        (" a", "a blank"),
    ],
)
def test_one_that_could_pose_as_another_line_is_refused(name: str, seen: str) -> None:
    with pytest.raises(BadName, match=seen.replace("+", r"\+")):
        check_name(name)
