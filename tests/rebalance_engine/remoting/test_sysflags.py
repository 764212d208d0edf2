import pytest

from rebalance_engine.remoting.sysflags import (
    Compression,
    MessageFlag,
    compression_of,
    holds_messages,
    with_compression,
    without_packing,
)


@pytest.mark.parametrize("compression", Compression)
def test_a_compression_is_read_as_it_was_written(compression: Compression) -> None:
    flag = with_compression(MessageFlag.BORN_HOST_V6, compression)

    assert compression_of(flag) is compression
    assert flag & MessageFlag.BORN_HOST_V6


@pytest.mark.parametrize(
    ("flag", "compression"), [(0x0, None), (0x1, Compression.ZLIB), (0x301, Compression.ZLIB), (0x300, None)]
)
def test_the_first_bit_says_whether_and_no_number_is_zlib(flag: int, compression: Compression | None) -> None:
    assert compression_of(flag) is compression


def test_a_number_that_stands_for_no_compression_is_no_compression() -> None:
    with pytest.raises(ValueError, match="4 is not a valid Compression"):
        compression_of(0x401)


@pytest.mark.parametrize(("flag", "holds"), [(0x0, False), (0x40, False), (0x80, False), (0xC0, True), (0xC1, True)])
def test_both_bits_say_that_a_body_holds_messages(flag: int, holds: bool) -> None:
    assert holds_messages(flag) is holds


def test_what_was_unpacked_says_so() -> None:
    assert without_packing(0xC1 | MessageFlag.MULTI_TAGS) == MessageFlag.MULTI_TAGS
