"""Which members' programs do not have the lists that they were said to be given, as far as what they hold shows. Pure.

A list stands in the program of its member (``AllocateMessageQueueByConfig``): nothing here can put it there. A member
drops what its list has not at its next rebalance, 20 s later at most, so that one that holds more than that was given
another list, or none. One that holds less may only not have been able to take it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from dashboard.groups.told import BY_HAND
from rebalance_engine.group import GroupView
from rebalance_engine.model import MessageModel, MessageQueue

SETTLED_MS = 60_000  # since the version was kept: two rebalances of each member, and a look after it


def not_given(lists: Mapping[str, Iterable[MessageQueue]], view: GroupView) -> tuple[str, ...]:
    """Name the members that divide by config and were not given these lists: they hold what is not in theirs.

    So is one that holds nothing, though nobody else has what stands in its list.
    """
    if view.held is None or view.model is MessageModel.BROADCASTING:
        return ()
    there = frozenset(view.queues)
    given = {client: there.intersection(queues) for client, queues in lists.items()}
    taken = {view.queues[number] for number in view.held.pairs()[0].tolist()}
    members = (each for each in view.clients.distinct if view.strategies.get(each) in BY_HAND)
    return tuple(each for each in members if each not in view.silent and _has_another(each, given, view, taken))


def _has_another(
    client: str, given: Mapping[str, frozenset[MessageQueue]], view: GroupView, taken: set[MessageQueue]
) -> bool:
    assert view.held is not None
    mine, held = given.get(client, frozenset()), set(view.held.queues_of(client))
    if held - mine:
        return True
    wanted = {queue for queue in mine if view.subscribes(client, queue.topic)}
    return not held and bool(wanted) and not wanted & taken
