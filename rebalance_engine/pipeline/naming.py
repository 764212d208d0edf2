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
    return found_in(message, r"client factory \[(.+?)\] (?:start|shutdown) OK")


def locking_client(message: Column) -> Column:
    """Read who asked for a lock that another one has, or had."""
    return _either(message, _LOCKER)


def locked_client(message: Column) -> Column:
    """Read who has, or had, the lock that another one asked for."""
    return _either(message, _HOLDER)


def _either(message: Column, pattern: str) -> Column:
    return F.coalesce(found_in(message, pattern, 1), found_in(message, pattern, 2))


def found_in(text: Column, pattern: str, group: int = 1) -> Column:
    """Give what a group of an expression finds; null where that is nothing.

    ``nullif`` would look for it twice, to compare and to give.
    """
    one = F.array(F.regexp_extract(text, pattern, group))
    return F.get(F.array_remove(one, ""), F.lit(0))
