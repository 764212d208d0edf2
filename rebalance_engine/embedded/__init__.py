"""A cluster in one process: a name server and brokers on real sockets, for development and demonstration.

Stock clients join it as they join RocketMQ. What it has not: replicas, flushing to the platter, transactions, POP
consuming, SQL filters, and the speed of RocketMQ. :class:`~.cluster.Cluster` is the door. Behind it, from the top down:

    cluster.py     starts and stops the processes, faults on demand
    process.py     a machine behind a port; these two alone await
    nameserver.py  the name server: routes.py is its table
    broker.py      one broker: hears what comes, asks the rooms below, says what to answer
    sending.py     storing messages, topics that are made by sending, messages that come back
    pulling.py     looking for messages, and waiting for them
    schedule.py    messages that are to be seen later
    assignment.py  dividing queues for clients that leave it to the broker
    progress.py    how far topics and groups are
    upkeep.py      what operators read and change
    looking.py     finding single messages
    relay.py       what the broker asks its clients, for itself or for others
    faults.py      being slow, busy or closed on demand
    core.py        what all rooms of a broker share
    store.py       the messages: segments.py is their log on disk, index.py their places, outline.py reads the log
    disk.py        what is kept beside the messages
    topics.py      the topics that a broker has by itself, and how others are made
    rates.py       how much went through in the last minute, hour, day
    settings.py    what can be set
"""
