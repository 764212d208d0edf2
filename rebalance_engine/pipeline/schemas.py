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
# queues: "topic|broker|queue id" each. broadcasting: the groups that the line says to broadcast.
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
    broadcasting=TEXTS,
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
# The same, and holds whose beginning lies before the input (from_ms is None), and what it rests on. from_after_ms,
# until_after_ms: it began or ended no sooner. Where only a look tells, of the look before; where a client's shutdown
# ended it, of its first good-bye to a broker; where only a broker saw its process die, the broker's second. None where
# one line tells the very moment. until_before_ms: it ended no later; None where until_ms says so, which else is the
# best single figure: of a broker's second the middle.
SPANS = StructType(
    [
        *_schema(cluster=TEXT, day=TEXT).fields,
        *HOLDS.fields,
        *_schema(host=TEXT, process=TEXT, layout=TEXT, from_place=LONG, first_seen_ms=LONG, evidence=TEXT).fields,
        *_schema(from_after_ms=LONG, until_after_ms=LONG, until_before_ms=LONG).fields,
    ]
)


def shaped(frame: DataFrame, schema: StructType) -> DataFrame:
    """Give exactly the declared columns, in their order and types."""
    return frame.select(*(F.col(field.name).cast(field.dataType).alias(field.name) for field in schema.fields))


def day_of(at_ms: Column) -> Column:
    """Give the UTC day of a time, as text."""
    return F.date_format(F.timestamp_millis(at_ms), "yyyy-MM-dd")


# ---- what groups' stories come to, see stories.py; at_ms is by which a row is filed ----

STORIES = _schema(cluster=TEXT, group=TEXT, kind=TEXT, body=TEXT)
INPUTS = _schema(cluster=TEXT, day=TEXT, group=TEXT, checksum=TEXT)  # of what a group's story is told from


def _filed(**columns: DataType) -> StructType:
    return _schema(cluster=TEXT, day=TEXT, group=TEXT, at_ms=LONG, **columns)


_QUEUE: dict[str, DataType] = {"topic": TEXT, "broker": TEXT, "queue_id": INT}
ROUNDS = _filed(
    number=INT,
    opened_ms=LONG,
    last_cause_ms=LONG,
    settled_ms=LONG,
    superseded=BOOL,
    cause=TEXT,
    causes=TEXTS,
    who=TEXTS,
    members_before=TEXTS,
    members_after=TEXTS,
    moves=INT,
    handoffs=INT,
    above_fewest=INT,  # None: somebody was there of whom nobody tells what it held
    unowned=INT,  # at least; unowned_most: if whoever was there of whom nobody tells what it held had nothing
    unowned_most=INT,
    begun_by=TEXT,  # a member, or a broker
)
HANDOFFS = _filed(
    **_QUEUE,
    from_client=TEXT,
    to_client=TEXT,
    released_ms=LONG,
    released_after_ms=LONG,  # the giver's until_after_ms; None: it was let go at released_ms
    taken_ms=LONG,
    ended=TEXT,
    off_ms=LONG,  # in between the group was off; not of the times below
    away_ms=LONG,  # in between the queue's broker was away; not of its pause
    unowned_ms=LONG,
    unowned_most_ms=LONG,
    overlap_ms=LONG,
    overlap_least_ms=LONG,
    first_pull_ms=LONG,
    pause_ms=LONG,
    restart_ms=LONG,  # of it, while no member was there: all had stopped, and others started within minutes
    pause_is=TEXT,
    refused_pulls=INT,
    lock_wait_ms=LONG,
    silence_most_ms=LONG,
    duplicates_least=LONG,
    duplicates_most=LONG,
    round=INT,
)
# Nobody held the queue, or several did; stopping_ms: of it, while all of these but one were shutting down; surely_ms:
# of it, while several surely held, whenever those let go of whom it is not known to the moment. is_open: it
# went on when the input ended. is_deserted: the group had no member left, until then or until it was started again.
# unheard: members that may have held it besides: of whom no log tells what they held then, or only between bounds; 1
# also where it may have been in no route. What is unowned for certain has 0.
STRETCHES = _filed(
    **_QUEUE, until_ms=LONG, clients=TEXTS, stopping_ms=LONG, surely_ms=LONG, is_open=BOOL, is_deserted=BOOL,
    unheard=INT,
)  # fmt: skip
MEMBER_LOADS = _filed(client=TEXT, present_ms=LONG, idle_ms=LONG, queue_ms=LONG)
# disputes: how often members counted each other differently at one time. clocks_apart: hosts of its members whose
# clocks differ from brokers', on any day. routes_unknown: topics of which, for a time, no line tells the queues.
GROUP_LOADS = _filed(
    observed_ms=LONG, max_over_mean=DOUBLE, unheard=INT, disputes=INT, clocks_apart=INT, routes_unknown=INT
)

