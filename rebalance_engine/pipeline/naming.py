"""Which client a line names. An id ends with what its process is called (``instanceName``), which is free text.

So it is read to what the line says next, not to the first blank. Sources: the message texts of ``RebalanceImpl``,
``RemoteBrokerOffsetStore``, ``MQClientInstance``, ``RebalanceLockManager`` and ``ClientChannelInfo`` (Java 4.9 and 5),
and ``strategy.go``, ``push_consumer.go`` (the Go client, as logrus writes values: in quotes where it must).
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

_QUOTED = r"\"((?:[^\"\\]|\\.)*)\""
_PLAIN = r"([^\"].*?)(?:, [A-Za-z]+[=:]| MessageQueue \[| [A-Za-z]+=|\]|\n|$)"
NAMED = rf"[cC]lient[iI][dD][=:] ?(?:{_PLAIN}|{_QUOTED})"
_LOCKER = r"(?:(?:new|current) client id=(.+)$|NewClientId: (.+?)(?: MessageQueue \[|$))"
_HOLDER = r"(?:(?:old|locked) client id=(.+?), (?:new|current) client id=|(?:Old|Other)ClientId: (.+?) NewClientId: )"


def named_client(message: Column) -> Column:
    """Read the id behind ``clientId``, in whichever way it is spelt; null where there is none."""
    return _either(message, NAMED)


def persisting_client(message: Column) -> Column:
    """Read the id of ``[persist] Group: G ClientId: C updateConsumeOffsetToBroker …``; most lines are such."""
    return F.substring_index(F.substring_index(message, " updateConsumeOffsetToBroker ", 1), " ClientId: ", -1)


def factory_client(message: Column) -> Column:
    """Read the id of ``the client factory [C] start OK``."""
    return F.nullif(F.regexp_extract(message, r"client factory \[(.+?)\] (?:start|shutdown) OK", 1), F.lit(""))


def locking_client(message: Column) -> Column:
    """Read who asked for a lock that another one has, or had."""
    return _either(message, _LOCKER)


def locked_client(message: Column) -> Column:
    """Read who has, or had, the lock that another one asked for."""
    return _either(message, _HOLDER)


def _either(message: Column, pattern: str) -> Column:
    first, second = (F.nullif(F.regexp_extract(message, pattern, group), F.lit("")) for group in (1, 2))
    return F.coalesce(first, second)
