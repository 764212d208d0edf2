from __future__ import annotations

from dataclasses import dataclass

import pytest

from dashboard.groups.kinds import listeners_of, popping_of, programs_of


@dataclass(frozen=True)
class Told:
    language: str = "JAVA"
    version: str = "5.5.0"
    is_orderly: bool | None = False


OLD, MID, PYTHON, MUTE = Told(version="4.9.7"), Told(version="5.3.1"), Told("PYTHON", "5.1.4"), Told("", "", None)


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ([], ""),
        ([Told(), Told()], "Java 5.5.0"),
        ([OLD, Told(), Told()], "Java 5.5.0 (2), Java 4.9.7 (1)"),
        ([Told(), MUTE], "Java 5.5.0 (1), unknown of 1"),
        ([MUTE], "versions unknown"),
        (
            [Told(), OLD, Told(), PYTHON, MID],
            "Java 5.5.0 (2), Java 4.9.7 (1), Java 5.3.1 (1), 1 more version",
        ),
    ],
)
def test_programs_are_counted(members: list[Told], words: str) -> None:
    assert programs_of(members) == words


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([], ""),
        ([True, True], "orderly"),
        ([False], "concurrent"),
        ([True, False, False], "orderly (1), concurrent (2)"),
        ([False, None], "concurrent (1), unknown (1)"),
        ([None], "orderly or concurrent: unknown"),
    ],
)
def test_listeners_are_said_as_far_as_they_are_known(told: list[bool | None], words: str) -> None:
    assert listeners_of([Told(is_orderly=each) for each in told], model="CLUSTERING") == words


def test_in_a_broadcasting_group_everybody_has_everything() -> None:
    assert listeners_of([Told()], model="BROADCASTING") == "broadcasting: every member has every queue"


def test_members_that_pop_are_counted_by_their_own_word() -> None:
    assert popping_of(["CONSUME_PASSIVELY", None]) == ""
    assert popping_of(["CONSUME_POP", None]) == "POP: 1 member takes messages from queues that nobody owns"
