"""What people may order of the demo, as rows of the command table say it. Pure: reads, checks, and gives an act.

========================  ==============  ======================  ==============================================
verb                      ``group_name``  ``target``              ``parameters``
========================  ==============  ======================  ==============================================
``demo.add_consumer``     a group
``demo.kill_consumer``    its group       client id; empty: last  ``how``: crash (default), silent, leave
``demo.stall_consumer``   its group       client id; empty: 1st   ``for_s``: 1 to 600 (180)
``demo.resume_consumer``  its group       client id; empty: 1st
``demo.slow_broker``                      broker's name           ``delay_ms``: 1 to 10000 (900), ``for_s`` (30)
``demo.restart_broker``                   broker's name           ``for_s`` (12)
``demo.heal_broker``                      broker's name
========================  ==============  ======================  ==============================================
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from dashboard.demo.script import Act, Down, Go, Going, Join, Recover, Resume, Slow, Stall
from dashboard.demo.shop import BROKERS, CASTS, IP, MOST_MEMBERS, cast_of

ADD_CONSUMER = "demo.add_consumer"
KILL_CONSUMER = "demo.kill_consumer"
STALL_CONSUMER = "demo.stall_consumer"
RESUME_CONSUMER = "demo.resume_consumer"
SLOW_BROKER = "demo.slow_broker"
RESTART_BROKER = "demo.restart_broker"
HEAL_BROKER = "demo.heal_broker"
MOST_SECONDS = 600
STALL_S = 180  # what hangs is a finding once nothing was committed for a minute, at looks as far apart, and one more
MOST_DELAY_MS = 10_000


class BadOrder(ValueError):
    """The demo cannot do that; the message says what was seen and what is needed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """One order, with the columns of the command table."""

    verb: str
    group: str = ""
    target: str = ""
    parameters: Mapping[str, object] = field(default_factory=dict)


Members = Mapping[str, Sequence[str]]
"""Of each group, the names of the members that live, in the order in which they came."""


def act_of(order: Order, members: Members) -> Act:
    """Say what an order means on stage.

    Raises:
        BadOrder: nothing.
    """
    read = VERBS.get(order.verb)
    if read is None:
        raise BadOrder(f"the demo knows no verb {order.verb!r}; it knows {', '.join(VERBS)}")
    return read(order, members)


def _add(order: Order, members: Members) -> Act:
    group = _group(order)
    there = len(members.get(group, ()))
    if there >= MOST_MEMBERS:
        raise BadOrder(f"{group} has {there} members; the demo carries {MOST_MEMBERS} of a group at most")
    return Join(group)


def _kill(order: Order, members: Members) -> Act:
    group = _group(order)
    how = order.parameters.get("how", Going.CRASHES.value)
    ways = [going.value for going in Going]
    if how not in ways:
        raise BadOrder(f"how is {how!r}; it needs to be one of {', '.join(ways)}")
    return Go(group, Going(how), _member(order, group, members, default=-1))


def _stall(order: Order, members: Members) -> Act:
    group = _group(order)
    return Stall(group, _seconds(order, STALL_S), _member(order, group, members, default=0))


def _resume(order: Order, members: Members) -> Act:
    group = _group(order)
    return Resume(group, _member(order, group, members, default=0))


def _slow(order: Order, _members: Members) -> Act:
    return Slow(_broker(order), _number(order, "delay_ms", 900, MOST_DELAY_MS), _seconds(order, 30))


def _restart(order: Order, _members: Members) -> Act:
    return Down(_broker(order), _seconds(order, 12))


def _heal(order: Order, _members: Members) -> Act:
    return Recover(_broker(order))


def obstacle_of(group: str) -> str | None:
    """Say why nothing can be ordered of a group's members; None: it can."""
    cast = cast_of(group)
    if cast is None:
        return f"the demo has no group {group!r}; it has {', '.join(cast.group for cast in CASTS)}"
    if cast.config is not None:
        return f"{group} does as its configuration says, which names its members; take another group"
    return None


def _group(order: Order) -> str:
    obstacle = obstacle_of(order.group)
    if obstacle is not None:
        raise BadOrder(obstacle)
    return order.group


def _member(order: Order, group: str, members: Members, *, default: int) -> str:
    there = members.get(group, ())
    if not there:
        raise BadOrder(f"{group} has no member that lives")
    name = order.target.removeprefix(f"{IP}@")
    if name and name not in there:
        raise BadOrder(f"{group} has no member {order.target!r} that lives; it has {', '.join(there)}")
    return name or there[default]


def _broker(order: Order) -> str:
    if order.target not in BROKERS:
        raise BadOrder(f"the demo has no broker {order.target!r}; it has {', '.join(BROKERS)}")
    return order.target


def _seconds(order: Order, default: int) -> int:
    return 1_000 * _number(order, "for_s", default, MOST_SECONDS)


def _number(order: Order, name: str, default: int, most: int) -> int:
    number = order.parameters.get(name, default)
    if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= most:
        raise BadOrder(f"{name} is {number!r}; it needs to be a number from 1 to {most}")
    return number


VERBS: Mapping[str, Callable[[Order, Members], Act]] = {
    ADD_CONSUMER: _add,
    KILL_CONSUMER: _kill,
    STALL_CONSUMER: _stall,
    RESUME_CONSUMER: _resume,
    SLOW_BROKER: _slow,
    RESTART_BROKER: _restart,
    HEAL_BROKER: _heal,
}
