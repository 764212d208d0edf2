"""The timers of the rules, in ms, and what a message may take on its way (rebalance.md 2, 6, 7, 9, 11.1)."""

ON_THE_WAY = 3_000  # messages of a few rounds; no one-way request is longer under way unless a fault holds it up
ROUND = 20_000  # ``rocketmq.client.rebalance.waitInterval``; the renewal of locks has the same
FLOOR = 1_000  # ``rocketmq.client.rebalance.minInterval``; a notified member waits so long at most
ROUTES = 30_000  # ``pollNameServerInterval``
HEARTBEAT = 30_000  # ``heartbeatBrokerInterval``
SILENCE = 120_000  # ``channelExpiredTimeout``
SCAN = 10_000  # from one look for silent channels to the next
LOCK = 60_000  # ``rocketmq.broker.rebalance.lockMaxLiveTime``
BELIEVED = 30_000  # ``rocketmq.client.rebalance.lockMaxLiveTime``: so long a client believes that it has a lock
LOCK_ANSWERED = 1_000  # so long a client waits for the answer to a request about locks
RUN = 60_000  # ``rocketmq.client.maxTimeConsumeContinuously``: a listener's time with an orderly queue at a stretch
UNLOCK_DELAY = 20_000  # ``rocketmq.client.unlockDelayTimeMills``
PERSISTED_EVERY = 5_000  # ``persistConsumerOffsetInterval``
FIRST_PERSISTED = 10_000  # after a client's start
FLUSHED_EVERY = 5_000  # ``flushConsumerOffsetInterval``
REPAIR = 10_000  # from a drop for an illegal offset to its repair, by who does not repair at once
RESET = 10_000  # ``MQClientInstance.resetOffset``: from a drop by a reset until the new offset is stored
PULL_IDLE = 120_000  # ``rocketmq.client.pull.pullMaxIdleTime``
PULLED = 30_000  # ``consumerTimeoutMillisWhenSuspend``: so long a pull waits for its answer
WAITS = 10_000  # a message of a held queue, where nothing is wrong: several pulls that failed, and their pauses
STORED_LATE = PERSISTED_EVERY + ON_THE_WAY  # what was finished longer ago is stored
