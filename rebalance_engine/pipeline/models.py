"""Groups whose queues have no owners: those that broadcast, and those whose messages brokers hand out (POP).

Every member of a group that broadcasts holds every queue, whoever comes and goes (``RebalanceImpl.rebalanceByTopic``,
``MessageModel.BROADCASTING``). Out of a queue in POP mode a broker hands messages to whoever asks: a member's line
"add a new pop mq" makes nobody its owner (``RebalanceImpl.updateMessageQueueAssignment``). Where nobody owns a queue
nothing is handed over, unowned, or held by two, and nothing pauses.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.schemas import MODELS, shaped
from rebalance_engine.pipeline.templates import BROADCASTING, POP, POPS

MEMBER, LOG = ["cluster", "group", "client_id"], ["cluster", "group", "process"]


def models_of(events: DataFrame) -> DataFrame:
    """Name the groups without owners, as ``MODELS``, on every day on which a line says it of them."""
    broadcasts = _broadcasting(events).select("cluster", "day", "group", F.lit(BROADCASTING).alias("model"))
    pops = events.where(F.col("what").isin(*POPS) & F.col("group").isNotNull())
    told = broadcasts.unionByName(pops.select("cluster", "day", "group", F.lit(POP).alias("model")))
    return shaped(told.distinct(), MODELS)


def with_owners(spans: DataFrame, events: DataFrame) -> DataFrame:
    """Leave out the holds of members that broadcast: of others in their group there may still be owners.

    A start names no client: it stands for the log in which it is.
    """
    told = computed_once(_broadcasting(events).select("what", *LOG, "client_id").distinct())
    if told.isEmpty():
        return spans
    by_client = told.where(F.col("client_id").isNotNull()).select(*MEMBER).distinct()
    by_log = told.where(F.col("what") == "consumer starting").select(*LOG).distinct()
    rest = spans.join(F.broadcast(by_client), on=MEMBER, how="left_anti")
    return rest.join(F.broadcast(by_log), on=LOG, how="left_anti").select(*spans.columns)


def _broadcasting(events: DataFrame) -> DataFrame:
    told = events.where(F.col("broadcasting").isNotNull()).withColumn("group", F.explode("broadcasting"))
    return told.where(F.col("group").isNotNull())
