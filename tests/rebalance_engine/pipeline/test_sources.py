import bz2
import errno
import gzip
import lzma
import os
from pathlib import Path

import pytest

from rebalance_engine.pipeline import sources
from rebalance_engine.pipeline.ends import Unpacked, unpacked
from rebalance_engine.pipeline.layouts import BROKER, JAVA5
from rebalance_engine.pipeline.sources import SMALL_BINARY, NoInput, find_files

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
    ("name", "content", "is_missed"),
    [("a.log", gzip.compress(LINE), True), ("a.log.gz", LINE, True), ("a.log.gz", b"", False)],
    ids=["packed but named plain", "plain but named packed", "empty but named packed"],
)
def test_a_name_that_lies_about_packing_is_told(tmp_path: Path, name: str, content: bytes, is_missed: bool) -> None:
    put(tmp_path / "web1" / name, content)

    (file,) = find_files(tmp_path)

    assert (file.is_readable, file.is_missed) == (False, is_missed)


@pytest.mark.parametrize(
    ("content", "says", "is_readable", "is_missed"),
    [
        (b"", "empty", False, False),
        (b"# how to read these\nsee the wiki\n", "no log that is known: its lines are counted", True, False),
        (b"\x7fELF\x02\x01\x00\x00" * 200 + b"\n", "no log that is known: its lines are counted", True, False),
        (bytes(SMALL_BINARY), "no text, and no log that is known", False, False),
        (b"x" * SMALL_BINARY, "no text, and no log that is known", False, False),
        (LINE.decode().encode("utf-16"), "text in UTF-16; make UTF-8 of it", False, True),
        (LINE.decode().encode("utf-16-be"), "text in UTF-16; make UTF-8 of it", False, True),
        (bz2.compress(LINE), "packed by bzip2; unpack it", False, True),
        (lzma.compress(LINE), "packed by xz; unpack it", False, True),
    ],
    ids=[
        "empty",
        "no log",
        "binary",
        "large binary",
        "without lines",
        "UTF-16",
        "UTF-16 without a mark",
        "bzip2",
        "xz",
    ],
)
def test_what_is_no_log_is_named(tmp_path: Path, content: bytes, says: str, is_readable: bool, is_missed: bool) -> None:
    put(tmp_path / "web1" / "a.log", content)

    (file,) = find_files(tmp_path)

    assert says in (file.trouble or "")
    assert (file.is_readable, file.is_missed) == (is_readable, is_missed)


def test_links_that_lead_nowhere_and_pipes_are_named(tmp_path: Path) -> None:
    (tmp_path / "web1").mkdir()
    (tmp_path / "web1" / "a.log").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "web1" / "b.log")

    found = [(file.path, file.trouble, file.is_missed) for file in find_files(tmp_path)]

    assert found == [
        ("web1/a.log", "not read: No such file or directory", True),
        ("web1/b.log", "not read: no plain file", True),
    ]


def test_a_log_that_grows_keeps_its_head_and_gets_another_fingerprint(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "a.log", LINE * 10)
    (before,) = find_files(tmp_path)
    put(tmp_path / "web1" / "a.log", LINE * 20)

    (after,) = find_files(tmp_path)

    assert before.head == after.head
    assert before.fingerprint != after.fingerprint


def test_a_log_that_was_looked_at_in_its_first_line_begins_as_it_did_then(tmp_path: Path) -> None:
    heads = []
    for text in (b"", LINE[:30], LINE * 10, LINE.replace(b"2026", b"2027") * 10):
        put(tmp_path / "web1" / "a.log", text)
        heads += [file.head for file in find_files(tmp_path)]

    empty, short, grown, rolled = heads
    assert short.startswith(empty)
    assert grown.startswith(short)
    assert not rolled.startswith(short)


def test_a_log_that_ends_within_a_line_says_so_and_is_read(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "a.log", LINE * 10 + LINE[:-3])
    put(tmp_path / "web2" / "a.log.gz", gzip.compress(LINE * 10 + LINE[:-3]))

    for file in find_files(tmp_path):
        assert file.is_readable
        assert (file.trouble or "").startswith("cut within its last line")
        assert file.cut.endswith("- hel")


