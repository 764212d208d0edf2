from __future__ import annotations

from dashboard.demo.script import Down, Going, Join, Recover, Resume, opening
from dashboard.groups.programme import programme, scene_of


def test_every_scene_of_the_first_minute_is_told_in_its_order() -> None:
    scenes = programme()

    assert [scene.second * 1_000 for scene in scenes] == [after for after, _act in opening()]
    assert all(scene.happens and scene.shows for scene in scenes)
    assert {scene.group for scene in scenes} >= {"billing", "payment-ledger", "monthly-report", ""}


def test_a_newcomer_is_told_what_its_group_shows() -> None:
    assert "locks" in scene_of(0, Join("payment-ledger")).shows
    assert "stripes" in scene_of(0, Join("recommendations")).shows
    assert "move" in scene_of(0, Join("billing")).shows


def test_other_acts_have_words_too() -> None:
    assert "away" in scene_of(0, Down("broker-a")).shows
    assert "well" in scene_of(0, Recover("broker-a")).happens
    assert "goes on" in scene_of(0, Resume("billing", "billing-1")).happens
    assert [going.value for going in Going] == ["leave", "crash", "silent"]
