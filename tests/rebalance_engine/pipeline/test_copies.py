"""Which logs are of one process, by when each begins and ends: whole runs of them are told in ``test_shapes``."""

from __future__ import annotations

import pytest

from rebalance_engine.pipeline.copies import GAP_MS, Log, _goes_on, _joined


def log(since: int, until: int, first: str = "persisted all", last: str = "persisted all") -> Log:
    return Log(since, until, {"A": (since, first, until, last)})


@pytest.mark.parametrize(
    ("later", "goings", "is_one"),
    [
        (log(1_000, 2_000), [], True),
        (log(999 + GAP_MS, 200_000), [], True),
        (log(1_000 + GAP_MS + 1, 200_000), [], False),
        (log(900, 2_000), [], False),
        (log(1_500, 2_000, first="instance made"), [], False),
        (log(1_500, 2_000), [("shop", "A", 1_200)], False),
        (log(1_500, 2_000), [("shop", "B", 1_200), ("elsewhere", "A", 1_200), ("shop", "A", 1_600)], True),
    ],
    ids=["at once", "a gap", "too long a gap", "beside it", "begins anew", "seen to go", "others, or later"],
)
def test_a_log_goes_on_where_another_one_breaks_off(
    later: Log, goings: list[tuple[str, str, int]], *, is_one: bool
) -> None:
    logs = {("shop", "web1/7"): log(0, 1_000), ("shop", "web2/7"): later}

    assert _goes_on(logs, goings, "shop", "A", "web1/7", "web2/7") is is_one
    assert _goes_on(logs, goings, "shop", "A", "web2/7", "web1/7") is is_one


def test_a_log_that_ends_with_its_instance_goes_on_nowhere() -> None:
    logs = {("shop", "web1/7"): log(0, 1_000, last="instance stopped"), ("shop", "web2/7"): log(1_500, 2_000)}

    assert not _goes_on(logs, [], "shop", "A", "web1/7", "web2/7")


def test_all_parts_are_called_by_the_one_that_begins_first_and_goes_on_longest() -> None:
    logs = {("shop", name): log(*times) for name, times in {"a": (5, 9), "b": (0, 3), "c": (0, 4), "d": (0, 9)}.items()}

    assert _joined([("shop", "a", "b"), ("shop", "b", "c")], logs) == [
        ("shop", "a", "c"),
        ("shop", "b", "c"),
        ("shop", "c", "c"),
    ]
