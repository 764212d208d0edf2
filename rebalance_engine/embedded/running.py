"""What a broker tells of its settings and of how it runs: names and texts, as ``mqadmin brokerStatus`` shows them.

Sources: ``broker/.../processor/AdminBrokerProcessor.java`` (``prepareRuntimeInfo``),
``store/.../DefaultMessageStore.java`` (``getRuntimeInfo``), ``store/.../StoreStatsService.java``.
"""

from __future__ import annotations

from rebalance_engine.embedded.core import ALL_GOT, ALL_PUT, Core
from rebalance_engine.embedded.faults import MOST_DELAYED
from rebalance_engine.remoting.versions import version_number


def settings_table(core: Core) -> dict[str, str]:
    """Give the settings under Java's names."""
    settings = core.settings
    own = settings.membership
    table: dict[str, object] = {
        "brokerClusterName": settings.cluster,
        "brokerName": own.broker,
        "brokerId": 0,
        "brokerIP1": core.host.ip,
        "listenPort": core.host.port,
        "brokerRole": "ASYNC_MASTER",
        "flushDiskType": "ASYNC_FLUSH",
        "brokerPermission": core.permission,
        "autoCreateTopicEnable": settings.creates_topics,
        "defaultTopicQueueNums": settings.default_topic_queues,
        "autoCreateSubscriptionGroup": own.creates_groups,
        "notifyConsumerIdsChangedEnable": own.notifies,
        "rejectTransactionMessage": False,
        "enablePropertyFilter": own.filters_by_property,
        "longPollingEnable": True,
        "messageDelayLevel": settings.delay_levels,
        "maxMessageSize": settings.max_message_bytes,
        "mappedFileSizeCommitLog": settings.segment_bytes,
        "flushConsumerOffsetInterval": settings.keeps_offsets_every_ms,
        "channelExpiredTimeout": own.channel_expires_after_ms,
    }
    if settings.is_since((5, 0, 0)):
        table["realTimeNotifyConsumerChange"] = own.notifies_at_once
    if core.membership.policy.rules.can_reset_offsets:
        table["useServerSideResetOffset"] = core.membership.policy.resets_offsets
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in table.items()}


def runtime_table(core: Core, waiting_requests: int, at: int) -> dict[str, str]:
    """Say how the broker runs at a time. What it does not measure is left out; it has one queue of requests."""
    settings, store, rates = core.settings, core.store, core.rates
    put, got = (ALL_PUT, settings.cluster), (ALL_GOT, settings.cluster)
    is_5 = settings.is_since((5, 0, 0))
    used = round(store.disk_used(), 4)
    table: dict[str, object] = {
        "brokerVersionDesc": f"V{settings.membership.version.replace('.', '_')}",
        "brokerVersion": version_number(settings.membership.version),
        "bootTimestamp": core.booted_at,
        "runtime": _runtime(at - core.booted_at),
        "msgPutTotalYesterdayMorning": rates.mornings(*put)[0],
        "msgPutTotalTodayMorning": rates.mornings(*put)[1],
        "msgPutTotalTodayNow": rates.total(*put),
        "msgGetTotalYesterdayMorning": rates.mornings(*got)[0],
        "msgGetTotalTodayMorning": rates.mornings(*got)[1],
        "msgGetTotalTodayNow": rates.total(*got),
        "putTps": _tps(core, ALL_PUT, at),
        "getFoundTps": _tps(core, ALL_GOT, at),
        "getTransferredTps" if is_5 else "getTransferedTps": _tps(core, ALL_GOT, at),
        "putMessageTimesTotal": max(rates.total(*put), 1),
        "commitLogMinOffset": store.log_begin,
        "commitLogMaxOffset": store.log_end,
        "commitLogDiskRatio": used,
        "consumeQueueDiskRatio": used,  # the same disk
        "dispatchBehindBytes": 0,  # messages can be seen as soon as they are stored
        "pageCacheLockTimeMills": 0,
        "remainHowManyDataToFlush": "0 B",
        "remainTransientStoreBufferNumbs": 2**31 - 1,  # Java's word for having none
        "earliestMessageTimeStamp": store.earliest_at(),
    }
    pools = {"send": waiting_requests, "pull": 0, "query": 0, **({"litePull": 0, "ack": 0} if is_5 else {})}
    for pool, size in pools.items():
        table[f"{pool}ThreadPoolQueueSize"] = size
        table[f"{pool}ThreadPoolQueueCapacity"] = MOST_DELAYED
        table[f"{pool}ThreadPoolQueueHeadWaitTimeMills"] = 0
    if is_5:
        table["brokerActive"] = True
    return {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in table.items()}


def _runtime(ms: int) -> str:
    """Write a time as Java does."""
    seconds = ms // 1_000
    days, hours, minutes = seconds // 86_400, seconds // 3_600 % 24, seconds // 60 % 60
    return f"[ {days} days, {hours} hours, {minutes} minutes, {seconds % 60} seconds ]"


def _tps(core: Core, name: str, at: int) -> str:
    """Give messages a second in the last 10, 60 and 600 seconds."""
    return " ".join(map(str, core.rates.recent(name, core.settings.cluster, at)))
