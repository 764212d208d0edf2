"""Compressed bodies.

What comes from a peer may be a bomb, so everything is inflated in steps that are checked.

Sources: ``common/.../compression/ZlibCompressor.java``, ``Lz4Compressor.java`` (frame format), ``ZstdCompressor.java``.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator

import lz4.frame  # type: ignore[import-untyped]  # has no types of its own
import zstandard

from rebalance_engine.remoting.errors import BrokenMessage
from rebalance_engine.remoting.sysflags import Compression

# A Java producer refuses bodies over 4 MiB before it compresses them (``maxMessageSize``); some raise that limit.
MAX_INFLATED = 16 * 2**20
LEVEL = 5  # ``DefaultMQProducerImpl``: ``Message.compressLevel``

# A zstd block of 4 bytes can stand for 128 KiB, so a step of the input inflates to 4 MiB at most.
_ZSTD_STEP = 128
_ZSTD_MAX_WINDOW = 2**23  # what every zstd decoder is asked to support

Inflater = Callable[[bytes, int], "tuple[bytes, bool]"]


def compress(kind: Compression, body: bytes) -> bytes:
    """Compress a body."""
    if kind is Compression.ZLIB:
        return zlib.compress(body, LEVEL)
    if kind is Compression.LZ4:
        return bytes(lz4.frame.compress(body))
    return zstandard.ZstdCompressor(level=LEVEL).compress(body)


def inflate(kind: Compression, body: bytes, max_size: int = MAX_INFLATED) -> bytes:
    """Undo ``compress``; what stands after the end is passed over, as Java's streams do.

    Raises:
        BrokenMessage: it is not compressed so, ends early, or is larger than ``max_size``.
    """
    try:
        inflated, has_ended = _INFLATERS[kind](body, max_size)
    except (zlib.error, RuntimeError, EOFError, zstandard.ZstdError) as error:
        raise BrokenMessage(f"body is no {kind.name}: {error}") from None
    if len(inflated) > max_size:
        raise BrokenMessage(f"body of {len(body)} bytes inflates to more than {max_size}")
    if not has_ended:
        raise BrokenMessage(f"body of {len(body)} bytes is {kind.name} that ends early")
    return inflated


def _inflate_zlib(body: bytes, max_size: int) -> tuple[bytes, bool]:
    inflater = zlib.decompressobj()
    return inflater.decompress(body, max_size + 1), inflater.eof


def _inflate_lz4(body: bytes, max_size: int) -> tuple[bytes, bool]:
    inflater = lz4.frame.LZ4FrameDecompressor()
    return inflater.decompress(body, max_size + 1), inflater.eof


def _inflate_zstd(body: bytes, max_size: int) -> tuple[bytes, bool]:
    inflater = zstandard.ZstdDecompressor(max_window_size=_ZSTD_MAX_WINDOW).decompressobj()
    inflated = bytearray()
    for step in _steps(body):
        inflated += inflater.decompress(step)
        if inflater.eof or len(inflated) > max_size:
            break
    return bytes(inflated), inflater.eof


def _steps(body: bytes) -> Iterator[bytes]:
    return (body[at : at + _ZSTD_STEP] for at in range(0, len(body), _ZSTD_STEP))


_INFLATERS: dict[Compression, Inflater] = {
    Compression.ZLIB: _inflate_zlib,
    Compression.LZ4: _inflate_lz4,
    Compression.ZSTD: _inflate_zstd,
}
