"""Groups with members whose logs are read by a layout that no real log has proved. Native functions only."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.layouts import LAYOUTS
from rebalance_engine.pipeline.schemas import UNPROVED, shaped

NOT_PROVED = tuple(name for name, layout in LAYOUTS.items() if not layout.is_verified)


def unproved_of(changes: DataFrame) -> DataFrame:
    """Name, day by day, the groups whose members take or let go something in such logs, and the hosts of these.

    Args:
        changes: as ``EVENTS``, with client ids.
    """
    told = changes.where(F.col("layout").isin(*NOT_PROVED) & F.col("group").isNotNull())
    return shaped(told.select(*UNPROVED.names).distinct(), UNPROVED)
