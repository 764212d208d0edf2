"""Frames: a length, a header, a body.

::

    offset  size
    0       4     length of what follows this field
    4       1     serialize type: 0 JSON header, 1 binary header
    5       3     length of the header
    8       ...   header, then body

Sources: ``remoting/.../netty/NettyDecoder.java``; ``remoting/.../protocol/RemotingCommand.java`` (``decode``,
``encodeHeader``, ``getHeaderLength``).
"""

from __future__ import annotations

from collections.abc import Generator
from struct import Struct

from rebalance_engine.remoting.command import Command
from rebalance_engine.remoting.errors import BrokenFrame, LocalProtocolError
from rebalance_engine.remoting.headers import decode_header, encode_header
from rebalance_engine.remoting.streams import StreamReader

# ``NettyDecoder.FRAME_MAX_LENGTH``: a Java peer closes the connection on a longer one. It counts the length field too.
MAX_SENT = 16 * 2**20
# Java does not limit what it sends, and a broker answers some requests with all it has. Ten thousand topics are 3 MB.
MAX_RECEIVED = 64 * 2**20
# Largest known: a remark with a stack trace (10 kB), ``topicList`` with thousands of names. Java would allow 16 MiB.
MAX_HEADER = 2**20

_LENGTH = Struct(">i")
_PREFIX = Struct(">iI")


def encode_frame(command: Command, max_length: int = MAX_SENT) -> bytes:
    """Write one frame.

    Raises:
        LocalProtocolError: it would be longer than a peer accepts, or its header form cannot carry it.
    """
    header = encode_header(command)
    length = _PREFIX.size + len(header) + len(command.body)
    if length > max_length:
        raise LocalProtocolError(f"frame of code {command.code} has {length} bytes; peers accept {max_length}")
    if len(header) > MAX_HEADER:
        raise LocalProtocolError(f"header of code {command.code} has {len(header)} bytes; {MAX_HEADER} is the most")
    prefix = _PREFIX.pack(length - _LENGTH.size, command.header_form << 24 | len(header))
    return b"".join((prefix, header, command.body))


def read_frame(reader: StreamReader, max_length: int = MAX_RECEIVED) -> Generator[None, None, Command]:
    """Read one frame.

    A length that is too large fails as soon as it is there, before anything of that size is kept.

    Raises:
        BrokenFrame: this is no frame, or it is too large.
        EOFError: the stream ended within it.
    """
    (length,) = _LENGTH.unpack((yield from reader.read_exact(_LENGTH.size)))
    if not 4 <= length <= max_length - _LENGTH.size:
        raise BrokenFrame(f"frame has {length} bytes by its length; it needs 4 to {max_length - _LENGTH.size}")
    form, header_length = _split((yield from reader.read_exact(4)), length)
    rest = yield from reader.read_exact(length - 4)
    return decode_header(form, rest[:header_length], rest[header_length:])


def _split(lengths: bytes, length: int) -> tuple[int, int]:
    form, header_length = lengths[0], int.from_bytes(lengths[1:], "big")
    if header_length > min(length - 4, MAX_HEADER):
        raise BrokenFrame(
            f"header has {header_length} bytes by its length; it needs {min(length - 4, MAX_HEADER)} or fewer"
        )
    return form, header_length
