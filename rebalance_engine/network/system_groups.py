"""The groups that RocketMQ makes for itself; nobody's queues are divided in them.

Source: ``common/.../MixAll.java`` (``PREDEFINE_GROUP_SET``, ``isSysConsumerGroup``).
"""

from __future__ import annotations

INNER_PRODUCER = "CLIENT_INNER_PRODUCER"  # of every Java client, also of one that consumes alone
OWN_PREFIXES = ("CID_RMQ_SYS_", "CID_ONSAPI_")
OWN = frozenset(
    {
        "CID_ONS-HTTP-PROXY",
        "CID_SYS_RMQ_TRANS",
        INNER_PRODUCER,
        "DEFAULT_CONSUMER",
        "FILTERSRV_CONSUMER",
        "ONS_HTTP_PROXY",
        "SELF_TEST_C_GROUP",
        "TOOLS_CONSUMER",
        "__MONITOR_CONSUMER",
    }
)


def is_system_group(group: str) -> bool:
    """Whether a group is RocketMQ's own.

    >>> is_system_group("TOOLS_CONSUMER"), is_system_group("billing")
    (True, False)
    """
    return group in OWN or group.startswith(OWN_PREFIXES)
