from __future__ import annotations

from dashboard.groups.first.bar import FirstBar, first_bar

TIME = {"since": 0, "until": 600_000, "rounds": [], "none": [], "two": [], "told_until": None}


def bar(*, at: int = 600_000, looked: int | None = 600_000, is_shared: bool = False, **time: object) -> FirstBar:
    return first_bar({**TIME, **time}, at=at, looked=looked, is_shared=is_shared)


def test_rounds_stand_at_their_time_as_high_as_they_moved() -> None:
    rounds = [
        {"number": 1, "words": "member joined: A", "opened_at": 60_000, "moves": 4},
        {"number": 2, "words": "unknown", "opened_at": 300_000, "moves": None},
    ]

    stems = bar(rounds=rounds).stems

    assert [(stem.x, stem.top, stem.is_known) for stem in stems] == [(10, 16, True), (50, 27, False)]


def test_bands_are_in_percent_and_end_where_the_bar_does() -> None:
    parts = bar(two=[[60_000, 120_000, 2]], none=[[540_000, 900_000, 1]], perhaps_none=[[0, 6_000, 1]]).parts

    assert [(part.look, part.y, part.x, part.width) for part in parts] == [
        ("band-two", 56, 10, 10),
        ("band-none", 70, 90, 10),
        ("band-perhaps", 70, 0, 1),
    ]


def test_what_nobody_looked_at_yet_is_not_shown_as_fine() -> None:
    assert [(part.look, part.x) for part in bar(looked=300_000).parts] == [("band-later", 50)] * 2


def test_since_somebody_does_not_answer_it_is_unknown() -> None:
    parts = bar(looked=300_000, told_until=300_000, doubts=[[0, 60_000]]).parts

    assert [(part.look, part.x, part.width) for part in parts] == [
        ("band-unknown", 0, 10),
        ("band-unknown", 50, 50),
        ("band-unknown", 50, 50),
    ]


def test_a_group_that_broadcasts_has_no_bands_and_a_past_instant_its_place() -> None:
    shared = bar(is_shared=True, looked=0, at=300_000)

    assert (shared.parts, shared.now) == ((), 50)


def test_few_round_instants_are_written() -> None:
    assert [words for _x, words in bar().ticks] == ["00:00:00", "00:05:00", "00:10:00"]
