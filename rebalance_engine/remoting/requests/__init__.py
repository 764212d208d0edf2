"""The table of requests: which class stands for which code, and which file holds it.

Each class is named as RocketMQ's ``RequestCode`` names it, and stands beside its response.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.requests import (
    brokers,
    changes,
    clients,
    consuming,
    membership,
    nameserver,
    producing,
)
from rebalance_engine.remoting.requests.contract import Request, Response

REQUESTS: Mapping[int, type[Request[Response]]] = {
    RequestCode.SEND_MESSAGE: producing.SendMessage,
    RequestCode.PULL_MESSAGE: consuming.PullMessage,
    RequestCode.QUERY_CONSUMER_OFFSET: consuming.QueryConsumerOffset,
    RequestCode.UPDATE_CONSUMER_OFFSET: consuming.UpdateConsumerOffset,
    RequestCode.UPDATE_AND_CREATE_TOPIC: changes.UpdateAndCreateTopic,
    RequestCode.GET_ALL_TOPIC_CONFIG: brokers.GetAllTopicConfig,
    RequestCode.GET_BROKER_CONFIG: brokers.GetBrokerConfig,
    RequestCode.GET_BROKER_RUNTIME_INFO: brokers.GetBrokerRuntimeInfo,
    RequestCode.SEARCH_OFFSET_BY_TIMESTAMP: consuming.SearchOffsetByTimestamp,
    RequestCode.GET_MAX_OFFSET: consuming.GetMaxOffset,
    RequestCode.GET_MIN_OFFSET: consuming.GetMinOffset,
    RequestCode.HEART_BEAT: membership.HeartBeat,
    RequestCode.UNREGISTER_CLIENT: membership.UnregisterClient,
    RequestCode.CONSUMER_SEND_MSG_BACK: consuming.ConsumerSendMsgBack,
    RequestCode.END_TRANSACTION: producing.EndTransaction,
    RequestCode.GET_CONSUMER_LIST_BY_GROUP: membership.GetConsumerListByGroup,
    RequestCode.CHECK_TRANSACTION_STATE: producing.CheckTransactionState,
    RequestCode.NOTIFY_CONSUMER_IDS_CHANGED: membership.NotifyConsumerIdsChanged,
    RequestCode.LOCK_BATCH_MQ: consuming.LockBatchMq,
    RequestCode.UNLOCK_BATCH_MQ: consuming.UnlockBatchMq,
    RequestCode.GET_ALL_CONSUMER_OFFSET: brokers.GetAllConsumerOffset,
    RequestCode.CHECK_CLIENT_CONFIG: membership.CheckClientConfig,
    RequestCode.PUT_KV_CONFIG: nameserver.PutKvConfig,
    RequestCode.GET_KV_CONFIG: nameserver.GetKvConfig,
    RequestCode.REGISTER_BROKER: nameserver.RegisterBroker,
    RequestCode.UNREGISTER_BROKER: nameserver.UnregisterBroker,
    RequestCode.GET_ROUTEINFO_BY_TOPIC: nameserver.GetRouteInfoByTopic,
    RequestCode.GET_BROKER_CLUSTER_INFO: nameserver.GetBrokerClusterInfo,
    RequestCode.UPDATE_AND_CREATE_SUBSCRIPTIONGROUP: changes.UpdateAndCreateSubscriptionGroup,
    RequestCode.GET_ALL_SUBSCRIPTIONGROUP_CONFIG: brokers.GetAllSubscriptionGroupConfig,
    RequestCode.GET_TOPIC_STATS_INFO: brokers.GetTopicStatsInfo,
    RequestCode.GET_CONSUMER_CONNECTION_LIST: brokers.GetConsumerConnectionList,
    RequestCode.GET_PRODUCER_CONNECTION_LIST: brokers.GetProducerConnectionList,
    RequestCode.WIPE_WRITE_PERM_OF_BROKER: nameserver.WipeWritePermOfBroker,
    RequestCode.GET_ALL_TOPIC_LIST_FROM_NAMESERVER: nameserver.GetAllTopicListFromNameserver,
    RequestCode.GET_CONSUME_STATS: brokers.GetConsumeStats,
    RequestCode.RESET_CONSUMER_CLIENT_OFFSET: clients.ResetConsumerClientOffset,
    RequestCode.GET_CONSUMER_STATUS_FROM_CLIENT: clients.GetConsumerStatusFromClient,
    RequestCode.INVOKE_BROKER_TO_RESET_OFFSET: changes.InvokeBrokerToResetOffset,
    RequestCode.INVOKE_BROKER_TO_GET_CONSUMER_STATUS: clients.InvokeBrokerToGetConsumerStatus,
    RequestCode.GET_TOPICS_BY_CLUSTER: nameserver.GetTopicsByCluster,
    RequestCode.QUERY_TOPIC_CONSUME_BY_WHO: brokers.QueryTopicConsumeByWho,
    RequestCode.GET_CONSUMER_RUNNING_INFO: clients.GetConsumerRunningInfo,
    RequestCode.CONSUME_MESSAGE_DIRECTLY: clients.ConsumeMessageDirectly,
    RequestCode.SEND_MESSAGE_V2: producing.SendMessageV2,
    RequestCode.GET_BROKER_CONSUME_STATS: brokers.GetBrokerConsumeStats,
    RequestCode.SEND_BATCH_MESSAGE: producing.SendBatchMessage,
    RequestCode.QUERY_DATA_VERSION: nameserver.QueryDataVersion,
    RequestCode.PUSH_REPLY_MESSAGE_TO_CLIENT: producing.PushReplyMessageToClient,
    RequestCode.ADD_WRITE_PERM_OF_BROKER: nameserver.AddWritePermOfBroker,
    RequestCode.GET_ALL_PRODUCER_INFO: brokers.GetAllProducerInfo,
    RequestCode.QUERY_TOPICS_BY_CONSUMER: brokers.QueryTopicsByConsumer,
    RequestCode.GET_SUBSCRIPTIONGROUP_CONFIG: brokers.GetSubscriptionGroupConfig,
    RequestCode.UPDATE_AND_GET_GROUP_FORBIDDEN: changes.UpdateAndGetGroupForbidden,
    RequestCode.LITE_PULL_MESSAGE: consuming.LitePullMessage,
    RequestCode.QUERY_ASSIGNMENT: consuming.QueryAssignment,
    RequestCode.SET_MESSAGE_REQUEST_MODE: changes.SetMessageRequestMode,
    RequestCode.GET_ALL_MESSAGE_REQUEST_MODE: brokers.GetAllMessageRequestMode,
}
