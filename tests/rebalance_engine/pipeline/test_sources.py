import gzip
from pathlib import Path

import pytest

from rebalance_engine.pipeline.layouts import BROKER, JAVA5
from rebalance_engine.pipeline.sources import NoInput, SourceFile, find_files

LINE = b"2026-11-21 16:13:42.651 INFO  [1] [main] [o.a.r.X#?:?] - hello\n"


def put(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def test_a_files_first_folder_is_its_host(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "other_days" / "rocketmq_client-1.log", LINE)
    put(tmp_path / "east" / "broker.log", b"2026-11-21 16:17:58 INFO main - hello\n")

    found = {file.path: (file.host, file.layout) for file in find_files(tmp_path)}

    assert found == {
        "web1/other_days/rocketmq_client-1.log": ("web1", JAVA5),
        "east/broker.log": ("east", BROKER),
    }


def test_a_file_without_a_folder_is_of_the_input_itself(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "rocketmq_client.log", LINE)

    (file,) = find_files(tmp_path / "web1")

    assert file.host == "web1"


def test_hidden_files_are_left_alone(tmp_path: Path) -> None:
    put(tmp_path / ".git" / "x.log", LINE)
    put(tmp_path / "_SUCCESS", b"")

    assert find_files(tmp_path) == []


def test_a_packed_file_is_looked_into(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "a.log.gz", gzip.compress(LINE))

    (file,) = find_files(tmp_path)

    assert (file.layout, file.trouble) == (JAVA5, None)


def test_a_cut_packed_file_is_read_as_far_as_it_goes_and_says_so(tmp_path: Path) -> None:
    whole = gzip.compress(b"".join(LINE.replace(b"hello", f"{n}".encode() * 40) for n in range(500)))
    put(tmp_path / "web1" / "a.log.gz", whole[: len(whole) // 2])

    (file,) = find_files(tmp_path)

    assert file.is_readable
    assert file.layout is JAVA5
    assert file.trouble is not None
    assert "cut" in file.trouble


@pytest.mark.parametrize(
    ("name", "content"),
    [("a.log", gzip.compress(LINE)), ("a.log.gz", LINE), ("a.log.gz", b"")],
    ids=["packed but named plain", "plain but named packed", "empty but named packed"],
)
def test_a_name_that_lies_about_packing_is_told(tmp_path: Path, name: str, content: bytes) -> None:
    put(tmp_path / "web1" / name, content)

    (file,) = find_files(tmp_path)

    assert not file.is_readable


def test_a_log_that_grows_keeps_its_head_and_gets_another_fingerprint(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "a.log", LINE * 10)
    (before,) = find_files(tmp_path)
    put(tmp_path / "web1" / "a.log", LINE * 20)

    (after,) = find_files(tmp_path)

    assert before.head == after.head
    assert before.fingerprint != after.fingerprint


def test_a_file_survives_as_a_row(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "a.log", LINE)
    (file,) = find_files(tmp_path)

    assert SourceFile.of_row(file.as_row()) == file


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoInput, match="is no folder"):
        find_files(tmp_path / "nowhere")