def test_a_packed_file_is_unpacked_once_and_not_again_while_it_stays_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times: list[str] = []

    def counted(path: Path) -> Unpacked:
        times.append(path.parent.name)
        return unpacked(path)

    monkeypatch.setattr(sources, "unpacked", counted)
    for name, text in (("holed", LINE * 9 + b"\0" * 9), ("same", LINE * 10 + LINE[:-3])):
        put(tmp_path / name / "a.log.gz", gzip.compress(text))
    put(tmp_path / "plain" / "a.log", LINE)
    first = find_files(tmp_path)
    put(tmp_path / "holed" / "a.log.gz", gzip.compress(LINE * 9))

    known = {file.path: file.as_row() | {"batch": 1} for file in first}
    second = find_files(tmp_path, known)

    assert times == ["holed", "same", "holed"]
    assert [file.has_padding for file in first] == [True, None, False]
    assert [file.has_padding for file in second] == [False, None, False]
    assert second[1:] == first[1:]


def test_a_copy_that_was_cut_while_the_log_grew_is_a_copy(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "rocketmq_client.log", LINE * 20)
    put(tmp_path / "web1" / "rocketmq_client of before.log", LINE * 10 + LINE[:-3])

    assert [file.path for file in find_files(tmp_path) if file.is_readable] == ["web1/rocketmq_client.log"]


def test_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NoInput, match="is no folder"):
        find_files(tmp_path / "nowhere")


def test_what_a_run_wrote_into_its_input_and_links_back_are_no_input(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "a.log", LINE)
    put(tmp_path / "out" / "_evenkeel.json", b"{}")
    put(tmp_path / "out" / "holds" / "part.parquet", b"PAR1")
    (tmp_path / "web1" / "all").symlink_to(tmp_path)
    (tmp_path / "web2").symlink_to(tmp_path / "web1")

    assert [file.path for file in find_files(tmp_path)] == ["web1/a.log", "web2/a.log"]


def test_what_cannot_be_looked_at_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "web1" / "a.log", LINE)
    put(tmp_path / "web2" / "a.log", LINE)
    put(tmp_path / os.fsdecode(b"web\xff") / "a.log", LINE)
    closed, opens = tmp_path / "web2" / "a.log", Path.open

    def refuse(path: Path, mode: str = "r") -> object:
        if path == closed:
            raise PermissionError(errno.EACCES, "Permission denied", str(path))
        return opens(path, mode)

    monkeypatch.setattr(Path, "open", refuse)

    found = {file.path: (file.trouble, file.is_readable) for file in find_files(tmp_path)}

    assert found == {
        "web1/a.log": (None, True),
        "web2/a.log": ("not read: Permission denied", False),
        "web\\udcff/a.log": ("not read: its name is not UTF-8", False),
    }


def test_a_copy_is_named_and_not_read_whatever_it_is_called(tmp_path: Path) -> None:
    put(tmp_path / "web1" / "rocketmq_client.log", LINE * 20)
    put(tmp_path / "web1" / "rocketmq_client copy [1].log", LINE * 20)
    put(tmp_path / "web1" / "rocketmq_client of before.log", LINE * 10)
    put(tmp_path / "web1" / "rocketmq_client-1.log.gz", gzip.compress(LINE * 20))
    put(tmp_path / "web1" / "went_on.log", LINE * 5 + LINE.replace(b"hello", b"there"))
    put(tmp_path / "web2" / "rocketmq_client.log", LINE * 20)

    found = find_files(tmp_path)

    assert {file.path for file in found if file.is_readable} == {
        "web1/rocketmq_client.log",
        "web1/went_on.log",
        "web2/rocketmq_client.log",
    }
    assert not any(file.is_missed for file in found)
    assert {file.trouble for file in found if not file.is_readable} == {"not read: a copy of web1/rocketmq_client.log"}