# ---- measures, see measures.py ----

COSTS = _schema(
    cluster=TEXT,
    day=TEXT,
    group=TEXT,
    rounds=LONG,  # about, where unheard or routes_unknown is not 0: of what opened, or parted, one a line may be lost
    handoffs=LONG,  # at least, as are returns, where unheard is not 0
    returns=LONG,  # queues went back to the member that had let them go; pauses and duplicates count them too
    pause_ms=LONG,
    pause_locked_ms=LONG,  # of it, while the new owner waited for a lock
    pause_restart_ms=LONG,  # of it, while no member was there, as all were restarted at once
    silence_most_ms=LONG,  # the longest of any handoff; silence_unbounded: handoffs of which no line bounds it
    silence_unbounded=LONG,
    unowned_ms=LONG,  # at least; unowned_most_ms: if members of whom no log tells held nothing
    unowned_most_ms=LONG,
    unowned_open_ms=LONG,  # of unowned_ms, of queues that nobody had taken when the input ended
    deserted_ms=LONG,  # not of unowned_ms: nobody held queues of a group that was off, without any member
    overlap_ms=LONG,  # at most, as far as it is known of members; overlap_least_ms: at least
    overlap_least_ms=LONG,
    overlap_stopping_ms=LONG,
    overlap_unmoved_ms=LONG,  # of overlap_ms, of queues that were not handed over: no line bounds what came twice
    refused_pulls=LONG,
    lock_wait_ms=LONG,
    lock_lost_ms=LONG,  # members held queues for so long without their locks, which they had lost
    duplicates_least=LONG,
    duplicates_most=LONG,
    duplicates_unbounded=LONG,
    above_fewest=LONG,  # at least: of the rounds of which it is known; above_fewest_unknown: the others
    above_fewest_unknown=LONG,
    flaps=LONG,  # at least, where there are members of whom no log tells what they held
    max_over_mean=DOUBLE,
    idle_ms=LONG,
    present_ms=LONG,
    unheard=LONG,
    disputes=LONG,  # times at which members counted each other differently
    clocks_apart=LONG,  # hosts of its members whose clocks differ: counts and loads are neither bounds nor exact then
    routes_unknown=LONG,  # topics of which, for a time, no line tells which queues they had: rounds are about then
)
# Of whom brokers refused a lock, and whose it was then; until_ms: the grant, or the last refusal. To the second.
# is_held: the client had the queue and lost its lock, by its own log; until_ms: it had it again, or the hold's end.
LOCK_WAITS = _filed(**_QUEUE, client=TEXT, holder=TEXT, until_ms=LONG, refusals=LONG, is_granted=BOOL, is_held=BOOL)
# Client ids that two processes used at once, and held queues twice; twice_ms: of all these queues together.
DOUBLES = _filed(client=TEXT, until_ms=LONG, queues=LONG, twice_ms=LONG, processes=TEXTS)
# Hosts whose clocks differ: the host's is ahead of the broker's by least_ms to most_ms (behind, where it is negative).
CLOCKS = _schema(
    cluster=TEXT, day=TEXT, host=TEXT, broker_host=TEXT, at_ms=LONG, least_ms=LONG, most_ms=LONG, signs=LONG
)
# What brokers' logs lack, from at_ms until until_ms: "hole", or "begins late" and "ends early" among others. why: their
# broker "stopped", or "started", then, or started behind a hole without a word of its end: it "died". None: not told.
GAPS = _schema(cluster=TEXT, day=TEXT, host=TEXT, log=TEXT, what=TEXT, at_ms=LONG, until_ms=LONG, broker=TEXT, why=TEXT)
# Groups of which several clients that were there at once write into one folder, and most of their lines name none.
MIXED = _filed(host=TEXT, folder=TEXT, clients=LONG, until_ms=LONG)
# Groups with members whose logs are of a layout that no real log has proved.
UNPROVED = _schema(cluster=TEXT, day=TEXT, host=TEXT, layout=TEXT, group=TEXT)
# Stretches of lines that clients' logs lack, from the last before to the first after, while their members held queues.
HOLES = _filed(host=TEXT, client=TEXT, until_ms=LONG)
STORMS = _filed(until_ms=LONG, rounds=LONG, starter=TEXT, cause=TEXT, pause_ms=LONG)
WAVES = _filed(
    until_ms=LONG, rounds=LONG, left=TEXTS, joined=TEXTS, handoffs=LONG, pause_ms=LONG, pause_restart_ms=LONG,
    duplicates_least=LONG,
)  # fmt: skip
HEARTBEATS = _schema(cluster=TEXT, day=TEXT, host=TEXT, failed=LONG, expired=LONG)
# Logs tell how long a send took only where it failed. Of those that went well members' own reports tell the slowest;
# slow_sends: those of which 5.x says for how long it left their broker out then, and so how long the slowest took,
# slow_least_ms to slow_most_ms (None: no bound). isolated_most_ms, isolated_share_most: with those of 4.x, at most.
BROKERS = _schema(
    cluster=TEXT, day=TEXT, broker=TEXT, isolations=LONG, isolated_ms=LONG, isolated_share=DOUBLE, unreachable=LONG,
    resent=LONG, failed_slowest_ms=LONG, failed_mean_ms=DOUBLE, went_well_slowest_ms=LONG, isolated_most_ms=LONG,
    isolated_share_most=DOUBLE, slow_sends=LONG, slow_least_ms=LONG, slow_most_ms=LONG,
)  # fmt: skip
# How many processes there were that would have told: what their members hold, offsets, sends that failed, brokers that
# they left out, heartbeats that failed, members that expired. Where none would, that nothing was told says nothing.
LOOKED = _schema(
    cluster=TEXT, day=TEXT, holds=LONG, offsets=LONG, sends=LONG, isolations=LONG, heartbeats=LONG, expiries=LONG
)
# Groups whose queues have no owners, by what their logs say: "broadcasting" or "POP", see models.py.
MODELS = _schema(cluster=TEXT, day=TEXT, group=TEXT, model=TEXT)
# is_over: a minute was looked at that was as before again; else it lasted for recovered_ms at least.
SPIKES = _filed(round=INT, before_per_s=DOUBLE, peak_per_s=DOUBLE, factor=DOUBLE, recovered_ms=LONG, is_over=BOOL)
BACKTEST = _filed(
    strategy=TEXT,
    now=TEXT,
    steps=INT,
    moves=LONG,
    handoffs=LONG,
    pause_ms=DOUBLE,
    mean_skew=DOUBLE,
    idle=DOUBLE,
    is_best=BOOL,
    says=TEXT,
)

# What summary and page are made from, see sections.py: a row of a section as JSON, without cluster and day.
REPORTS = _schema(cluster=TEXT, day=TEXT, section=TEXT, body=TEXT)
