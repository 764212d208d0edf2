from pathlib import Path

import pytest

from rebalance_engine.pipeline.notes import ClusterNotes, Notes, OtherVersion, read_notes


def test_notes_are_read_as_they_were_written(tmp_path: Path) -> None:
    east = ClusterNotes(files={"a.log": {"fingerprint": "1"}}, zones={"web1 java4": "0"}, read_by="5", is_finished=True)
    notes = Notes(clusters={"east": east}, partitions={"costs": {"east/2026-11-21": "1"}}, dead=[["a.log", 1]])

    notes.save(tmp_path)

    assert read_notes(tmp_path) == notes


def test_a_folder_without_notes_has_new_ones(tmp_path: Path) -> None:
    assert read_notes(tmp_path) == Notes()


@pytest.mark.parametrize(
    "text",
    [
        '{"version": 2, "fil',
        "[1]",
        '{"version": 2, "clusters": 1}',
        '{"version": 2, "clusters": {"a": 1}}',
        '{"version": 2, "more": 1}',
    ],
)
def test_damaged_notes_are_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "_evenkeel.json").write_text(text)

    with pytest.raises(OtherVersion, match="is damaged"):
        read_notes(tmp_path)


@pytest.mark.parametrize("version", [1, 99])
def test_notes_of_another_version_are_refused(tmp_path: Path, version: int) -> None:
    (tmp_path / "_evenkeel.json").write_text(f'{{"version": {version}}}')

    with pytest.raises(OtherVersion, match=f"version {version}"):
        read_notes(tmp_path)
