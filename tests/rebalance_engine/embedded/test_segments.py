from pathlib import Path

import pytest

from rebalance_engine.embedded.segments import SegmentedLog


def log(directory: Path) -> SegmentedLog:
    return SegmentedLog(directory, segment_bytes=10, max_bytes=30)


def test_what_was_appended_is_read_by_its_position(tmp_path: Path) -> None:
    written = log(tmp_path)

    positions = [written.append(piece) for piece in (b"one", b"three", b"seven")]

    assert positions == [0, 3, 8]
    assert [written.read(at, 5) for at in positions] == [b"onethr"[:5], b"three", b"seven"]


def test_a_piece_stays_in_one_file_even_one_that_is_too_long(tmp_path: Path) -> None:
    written = log(tmp_path)
    written.append(b"12345678")

    written.append(b"a piece of 19 bytes")

    assert [data for _, data in written.segments()] == [b"12345678", b"a piece of 19 bytes"]


def test_the_oldest_files_go_when_all_are_too_large(tmp_path: Path) -> None:
    written = log(tmp_path)
    for number in range(5):
        written.append(f"piece {number}!!".encode())
        written.drop_oldest()

    assert (written.begin, written.end) == (18, 45)
    assert written.read(0, 9) == b""
    assert written.read(18, 9) == b"piece 2!!"
    assert len(list(tmp_path.iterdir())) == 3


def test_positions_go_on_after_a_restart(tmp_path: Path) -> None:
    before = log(tmp_path)
    for _ in range(6):
        before.append(b"123456789")
        before.drop_oldest()
    before.close()

    after = log(tmp_path)

    assert (after.begin, after.end) == (27, 54)
    assert after.append(b"next") == 54


def test_what_was_half_written_can_be_cut_off(tmp_path: Path) -> None:
    written = log(tmp_path)
    written.append(b"whole")
    written.append(b"hal")

    written.cut(5)

    assert (written.end, written.append(b"next")) == (5, 5)
    assert written.read(0, 9) == b"wholenext"


def test_files_that_overlap_are_refused(tmp_path: Path) -> None:
    (tmp_path / f"{0:020}").write_bytes(b"123456")
    (tmp_path / f"{3:020}").write_bytes(b"123")

    with pytest.raises(ValueError, match="reaches to 6; it needs to end at 3"):
        log(tmp_path)


def test_a_log_without_room_for_one_file_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="segments of 10 in 9 bytes"):
        SegmentedLog(tmp_path, segment_bytes=10, max_bytes=9)
