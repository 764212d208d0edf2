"""The columns of every stage. Times are UTC epoch milliseconds unless the name says otherwise."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DoubleType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
)

TEXT, LONG, INT, DOUBLE, BOOL = StringType(), LongType(), IntegerType(), DoubleType(), BooleanType()
TEXTS = ArrayType(StringType())


def _schema(**columns: DataType) -> StructType:
    return StructType([StructField(name, kind) for name, kind in columns.items()])


# file, path, host: of the source. place: where in the file the line begins, growing. wall_ms: the line's own clock, as
# if it were UTC; None where the line does not begin as its file's lines do: it is kept as it is, with no kind and no
# day. process: the pid, where the log tells it. parts: lines of text that did not parse; messages that a line lists.
LINES = _schema(
    cluster=TEXT,
    day=TEXT,
    file=TEXT,
    host=TEXT,
    layout=TEXT,
    place=LONG,
    wall_ms=LONG,
    what=TEXT,
    process=TEXT,
    thread=TEXT,
    message=TEXT,
    parts=LONG,
)

# at_ms is within resolution_ms: the event was at at_ms or up to resolution_ms - 1 later. other: a second client of the
# event (whoever holds the lock), or an address. number, number2: counts, offsets or ms, by kind of event.
# queues: "topic|broker|queue id" each.
EVENTS = _schema(
    cluster=TEXT,
    day=TEXT,
    at_ms=LONG,
    resolution_ms=INT,
    what=TEXT,
    host=TEXT,
    process=TEXT,
    thread=TEXT,
    layout=TEXT,
    file=TEXT,
    place=LONG,
    group=TEXT,
    topic=TEXT,
    broker=TEXT,
    queue_id=INT,
    client_id=TEXT,
    other=TEXT,
    number=LONG,
    number2=LONG,
    strategy=TEXT,
    queues=TEXTS,
)

# Each time a queue entered a client's process-queue table until it left it; what the issue and kept checks name.
HOLDS = _schema(
    group=TEXT,
    topic=TEXT,
    broker=TEXT,
    queue_id=INT,
    client_id=TEXT,
    from_ms=LONG,
    until_ms=LONG,
    ended=TEXT,
)
FILED_HOLDS = StructType([*_schema(cluster=TEXT, day=TEXT).fields, *HOLDS.fields])  # the day on which they began
# The same, and holds whose beginning lies before the input (from_ms is None), and what it rests on.
SPANS = StructType(
    [
        *_schema(cluster=TEXT, day=TEXT).fields,
        *HOLDS.fields,
        *_schema(host=TEXT, process=TEXT, layout=TEXT, from_place=LONG, first_seen_ms=LONG, evidence=TEXT).fields,
    ]
)


def shaped(frame: DataFrame, schema: StructType) -> DataFrame:
    """Give exactly the declared columns, in their order and types."""
    return frame.select(*(F.col(field.name).cast(field.dataType).alias(field.name) for field in schema.fields))


def day_of(at_ms: Column) -> Column:
    """Give the UTC day of a time, as text."""
    return F.date_format(F.timestamp_millis(at_ms), "yyyy-MM-dd")
