"""A whole cluster in memory: many machines of the engine on one virtual clock, one seed, and faults.

Brokers, consumers and producers here are the machines of ``membership``, ``consumer`` and ``producer``; around them
stand a network that delays, loses and breaks, a store of messages, a name server and listeners that take time.
Everything that happens follows from a scenario and its seed, so that whatever went wrong goes wrong again.

    clock.py        the virtual clock
    process.py      a process with a machine in it: it runs, is paused, or is gone
    network.py      connections between processes: delays, losses, partitions
    store.py        the messages of one broker
    broker.py       a broker: its membership, its messages, pulls that wait
    nameserver.py   a name server
    clients.py      consumers with their listeners, and producers
    scenario.py     what a run consists of, as a value and as a text
    checking.py     whether a scenario makes sense
    drawing.py      a scenario for a seed
    timers.py       the timers of the rules
    bounds.py       how long the rules allow a group to be out of order
    breach.py       the promises, one that was broken, and when some do not hold
    figures.py      what a run amounted to
    ledger.py       what happened to every queue, held to what must always be so
    ordering.py     orderly queues and their locks
    returning.py    failed messages on their way back
    sending.py      what producers sent, what is stored, and what they were told
    pacing.py       the pauses between rounds and between heartbeats
    subscribing.py  which subscription brokers were told
    watching.py     all these books, and what is told to which
    sessions.py     the time in which one process held one queue
    locking.py      who holds which queue lock, told without asking the broker
    presences.py    who must be in a broker's table of members
    settling.py     who should hold what when all is quiet
    world.py        the processes of one run, and what its steps do to them
    running.py      one run from begin to end, and what it found
    shrinking.py    a failing scenario without the steps that it fails without
    transcript.py   a run as a text that can be played again
"""
