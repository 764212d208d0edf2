import zlib

import lz4.frame  # type: ignore[import-untyped]  # has no types of its own
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.compression import compress, inflate
from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.sysflags import Compression
from tests.rebalance_engine.remoting.work import attempt, is_linear

KINDS = pytest.mark.parametrize("kind", Compression)


@KINDS
@given(body=st.binary(max_size=2_000))
def test_a_body_is_inflated_as_it_was_compressed(kind: Compression, body: bytes) -> None:
    assert inflate(kind, compress(kind, body), max_size=len(body)) == body


@KINDS
@given(body=st.binary(max_size=100))
def test_any_bytes_are_a_body_or_broken(kind: Compression, body: bytes) -> None:
    assert isinstance(attempt(lambda: inflate(kind, body)), bytes | BrokenMessage)


@KINDS
def test_what_is_something_else_is_broken(kind: Compression) -> None:
    with pytest.raises(BrokenMessage, match=f"no {kind.name}"):
        inflate(kind, b"hello, world")


@KINDS
def test_what_ends_early_is_broken(kind: Compression) -> None:
    compressed = compress(kind, b"hello, world" * 100)

    for length in range(len(compressed)):
        with pytest.raises(BrokenMessage):
            inflate(kind, compressed[:length])


@KINDS
def test_what_stands_after_the_end_is_passed_over(kind: Compression) -> None:
    assert inflate(kind, compress(kind, b"hello") + b"world") == b"hello"


@KINDS
def test_a_bomb_is_broken(kind: Compression) -> None:
    bomb = compress(kind, bytes(100_000_000))

    assert len(bomb) < 1_000_000
    with pytest.raises(BrokenMessage, match="inflates to more than 1000000"):
        inflate(kind, bomb, max_size=1_000_000)


def test_a_zstd_frame_that_wants_a_huge_window_is_broken() -> None:
    compressor = zstandard.ZstdCompressor(
        compression_params=zstandard.ZstdCompressionParameters(window_log=27, enable_ldm=True)
    ).compressobj()

    with pytest.raises(BrokenMessage, match="no ZSTD"):
        inflate(Compression.ZSTD, compressor.compress(b"hello") + compressor.flush())


@KINDS
def test_the_work_grows_with_the_size(kind: Compression) -> None:
    assert is_linear(lambda size: lambda: inflate(kind, b"\x00" * size), 10_000)
    assert is_linear(lambda size: lambda: inflate(kind, compress(kind, zlib.compress(b"x") * size)), 10_000)


def test_what_java_compresses_is_inflated() -> None:
    # Java's LZ4FrameOutputStream: 4 MB blocks, independent, no size, no checksum of the content
    framed = lz4.frame.compress(b"hello", block_size=lz4.frame.BLOCKSIZE_MAX4MB, store_size=False)

    assert inflate(Compression.LZ4, framed) == b"hello"
