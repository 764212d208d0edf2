"""Which log lines tell something about rebalancing, by how their message begins. Plain Python.

The messages are RocketMQ's: ``RebalanceImpl``, ``RebalancePushImpl``, ``RemoteBrokerOffsetStore``,
``MQClientInstance``, ``DefaultMQPushConsumerImpl``, ``ConsumeMessage*Service``, ``MQFaultStrategy``,
``ConsumerManager``, ``ConsumerGroupInfo``, ``RebalanceLockManager`` and ``ConsumerOffsetManager``, 4.x and 5.x.
Those of the C++ and Go clients are from the upstream sources (rocketmq-client-cpp ``src/consumer/Rebalance.cpp``,
``src/MQClientFactory.cpp``; rocketmq-client-go ``consumer/consumer.go``, ``consumer/push_consumer.go``,
``internal/client.go``) and not verified on real logs.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Template:
    """One kind of line.

    Attributes:
        what: the kind of event that it is.
        begins: how the message begins; any message where it is empty.
        has: what it must contain besides.
        ends: how its first line ends.
    """

    what: str
    begins: str = ""
    has: str = ""
    ends: str = ""


# In this order: the first that fits is taken. The most frequent come first.
JAVA_CLIENT = (
    Template("persisted all", "[persistAll] Group: "),
    Template("added", "doRebalance, ", ", add a new mq, "),
    Template("start offset", "doRebalance, ", ", add a new pull request "),
    Template("lock refused", "doRebalance, ", ", because lock failed"),
    Template("add failed", "doRebalance, ", " failed, "),
    Template("removed", "doRebalance, ", ", remove unnecessary mq, "),
    Template("not subscribed", "doRebalance, ", ", truncateMessageQueueNotMyTopic remove unnecessary mq, "),
    Template("no member list", "doRebalance, ", ", get consumer id list failed"),
    Template("no route", "doRebalance, ", " not exist."),
    Template("pop added", "doRebalance, ", ", add a new pop mq, "),
    Template("pop removed", "doRebalance, ", ", remove unnecessary pop mq, "),
    Template("pop removed", "doRebalance, ", ", truncateMessageQueueNotMyTopic remove unnecessary pop mq, "),
    Template("pop kept", "doRebalance, ", ", mq pop already exists, "),
    Template("pull expired", "[BUG]doRebalance, ", "try remove unnecessary mq, "),
    Template("expired and removed", "[BUG]doRebalance, ", ", remove unnecessary mq, "),
    Template("removed to repair", "Fix Offset, "),
    Template("result", "client rebalanced result changed. "),
    Template("result", "rebalanced result changed. "),
    Template("broker result", "broker rebalanced result changed. "),
    Template("persisted", "[persist] Group: "),
    Template("lock granted", "message queue lock OK, "),
    Template("lock granted", "the message queue lock OK, "),
    Template("lock kept", "the message queue locked OK, "),
    Template("lock lost", "the message queue locked Failed, "),
    Template("unlocked", "unlock messageQueue. group:"),
    Template("unlocked", "the message queue unlock OK, "),
    Template("pull ended", "the pull request[PullRequest "),
    Template("first pull", "the first time to pull message, so fix offset from broker. "),
    Template("not consumed", "the message queue not be able to consume, because it's dropped. group="),
    Template("uncommitted", "processQueue is dropped without process consume result. "),
    Template("pull refused", "the subscription is not latest, "),
    Template("pull refused", "execute the pull request exception", "subscription not latest"),
    Template("pull failed", "execute the pull request exception"),
    Template("notified", "receive broker's notification["),
    Template("not in list", "[BUG] ConsumerGroup: "),
    Template("flow control", "the cached message "),
    Template("flow control", "the queue's messages, span too long, "),
    Template("instance made", "Created a new client Instance, "),
    Template("instance stopped", "the client factory [", "] shutdown OK"),
    Template("instance started", "the client factory [", "] start OK"),
    Template("consumer started", "the consumer [", "] start OK"),
    Template("consumer starting", "the consumer [", "] start beginning"),
    Template("consumer stopped", "the consumer [", "] shutdown OK"),
    Template("producer started", "the producer [", "] start OK"),
    Template("unregistered", "unregister client["),
    Template("heartbeat", "send heart beat to broker[", "] success"),
    Template("heartbeat failed", "send heart beat to broker["),
    # 5.1.3 and later with useHeartbeatV2: sendHeartbeatToBrokerV2.
    Template("heartbeat failed", "sendHeartbeatToAllBrokerV2 send heart beat to broker["),
    Template("heartbeat data", "HeartbeatData [clientID="),
    Template("route changed", "the topic[", "] route info changed, "),
    Template("broker gone", "the broker[", "is offline, remove it"),
    Template("resent", "sendKernelImpl exception, resend at once, "),
    Template("send failed", "sendKernelImpl exception, throw exception, "),
    Template("resent", "async send msg by retry "),
    Template("isolated", "", " will be isolated for ", " ms."),
    Template("unreachable", "", " is unreachable, it will not be used until it's reachable"),
    Template("reachable", "", " is reachable now, then it can be used."),
    Template("version", "", " Rebalance changed, also update version: "),
    Template("stopping", "RebalanceService service end"),
    Template("stopping", "shutdown thread[RebalanceService]"),
    Template("alive", "shutdown thread["),
    Template("alive", "join thread["),
    Template("alive", "", "", " service end"),
    Template("alive", "PullMessageServiceScheduledThread has shutdown"),
    Template("alive", "NETTY CLIENT PIPELINE: "),
    Template("alive", "closeChannel: "),
    Template("alive", "eventCloseChannel: "),
    Template("alive", "", "Stats In One Minute, "),
    Template("alive", "updateConsumeOffsetToBroker exception, "),
)

BROKER = (
    Template("joined", "new consumer connected, group: "),
    Template("left", "unregister a consumer["),
    Template("closed", "NETTY EVENT: remove not active channel["),
    Template("expired", "SCAN: remove expired channel from ConsumerManager consumerTable. "),
    Template("producer joined", "new producer connected, group: "),
    Template("subscription changed", "subscription changed, ", "group: "),
    Template("id in use", "ConsumerGroupInfo: consumer channel exists in broker, but clientId is not the same"),
    Template("id in use", "[BUG] consumer channel exist in broker, but clientId not equal. "),
    Template("offset back", "[NOTIFYME]update consumer offset less than store. "),
    Template("granted", "RebalanceLockManager#tryLockBatch: lock a message which has not been locked yet, "),
    Template("granted", "tryLockBatch, message queue not locked, I got it. "),
    Template("granted expired", "RebalanceLockManager#tryLockBatch: try to lock a expired message queue, "),
    Template("granted expired", "tryLockBatch, message queue lock expired, I got it. "),
    Template("refused", "RebalanceLockManager#tryLockBatch: message queue has been locked by other client, "),
    Template("refused", "tryLockBatch, message queue locked by other client. "),
    Template("released", "RebalanceLockManager#unlockBatch: unlock mq, "),
    Template("released", "unlockBatch, Group: "),
    Template("broker started", "The broker["),
    Template("broker stopping", "Shutdown hook was invoked, "),
    Template("not latest", "The broker's subscription is not latest, "),
    Template("alive", "register broker["),
    Template("alive", "Registering current broker to name server completed. "),
)

CPP_CLIENT = (
    Template("persisted all", "oneway updateConsumeOffsetToBroker of mq:"),
    Template("result", "Allocation result for [Consumer Group: "),
    Template("added", "Add mq:", "request initial offset:"),
    Template("removed", "Drop mq:"),
    Template("start offset", "Start to pull "),
    Template("add failed", "Failed to add pull request for "),
    Template("notified", "notifyConsumerIdsChanged:"),
    Template("no member list", "[ERROR] Get empty consumer IDs. "),
    Template("lock granted", "lockBatchMQ success of mq:"),
    Template("unlocked", "unlock success of mq:"),
    Template("resent", "send failed of times:"),
)

GO_CLIENT = (
    Template("persisted all", 'update offset to broker success"'),
    Template("result", 'MessageQueue do balance done"'),
    Template("added", 'updateProcessQueueTable do defaultConsumer, add a new mq"'),
    Template("removed", "remove unnecessary mq when updateProcessQueueTable"),
    Template("expired and removed", "remove unnecessary mq because pull was expired"),
    Template("not subscribed", "remove unnecessary mq because unsubscribed"),
    Template("lock refused", "do defaultConsumer, add a new mq failed, because lock failed"),
    Template("add failed", "do defaultConsumer, add a new mq failed"),
    Template("start offset", 'fetch offset of mq from broker success"'),
    Template("notified", "receive broker's notification to consumer group"),
    Template("not in list", "[BUG] ConsumerId not in cidAll"),
    Template("unlocked", 'unlock MessageQueue"'),
)

TEMPLATES = {
    "java5": JAVA_CLIENT,
    "java4": JAVA_CLIENT,
    "broker": BROKER,
    "cpp": CPP_CLIENT,
    "go": GO_CLIENT,
}
QUEUE = r"MessageQueue \[topic=([^,\]]+), brokerName=([^,\]]+), queueId=(-?\d+)\]"
ADDS = ("added",)
POPS = ("pop added", "pop removed", "pop kept")  # of queues out of which brokers hand messages to whoever asks
LOCK_LOGS = "/(?:filter|lock)$"  # what a broker writes into its other logs is of locks only
BROADCASTING, POP = "broadcasting", "POP"  # groups whose queues have no owners
REMOVES = ("removed", "not subscribed", "expired and removed", "removed to repair")
