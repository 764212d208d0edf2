"""The broker's side of a consumer group: who belongs to it, what it wants, who locked what, how far it is.

Each broker keeps its own view and tells no other broker of it. :class:`~.machine.Broker` is the door: it hears channels
and requests and says what to answer and whom to notify. Behind it, from the top down:

    machine.py       what is heard, and what is asked of the world
    heartbeats.py    what one heartbeat does to the tables
    checks.py        why a pull is refused; filters.py, what it asks for
    answers.py       questions about the tables
    notification.py  who is told that members came or went, and when
    facts.py         what happened, for whoever listens
    registry.py      members by TCP channel, subscriptions by the rule of versions, who is silent too long
    producers.py     producers by TCP channel
    locks.py         queue locks of orderly groups
    offsets.py       how far each group is
    configs.py       what is configured of groups and topics
    modes.py         by PULL or by POP, as an operator set it
    presence.py      a client on a channel
    profiles.py      what differs by version, and what an operator can set

It does not know messages, routes, strategies, sockets or clocks. Dividing queues for clients that leave it to the
broker (QUERY_ASSIGNMENT) stands above it and ``allocation``, in ``rebalance_engine.assignment``.
"""
