from __future__ import annotations

import pytest

from dashboard.health.callers import may_read


@pytest.mark.parametrize(
    ("address", "is_forwarded", "may"),
    [
        ("127.0.0.1", False, True),
        ("::1", False, True),
        ("::ffff:127.0.0.1", False, True),  # as a socket that listens on :: names it
        ("::ffff:10.0.0.1", False, False),
        ("10.0.0.1", False, False),
        ("127.0.0.1", True, False),
        ("", False, False),
    ],
)
def test_without_a_token_callers_on_this_machine_may_read(address: str, is_forwarded: bool, may: bool) -> None:
    assert may_read(address=address, is_forwarded=is_forwarded, authorization="", token="") is may


@pytest.mark.parametrize(
    ("header", "may"), [("Bearer t", True), ("Bearer T", False), ("t", False), ("", False), ("Bearer ü", False)]
)
def test_with_a_token_it_alone_counts(header: str, may: bool) -> None:
    token = "t"  # noqa: S105 - it opens nothing
    for address in ("127.0.0.1", "10.0.0.1"):
        assert may_read(address=address, is_forwarded=False, authorization=header, token=token) is may
