"""Why nobody can tell whether a group holds what the target says, after one look at it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rebalance_engine.cli.terminal import count
from rebalance_engine.engine import Outcome
from rebalance_engine.network.looking import GroupLook, MemberLook


@dataclass(frozen=True, slots=True)
class Unknown:
    """The reason. ``hues`` are those of a terminal; none where nothing is amiss, and only nothing is to be compared."""

    sentence: str
    hues: tuple[str, ...] = ("yellow",)


APART = "who comes through a proxy that runs apart is listed by no broker"
THROUGH_PROXIES = Unknown("No queues that members own: all come through a proxy.", ())


def find_unknown(look: GroupLook, outcome: Outcome | None, why: str) -> Unknown | None:
    """Find why it cannot be told whether held equals target; None: it can.

    Args:
        outcome: what the look comes to; without one, ``why`` says why there is no target.
    """
    if not look.members:
        return _nobody(look)
    if unsaid := _unsaid(look):
        return Unknown(f"Unknown: {unsaid}.")
    if outcome is None:
        subscribe = any(member.topics for member in look.members)
        return Unknown(f"The target is unknown: {why}.") if subscribe else Unknown(f"There is no target: {why}.", ())
    if unrouted := list(_unrouted(look)):
        return Unknown(f"Unknown: no name server told which queues {', '.join(unrouted)} has.")
    lacking = [name for name, heard in look.lists.items() if heard.trouble is not None]
    if lacking:
        held, hue = ("Held", "yellow") if outcome.converged else ("Not held", "red")
        return Unknown(f"{held} as the target says, if {', '.join(lacking)} knows no further member.", (hue,))
    return None


def _nobody(look: GroupLook) -> Unknown:
    if look.is_known is False:
        return Unknown("No broker knows this group.", ("red",))
    if look.is_known is None:
        return Unknown("Unknown: not everybody who could know this group answered.")
    complete = all(heard.trouble is None for heard in look.lists.values())
    where = "" if complete else " at the brokers that answered"
    return Unknown(f"Nobody is online{where}; {APART}.", ())


def _unsaid(look: GroupLook) -> str:
    """Say who did not tell what it holds: members, or further connections of one id."""
    proxied = sum(member.is_proxied for member in look.members)
    silent = sum(member.held is None for member in look.members) - proxied
    if silent:
        return f"{count(silent, 'member')} did not say what {'it holds' if silent == 1 else 'they hold'}"
    if proxied:
        comes = "comes" if proxied == 1 else "come"
        return f"{proxied} of {count(len(look.members), 'member')} {comes} through a proxy, and cannot be asked"
    several = [member for member in look.members if member.registrations > 1]
    return f"{_sharing(several)}, of which only one can be asked" if several else ""


def _sharing(several: list[MemberLook]) -> str:
    first = several[0]
    others = f", and so with {count(len(several) - 1, 'more id')}" if len(several) > 1 else ""
    return f"{first.client_id} has {first.registrations} connections{others}"


def _unrouted(look: GroupLook) -> Iterator[str]:
    for topic in sorted({topic for topic, _ in look.routes}):
        if all(heard.trouble is not None for (of, _), heard in look.routes.items() if of == topic):
            yield topic
