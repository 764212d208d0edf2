"""CONFIG: each client consumes what it was told to, whatever the group looks like.

Source: ``client/.../consumer/rebalance/AllocateMessageQueueByConfig.java``. No argument is looked at, so
that the same list comes back for every topic, unknown members get theirs, and lists may overlap, leave
queues out or name queues that do not exist.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

from rebalance_engine.allocation.contract import JAVA, BadParameter, Dialect, Strategy
from rebalance_engine.model import MessageQueue

Config = Mapping[str, Iterable[MessageQueue]]


def bind(name: str, dialect: Dialect = JAVA, *, config: object = None) -> Strategy:
    """Make the strategy of a mapping from client ids to lists of queues, or of None where none was set.

    Raises:
        BadParameter: it is neither.
    """
    if config is not None and not isinstance(config, Mapping):
        raise BadParameter(f"config must be a mapping of client ids to queues, not {config!r}")
    for client_id, queues in (config or {}).items():
        if queues is not None and (isinstance(queues, str) or not isinstance(queues, Iterable)):
            raise BadParameter(f"config must give {client_id!r} a list of queues, not {queues!r}")
    return Strategy(name, dialect.order, partial(member, config=config), None)


def member(
    client_id: str | None,
    queues: Sequence[MessageQueue] | None,
    clients: Sequence[str] | None,
    *,
    config: Config | None = None,
) -> list[MessageQueue] | None:
    """Give the configured list as it is; None (Java's null) where none was set."""
    del queues, clients
    told = None if config is None or client_id is None else config.get(client_id)
    return None if told is None else list(told)
