"""The last stage: what reports are made from, a day of each cluster, section by section. Native functions only.

Summary and page read this table alone, and the back-test's: of handoffs, which may be millions, it has the longest.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import StructType

from rebalance_engine.pipeline import schemas
from rebalance_engine.pipeline.reports import LONGEST, MOST_HANDOFFS, OF_HANDOFF, TOTALS
from rebalance_engine.pipeline.schemas import REPORTS, shaped

OF_DAY = ["cluster", "day"]
WHOLE: dict[str, StructType] = {  # tables of which every row is told, by name
    "costs": schemas.COSTS,
    "storms": schemas.STORMS,
    "waves": schemas.WAVES,
    "brokers": schemas.BROKERS,
    "heartbeats": schemas.HEARTBEATS,
    "spikes": schemas.SPIKES,
    "looked": schemas.LOOKED,
    "models": schemas.MODELS,
    "doubles": schemas.DOUBLES,
    "mixed": schemas.MIXED,
    "holes": schemas.HOLES,
    "clocks": schemas.CLOCKS,
    "gaps": schemas.GAPS,
    "unproved": schemas.UNPROVED,
}


def reports_of(tables: Mapping[str, DataFrame], rounds: DataFrame, handoffs: DataFrame) -> DataFrame:
    """Put all sections of the days together, as ``REPORTS``: each row of a section as JSON, with what is unknown null.

    Args:
        tables: those of ``WHOLE``.
    """
    frames = {**tables, LONGEST: _longest(handoffs), TOTALS: _totals(rounds, handoffs)}
    return shaped(reduce(DataFrame.unionByName, (_section(name, frame) for name, frame in frames.items())), REPORTS)


def _section(name: str, frame: DataFrame) -> DataFrame:
    told = F.struct(*(column for column in frame.columns if column not in OF_DAY))
    body = F.to_json(told, {"ignoreNullFields": "false"})
    return frame.select(*OF_DAY, F.lit(name).alias("section"), body.alias("body"))


def _longest(handoffs: DataFrame) -> DataFrame:
    """Choose a day's longest pauses; of equal ones always the same, so that a day that is equal stays as it is."""
    kept = [name for name in OF_HANDOFF if name not in OF_DAY]
    in_order = Window.partitionBy(*OF_DAY).orderBy(
        F.col("pause_ms").desc_nulls_last(), *(name for name in kept if name != "pause_ms")
    )
    ranked = handoffs.select(*OF_DAY, *kept).withColumn("rank", F.row_number().over(in_order))
    return ranked.where(F.col("rank") <= MOST_HANDOFFS).drop("rank")


def _totals(rounds: DataFrame, handoffs: DataFrame) -> DataFrame:
    one, none = F.lit(1), F.lit(0)
    counted = rounds.select(*OF_DAY, one.alias("rounds"), none.alias("handoffs")).unionByName(
        handoffs.select(*OF_DAY, none.alias("rounds"), one.alias("handoffs"))
    )
    return counted.groupBy(*OF_DAY).agg(F.sum("rounds").alias("rounds"), F.sum("handoffs").alias("handoffs"))
