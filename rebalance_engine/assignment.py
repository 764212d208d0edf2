"""Which queues a broker gives to a client that lets it divide them (``clientRebalance=false``, 5.x).

By PULL the broker computes what the client would have: its own share, by the same strategy, over this broker's own list
of members. By POP several members share a queue, since whoever pops first gets the messages. With ``s`` as
``popShareQueueNum``, and ``c`` clients for ``n`` queues::

    s <= 0 or s >= c - 1    everybody pops every broker: one entry a broker, of queue -1
    c <= n                  one's own share, and those of the next s clients in the sorted list
    c > n                   one queue each: client i has queue i % n

So of 4 queues and 4 clients with ``s`` = 1, A has 0 and 1, B 1 and 2, C 2 and 3, D 3 and 0.

This room stands above ``allocation`` and ``membership``, which know nothing of each other: whoever composes a broker
calls :func:`answer` with its ``membership`` and its own view of the routes, which a broker refreshes every 30 s
(``loadBalancePollNameServerInterval``). Light message queues (``%LMQ%``) are not known here.

Source: ``broker/.../processor/QueryAssignmentProcessor.java`` (``doLoadBalance``, ``allocate4Pop``).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rebalance_engine.allocation import strategy
from rebalance_engine.allocation.contract import Member as Share
from rebalance_engine.allocation.contract import MemberFailure
from rebalance_engine.membership.answers import refuse_unsupported
from rebalance_engine.membership.machine import Broker
from rebalance_engine.model import MessageModel, MessageQueue, Order, sort_queues
from rebalance_engine.remoting.bodies.queues import (
    MessageQueueAssignment,
    QueryAssignmentRequestBody,
    QueryAssignmentResponseBody,
)
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, SetMessageRequestModeRequestBody
from rebalance_engine.remoting.requests.consuming import QueryAssignment, QueryAssignmentResponse
from rebalance_engine.remoting.requests.contract import Refused

BROKER_STRATEGIES = ("AVG", "AVG_BY_CIRCLE")  # ``name2LoadStrategy``
EVERY_QUEUE = -1  # an assignment of this queue id means all queues of its broker


def answer(
    broker: Broker, request: QueryAssignment, queues: Iterable[MessageQueue] | None
) -> QueryAssignmentResponse | Refused:
    """Answer request 400 for a broker.

    Args:
        queues: those of the topic, of all brokers, as this broker's last look at the routes has them; None: no route.
    """
    refused = refuse_unsupported(request, broker.policy)
    if refused is not None:
        return refused
    question = request.body
    group = broker.registry.find(question.consumer_group)
    given = assignment(
        question,
        broker.modes.mode_of(question.topic, question.consumer_group),
        queues=queues,
        clients=None if group is None else group.clients(),
        divides=broker.policy.settings.divides_queues,
    )
    return QueryAssignmentResponse(body=QueryAssignmentResponseBody(message_queue_assignments=given))


def assignment(
    question: QueryAssignmentRequestBody,
    mode: SetMessageRequestModeRequestBody,
    *,
    queues: Iterable[MessageQueue] | None,
    clients: Iterable[str] | None,
    divides: bool = True,
) -> tuple[MessageQueueAssignment, ...] | None:
    """Compute what one client gets of one topic.

    Args:
        question: who asks, for which topic, by which strategy.
        mode: how the group gets the topic (``membership``'s ``modes.mode_of``).
        queues: all queues of the topic, in any order; None where the broker has no route of it.
        clients: the group's client ids that this broker knows, in any order; None where it knows no such group.
        divides: ``serverLoadBalancerEnable``; without it everybody gets everything.

    Returns:
        the assignments, sorted by queue, each once; None is *no valid answer*: the client keeps what it has.
    """
    wanted = _wanted(question, mode, queues, clients, divides=divides)
    if wanted is None:
        return None
    return tuple(MessageQueueAssignment(message_queue=mq, mode=mode.mode) for mq in sort_queues(set(wanted)))


def _wanted(
    question: QueryAssignmentRequestBody,
    mode: SetMessageRequestModeRequestBody,
    queues: Iterable[MessageQueue] | None,
    clients: Iterable[str] | None,
    *,
    divides: bool,
) -> Iterable[MessageQueue] | None:
    if queues is None:
        return None
    if question.message_model is MessageModel.BROADCASTING or not divides:
        return queues
    if clients is None or question.strategy_name not in BROKER_STRATEGIES:
        return None
    share = strategy(question.strategy_name).member
    assert share is not None, f"{question.strategy_name} is a plan for a whole group"
    all_queues, all_clients = sort_queues(set(queues)), Order.JAVA.sort(clients)
    try:
        if mode.mode is MessageRequestMode.PULL:
            return share(question.client_id, all_queues, all_clients)
        return _share_by_pop(share, question.client_id, all_queues, all_clients, mode.pop_share_queue_num)
    except MemberFailure:
        return None


def _share_by_pop(
    share: Share, client: str, queues: Sequence[MessageQueue], clients: Sequence[str], neighbours: int
) -> Iterable[MessageQueue]:
    """Compute one client's share of sorted lists (``allocate4Pop``).

    Raises:
        MemberFailure: something is empty.
    """
    if neighbours <= 0 or neighbours >= len(clients) - 1:
        return [mq._replace(queue_id=EVERY_QUEUE) for mq in queues]
    own = share(client, queues, clients) or []  # Java's three checks of empty arguments are the same in all branches
    if client not in clients:
        return own
    place = clients.index(client)
    if len(clients) > len(queues):
        return [queues[place % len(queues)]]
    for step in range(1, neighbours + 1):
        own += share(clients[(place + step) % len(clients)], queues, clients) or []
    return own
