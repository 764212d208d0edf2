from __future__ import annotations

import pytest

from dashboard.live.origins import is_ours


@pytest.mark.parametrize(
    ("origin", "host"),
    [
        ("http://shop:8000", "shop:8000"),
        ("https://shop", "shop"),
        ("https://SHOP", "shop"),
        ("http://[::1]:80", "[::1]:80"),
    ],
)
def test_a_page_of_this_host_is_ours(origin: str, host: str) -> None:
    assert is_ours(origin, host)


@pytest.mark.parametrize(
    "origin",
    [
        None,
        "",
        "null",
        "http://evil",
        "http://shop:8001",
        "http://shop.evil",
        "ftp://shop:8000",
        "http://[",
        "shop:8000",
    ],
)
def test_any_other_page_is_not(origin: str | None) -> None:
    assert not is_ours(origin, "shop:8000")
    assert not is_ours(origin, None)


def test_trusted_origins_are_ours() -> None:
    assert is_ours("https://rocket.example", "10.0.0.7:8000", ["https://rocket.example"])


def test_a_host_that_is_trusted_over_one_scheme_is_not_over_another() -> None:
    assert not is_ours("http://rocket.example", "rocket.example", ["https://rocket.example"])
    assert is_ours("https://rocket.example", "rocket.example", ["https://rocket.example"])
