"""The kinds of what an application may set: each rule holds a value to one, and gives it as it is used.

Numbers of other libraries, such as NumPy's, are what they stand for, and are Python's own from there on.
"""

from __future__ import annotations

import inspect
import math
import operator
from collections.abc import Callable, Collection
from enum import Enum
from numbers import Real
from typing import SupportsIndex

from rebalance_engine.network.reports import check_url

Rule = Callable[[str, object], object]
"""Takes a name and a value, and gives the value as it is used.

Raises:
    TypeError: it is of another kind.
    ValueError: it makes no sense.
"""

MOST = 2**31 - 1
LONGEST_NAME = 255


def needed(name: str, value: object, what: str) -> str:
    """Say what was seen, and what is needed."""
    shown = repr(value)
    return f"{name} is {shown if len(shown) <= 80 else shown[:77] + '...'}; needed is {what}"


# ---- numbers ----


def whole(least: int, most: int = MOST, *, also: tuple[int | None, ...] = ()) -> Rule:
    """Make the rule of whole numbers from one to another, and of a few besides."""
    others = "".join(f", or {one}" for one in also)
    what = f"a whole number from {least} to {most}{others}"

    def check(name: str, value: object) -> int | None:
        if value is None and None in also:
            return None
        number = as_int(value)
        if number is None:
            raise TypeError(needed(name, value, what))
        if not least <= number <= most and number not in also:
            raise ValueError(needed(name, value, what))
        return number

    return check


def as_int(value: object) -> int | None:
    """Give the int that a value stands for, such as one of NumPy's (``__index__``); None: it is no whole number."""
    if type(value) is int:
        return value
    if isinstance(value, bool) or not isinstance(value, SupportsIndex):
        return None
    try:
        return operator.index(value)
    except TypeError:  # an array has the method, and need not be one number
        return None


def seconds(name: str, value: object) -> float:
    """Take a time that one can wait."""
    number = _as_float(name, value)
    if not 0 <= number <= MOST:
        raise ValueError(needed(name, value, f"0 to {MOST} seconds"))
    return number


def seconds_left(name: str, value: object) -> float:
    """Take what is left of a time, which may be less than nothing."""
    number = _as_float(name, value)
    if not number <= MOST:  # what is no number is not below either
        raise ValueError(needed(name, value, f"at most {MOST} seconds"))
    return number


def _as_float(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real):
        raise TypeError(needed(name, value, "a number of seconds"))
    try:
        return float(value)
    except OverflowError:
        return math.inf


def latencies(name: str, value: object) -> tuple[int, ...] | None:
    """Take the bounds of a table of latencies, or its times."""
    if value is None:
        return None
    given = tuple(map(as_int, value)) if isinstance(value, tuple) else (None,)
    numbers = tuple(one for one in given if one is not None)
    if len(numbers) < len(given):
        raise TypeError(needed(name, value, "a tuple of ms"))
    if not numbers or min(numbers) < 0:
        raise ValueError(needed(name, value, "one number of ms at least, each 0 or more"))
    return numbers


# ---- texts ----


def text(name: str, value: object) -> str:
    """Take any text."""
    if not isinstance(value, str):
        raise TypeError(needed(name, value, "a text"))
    return value


def texts(name: str, value: object) -> object:
    """Take several texts."""
    if isinstance(value, str) or not isinstance(value, Collection) or not all(isinstance(one, str) for one in value):
        raise TypeError(needed(name, value, "several texts"))
    return value


def part_of_id(name: str, value: object) -> str | None:
    """Take a part of a client id; None is as if it were not set."""
    if value is None:
        return None
    given = text(name, value)
    if not 1 <= len(given) <= LONGEST_NAME or not given.isprintable():
        raise ValueError(needed(name, value, f"1 to {LONGEST_NAME} characters, all of which can be seen"))
    return given


def report_url(name: str, value: object) -> str | None:
    """Take the address of a control room; None: there is none."""
    if value is None:
        return None
    given = text(name, value)
    try:
        check_url(given)
    except ValueError as error:
        raise ValueError(f"{name} is {error}") from error
    return given


# ---- everything else ----


def flag(name: str, value: object) -> bool:
    """Take True or False."""
    if not isinstance(value, bool):
        raise TypeError(needed(name, value, "True or False"))
    return value


def one_of(kind: type[Enum]) -> Rule:
    """Make the rule of one of an enum."""
    what = " or ".join(f"{kind.__name__}.{one.name}" for one in kind)

    def check(name: str, value: object) -> object:
        if not isinstance(value, kind):
            raise TypeError(needed(name, value, what))
        return value

    return check


def a(*kinds: type) -> Rule:
    """Make the rule of what is of one of these kinds."""
    what = " or ".join(f"a {kind.__name__}" for kind in kinds)

    def check(name: str, value: object) -> object:
        if not isinstance(value, kinds):
            raise TypeError(needed(name, value, what))
        return value

    return check


def maybe(rule: Rule) -> Rule:
    """Make the rule that takes None too."""
    return lambda name, value: None if value is None else rule(name, value)


def function(name: str, value: object) -> object:
    """Take what can be called; None: there is none."""
    if value is not None and not callable(value):
        raise TypeError(needed(name, value, "a function"))
    return value


def strategy(name: str, value: object) -> object:
    """Take the name of a strategy, or an application's own."""
    if value is None or isinstance(value, str):
        return value
    what = "a name of a strategy, or a plain function (client id, queues, client ids) -> own queues"
    if not callable(value) or is_async(value):
        raise TypeError(needed(name, value, what))
    return value


def is_async(value: Callable[..., object]) -> bool:
    """Whether a call of it gives something to be awaited."""
    return inspect.iscoroutinefunction(value) or inspect.iscoroutinefunction(type(value).__call__)


def version(name: str, value: object) -> object:
    """Take a version of the Java client, or a profile."""
    if not isinstance(value, str) and type(value).__name__ != "Profile":  # theirs are not loaded for this
        raise TypeError(needed(name, value, "a version of the Java client, or a Profile"))
    return value
