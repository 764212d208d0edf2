"""What the state machines hear, and what they ask the world to do about it.

A machine is driven from outside: ``handle(heard, at)`` takes one of the first group and returns any number of
the second. It never looks at a clock, draws luck or touches a socket; ``at`` and every other time is in
milliseconds. The network runtimes do what is asked on sockets, the simulator on a virtual clock.

Requests and responses are the typed ones of ``remoting``; a machine never sees bytes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from enum import Enum

from rebalance_engine.remoting.codes import Language

Address = str  # "host:port" of a listener
Channel = int  # one TCP connection; never used again once it is closed


class Failure(Enum):
    """Why no answer came to a request."""

    TIMEOUT = "no answer in time"
    NOT_CONNECTED = "the connection could not be made"
    CLOSED = "the connection closed before the answer"


# ---- what a machine hears ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """A peer sent a request over a channel; ``token`` is what a response must name, None for a one-way request.

    Together with the channel the token is unique while the request waits. ``language`` and ``version`` are what the
    peer's header says of it.
    """

    channel: Channel
    request: object
    token: int | None = None
    language: Language = Language.OTHER
    version: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The response to a :class:`Send` of this machine: a value of ``remoting``, errors with their code included."""

    token: int
    response: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Unanswered:
    """No response will come to a :class:`Send` of this machine."""

    token: int
    failure: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A channel is open: to ``address``, or from a client that called from there."""

    channel: Channel
    address: Address


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """A channel is no more."""

    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """The time of a :class:`WakeAt` has come."""

    timer: Hashable


Heard = Received | Answered | Unanswered | Opened | Closed | Woken


# ---- what a machine asks for ----


@dataclass(frozen=True, slots=True, kw_only=True)
class Send:
    """Send a request, and say what became of it: exactly one Answered or Unanswered of this token follows.

    Tokens are the machine's own; it never uses one twice.
    """

    to: Address
    request: object
    token: int
    timeout_ms: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SendOneway:
    """Send a request and forget it; nobody will ever know whether it arrived."""

    to: Address
    request: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Respond:
    """Answer a request that was received over a channel."""

    channel: Channel
    token: int
    response: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Send a one-way request down a channel that the peer opened."""

    channel: Channel
    request: object


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Close a channel; the machine hears Closed once it is."""

    channel: Channel


@dataclass(frozen=True, slots=True, kw_only=True)
class WakeAt:
    """Say Woken at this time or as soon after as may be; a timer that is set again forgets its earlier time."""

    at: int
    timer: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class Cancel:
    """Forget a timer."""

    timer: Hashable


@dataclass(frozen=True, slots=True, kw_only=True)
class Save:
    """Keep this text under this name, durably, in place of what was kept there (broadcasting offsets)."""

    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """Tell whoever listens that this is a fact, with the machine as its source: a value of ``events``."""

    fact: object


Effect = Send | SendOneway | Respond | Push | Close | WakeAt | Cancel | Save | State
