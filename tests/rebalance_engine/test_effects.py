"""What machines hear and ask for: values that no driver can change or overlook."""

from __future__ import annotations

import inspect
from dataclasses import FrozenInstanceError, is_dataclass
from typing import get_args

import pytest

from rebalance_engine import effects


def declared() -> set[type]:
    return {each for _, each in inspect.getmembers(effects, inspect.isclass) if is_dataclass(each)}


def test_every_value_is_heard_or_asked_for() -> None:
    assert declared() == {*get_args(effects.Heard), *get_args(effects.Effect)}


def test_a_value_cannot_be_changed_by_its_driver() -> None:
    wake = effects.WakeAt(at=20_000, timer="rebalance")

    with pytest.raises(FrozenInstanceError):
        wake.at = 0  # type: ignore[misc]


def test_equal_requests_are_equal_values() -> None:
    assert effects.Send(to="east:1", request="r", token=1, timeout_ms=3000) == effects.Send(
        to="east:1", request="r", token=1, timeout_ms=3000
    )
