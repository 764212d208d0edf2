"""What can go wrong between bytes and values, and whose fault it is.

::

    RemotingError
    ├── LocalProtocolError       we broke the protocol: nothing was sent, the mistake is in our program
    └── RemoteProtocolError      they did
        ├── BrokenFrame          the stream makes no sense any more: close the connection
        └── BrokenContent        the frame was sound, but is not what its code promises: refuse it, and go on
            ├── BrokenBody       a body that is no JSON, or not the JSON that was promised
            └── BrokenMessage    a stored message, or what is packed into one
                └── TooMuch      what was read before is sound; the rest is more than is unpacked in one go

A number from the peer that is too large is an error of the place where it stands. What a server refuses is no error
but an answer: ``requests.contract.Refused``.
"""

from __future__ import annotations


class RemotingError(Exception):
    """The protocol was broken."""


class LocalProtocolError(RemotingError):
    """We were about to send what no peer may be sent."""


class RemoteProtocolError(RemotingError):
    """The peer sent what nobody may send."""


class BrokenFrame(RemoteProtocolError):
    """No frame starts here, or its header cannot be read; what follows means nothing."""


class BrokenContent(RemoteProtocolError):
    """The frame holds something other than its code promises; the next frame is not concerned."""


class BrokenBody(BrokenContent):
    """The body is not the JSON that was promised."""


class BrokenMessage(BrokenContent):
    """The bytes are no stored message, or one that was damaged."""


class TooMuch(BrokenMessage):
    """Messages unpack to more than one body may: those that came before it are sound, and the rest can be asked for."""
