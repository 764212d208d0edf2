"""The state machines on real sockets: the only room, with the embedded cluster, that awaits and reads the clock.

``transport`` calls, ``listener`` is called, both over the ``link`` of one TCP connection; ``channels`` is the table of
all links of one process. ``driver`` runs a machine on them. ``admin`` asks a cluster questions within a ``budget``.
"""
