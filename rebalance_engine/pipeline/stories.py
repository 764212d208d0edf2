"""Holds and clues to rounds, handoffs and loads: every group by itself, in parallel, by plain Python.

Spark hands each group's rows over as Arrow batches; what a group's story is, the plain rooms beside this one say.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped] # pyarrow has no types
from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses
from pyspark.sql.types import StructType

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.arrivals import arrived
from rebalance_engine.pipeline.backs import backs_of, with_names
from rebalance_engine.pipeline.beginnings import input_begins, since
from rebalance_engine.pipeline.clues import (
    alone_in_folder,
    beside_changes,
    clocks_of_groups,
    counts_of,
    covers_of,
    of_groups,
)
from rebalance_engine.pipeline.cuts import parted, without_routes
from rebalance_engine.pipeline.disputes import Dispute, disputes_of, with_disputed
from rebalance_engine.pipeline.handoffs import handoffs_of
from rebalance_engine.pipeline.holes import clues_of_holes, holes_of
from rebalance_engine.pipeline.keeping import hash_of
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.loads import DAY_MS, GroupLoad, Presence, loads_of
from rebalance_engine.pipeline.logends import input_ends_of, latest_end, log_begins_of, log_ends_of
from rebalance_engine.pipeline.models import models_of
from rebalance_engine.pipeline.moved import Meanwhile, in_doubt_of_clocks, moved_row
from rebalance_engine.pipeline.named import together, without_named
from rebalance_engine.pipeline.offs import Spans as Offs
from rebalance_engine.pipeline.offs import off_or_restarted, times_without_members
from rebalance_engine.pipeline.rounds import BY_BROKERS, STOPS, Cause, Round, presence_of, rounds_of
from rebalance_engine.pipeline.routes import route_clues, short_of_queues
from rebalance_engine.pipeline.schemas import INPUTS, STORIES, day_of, shaped
from rebalance_engine.pipeline.skews import doubts_of, in_doubt
from rebalance_engine.pipeline.sorting import Clues, known, queue_of, sorted_out, whole
from rebalance_engine.pipeline.stretched import last_there, stretch_rows
from rebalance_engine.pipeline.sweep import Hold
from rebalance_engine.pipeline.templates import POPS
from rebalance_engine.pipeline.unheard import (
    Spans,
    cut_off,
    let_go,
    presence_of_strangers,
    presence_of_uncounted,
    there_within,
    unseen,
    without,
)
from rebalance_engine.pipeline.vanished import quiet_of, unsure_of, vanished

QUEUE_CLUES = ("lock refused", "pull refused", "first pull", "start offset", "pull ended", "persisted", "uncommitted")
TOLD_BY = (
    "stories",
    "sorting",
    "arrivals",
    "rounds",
    "handoffs",
    "moved",
    "loads",
    "stretched",
    "sweep",
    "routes",
    "skews",
    "unheard",
    "disputes",
    "named",
    "beginnings",
    "vanished",
    "offs",
    "cuts",
)


def clues_of(
    events: DataFrame,
    changes: DataFrame,
    spans: DataFrame,
    life: DataFrame,
    clocks: DataFrame | None = None,
    holes: DataFrame | None = None,
) -> DataFrame:
    """Choose the lines that a group's story needs; of the offsets persisted every 5 s those beside a change.

    Of brokers' lines about members of whom no log is there ``number`` is 1: nobody tells what these hold.

    Args:
        changes: as ``EVENTS``, with client ids.
        spans: as ``SPANS``.
        life: of :func:`rebalance_engine.pipeline.events.signs_of_life`.
        clocks: as ``CLOCKS``; without it all are taken to agree.
        holes: of :func:`rebalance_engine.pipeline.holes.holes_of`, of these spans and more; without it they are found.
    """
    members = spans.select("cluster", "process", "group").dropDuplicates()
    alone = alone_in_folder(changes)
    of_queue = of_groups(events.where(F.col("what").isin(*QUEUE_CLUES)), members, alone)
    by_group = events.where(F.col("what").isin(*BY_BROKERS) & F.col("group").isNotNull())
    own = changes.where(F.col("what").isin(*STOPS, "consumer starting"))
    changed = (
        events.where((F.col("what") == "route changed") & (F.col("number") == 1))
        .drop("group")
        .join(members, on=["cluster", "process"], how="inner")
    )
    own = own.withColumn(
        "what", F.when(F.col("what") == "consumer starting", "consumer started").otherwise(F.col("what"))
    )
    popped = events.where(F.col("what").isin(*POPS) & F.col("group").isNotNull()).withColumn("what", F.lit("popped"))
    columns = ["cluster", "group", "what", "at_ms", "process", "topic", "broker", "queue_id", "client_id", "number",
               "number2"]  # fmt: skip
    chosen = of_queue.select(*columns)
    signs = _signs(events, own)
    backs = backs_of(events, spans)
    for more in (
        _heard(with_names(by_group, events), events, spans),
        own,
        signs,
        changed,
        popped,
        backs,
        beside_changes(events, members, alone),
    ):
        chosen = chosen.unionByName(more.select(*columns))
    ownerless = models_of(events).select("cluster", "group", F.lit("ownerless").alias("what"), F.lit(0).alias("at_ms"))
    for more in (
        route_clues(events, spans),
        counts_of(events, spans),
        covers_of(events, life),
        input_ends_of(events, spans, life),
        log_ends_of(events, changes, spans, life),
        log_begins_of(changes, spans, life),
        clues_of_holes(holes_of(spans, events, life) if holes is None else holes, spans),
        ownerless.distinct(),
        *(() if clocks is None else (clocks_of_groups(clocks, spans),)),
    ):
        chosen = chosen.unionByName(more, allowMissingColumns=True)
    return chosen


def _heard(said: DataFrame, events: DataFrame, spans: DataFrame) -> DataFrame:
    """Mark what brokers say of members that no log but theirs names."""
    own = events.where((F.col("layout") != "broker") & (F.col("what") != "persisted all"))  # these are most of all
    named = own.select("cluster", "client_id").unionByName(spans.select("cluster", "client_id"))
    heard = named.where(F.col("client_id").isNotNull()).distinct().withColumn("is_heard", F.lit(True))
    is_unheard = F.col("is_heard").isNull() & F.col("client_id").isNotNull()
    return said.join(heard, on=["cluster", "client_id"], how="left").withColumn("number", F.when(is_unheard, 1))


def _signs(events: DataFrame, own: DataFrame) -> DataFrame:
    """Give what first tells after each start that a broker knows the client: a heartbeat, or what brokers told it.

    That brokers notify a process names none of its clients. A heartbeat is written down once it was answered.
    """
    beats = events.where(F.col("what") == "heartbeat data").withColumn("group", F.explode("queues"))
    told = events.where(F.col("what").isin("notified", "result") & (F.col("layout") != HISTORY.name))
    begun = own.where(F.col("what") == "consumer started")
    marks = beats.unionByName(told).select(*begun.columns).withColumn("what", F.lit("reached")).unionByName(begun)
    whose = ["cluster", "process", "group"]
    followed = marks.join(F.broadcast(begun.select(*whose).distinct()), on=whose, how="left_semi")
    latest = Window.partitionBy(*whose).orderBy("at_ms", "place").rowsBetween(Window.unboundedPreceding, -1)
    of_one = Window.partitionBy(*whose, "client_id", "start").orderBy("at_ms", "place")
    start = F.last(F.when(F.col("what") == "consumer started", F.col("at_ms")), ignorenulls=True).over(latest)
    since = followed.withColumn("start", start).where((F.col("what") == "reached") & F.col("start").isNotNull())
    return since.withColumn("nth", F.row_number().over(of_one)).where(F.col("nth") == 1).select(*begun.columns)


def inputs_of(spans: DataFrame, clues: DataFrame) -> DataFrame:
    """Tell by a checksum for each group, as ``INPUTS``, whether its story may be another than when it was told last.

    What tells it is part of the checksum: another version of these rooms tells all groups anew.
    """
    sums = [
        rows.groupBy("cluster", "group").agg(
            F.count(F.lit(1)).alias("rows"), F.sum(hash_of(rows.schema).cast("decimal(38,0)")).alias("sum")
        )
        for rows in (_told_from(spans), clues)
    ]
    told = [part.select("cluster", "group", F.concat_ws(" ", "rows", "sum").alias("told")) for part in sums]
    both = told[0].withColumnRenamed("told", "spans").join(told[1], on=["cluster", "group"], how="full")
    both = both.where(F.col("group").isNotNull())
    checksum = F.concat_ws("/", F.lit(_tellers()), "spans", "told")
    return shaped(both.withColumns({"day": F.lit("all"), "checksum": checksum}), INPUTS)


def _tellers() -> str:
    rooms = b"".join((Path(__file__).parent / f"{room}.py").read_bytes() for room in TOLD_BY)
    return hashlib.blake2b(rooms, digest_size=8).hexdigest()


def _told_from(spans: DataFrame) -> DataFrame:
    """Let a hold end as late as it may have: what is told from it are bounds."""
    return spans.select(
        "cluster", "group", "topic", "broker", "queue_id", "client_id", "process", "layout", "ended",
        latest_end().alias("until_ms"),
        F.coalesce("from_ms", "first_seen_ms").alias("from_ms"), "from_after_ms", "until_after_ms",
    )  # fmt: skip


def stories_of(spans: DataFrame, clues: DataFrame) -> DataFrame:
    """Tell every group's story: rows of several kinds, each as one JSON text, as ``STORIES``."""
    by_group = _told_from(spans).groupBy("cluster", "group")
    apart = clues.toDF(*clues.columns)  # columns of their own: some came from the spans
    return by_group.cogroup(apart.groupBy("cluster", "group")).applyInArrow(_story, STORIES)


def of_kind(stories: DataFrame, kind: str, schema: StructType) -> DataFrame:
    """Give one kind of a story's rows, as a table."""
    mine = stories.where(F.col("kind") == kind)
    body = StructType([column for column in schema.fields if column.name not in ("cluster", "day", "group")])
    told = mine.withColumn("told", F.from_json("body", body)).select("cluster", "group", "told.*")
    return shaped(told.withColumn("day", day_of(F.col("at_ms"))), schema)


def _story(spans: pa.Table, clues: pa.Table) -> pa.Table:
    rows, others = spans.to_pylist(), clues.to_pylist()
    told = list(tell(rows, others) if rows else comings(others))
    first = (rows or others)[0]
    columns = {
        "cluster": [first["cluster"]] * len(told),
        "group": [first["group"]] * len(told),
        "kind": [kind for kind, _ in told],
        "body": [json.dumps(body) for _, body in told],
    }
    return pa.table(columns, schema=pa.schema([(name, pa.string()) for name in columns]))


def tell(
    spans: Iterable[dict[str, object]], clues: Iterable[dict[str, object]]
) -> Iterator[tuple[str, dict[str, object]]]:
    """Tell one group's story, as (kind, row): rounds, handoffs, stretches without one owner, loads."""
    holds = _holds(spans)
    found = sorted_out(clues)
    holds = _until_the_end(holds, found.end_ms or 0)
    reached = arrived(found.causes, holds, found.signs)
    causes = [*reached, *_losses(holds)]
    end_ms = found.end_ms or 0
    quiet = quiet_of(found.log_ends, holds, causes, found.covers, end_ms)
    gone_quiet = vanished(quiet, presence_of(holds, causes, end_ms), found.counted)
    causes += gone_quiet
    holds = parted(holds, found.holes, reached)
    rounds = rounds_of(holds, causes)
    short = together(_short(found), without_routes(holds, found.holes, found.routes, end_ms))
    unheard = presence_of_strangers(found.unheard, found.causes, end_ms)
    cut = {} if found.end_ms is None else cut_off(holds, reached, found.log_ends, found.end_ms)
    unheard |= cut
    unheard = together(unheard, unseen(holds, found.holes, found.log_begins, reached, end_ms))
    present = presence_of(holds, causes, end_ms)
    there = together(present, unheard)
    disputes = disputes_of(found.counted, there, end_ms)
    unheard |= _uncounted(found, holds, there, disputes)
    yield from (("round", _round_row(one) | _unsure_of_round(one, unheard, short)) for one in rounds)
    sure = let_go(holds, cut)
    off, restarts = off_or_restarted(times_without_members(holds, present, unheard))
    doubts = doubts_of(sure, found.ahead)
    for one in handoffs_of(sure, found.by_queue, found.refusals):
        row = moved_row(one, rounds, found.routes, Meanwhile(off, restarts, short, unheard))
        yield in_doubt_of_clocks(one, row, sure[one.queue], doubts.get(one.queue, {}))
    inside = since(input_begins(holds, reached, found.counted, found.log_begins), unheard)
    until = last_there(sure, present, unheard)
    yield from stretch_rows(in_doubt(sure, doubts), found, inside, off, until, short, reached)
    unsure = together(unheard, unsure_of(quiet, gone_quiet, end_ms))
    heard = {
        client: without(spans, unsure.get(client, ()))
        for client, spans in presence_of(holds, causes).items()
        if client not in found.unheard
    }
    members, groups = loads_of(holds, heard)
    yield from (("member load", {"at_ms": one.day_ms, **asdict(one)}) for one in members)
    apart = {"clocks_apart": len(found.ahead)}
    yield from (("group load", _group_row(one, inside, disputes, short) | apart) for one in groups)


def comings(clues: Sequence[dict[str, object]]) -> Iterator[tuple[str, dict[str, object]]]:
    """Tell the rounds of a group of which nothing tells what anybody held: members alone came and went.

    Where nobody owns a queue, as all have it or brokers hand its messages out, nothing is divided anew.
    """
    if any(clue["what"] == "ownerless" for clue in clues):
        return
    found = sorted_out(clues)
    unknown = dict.fromkeys(("moves", "handoffs", "above_fewest", "unowned", "unowned_most"))
    for one in rounds_of({}, arrived(found.causes, {}, found.signs)):
        yield "bare round", _round_row(one) | unknown


def _until_the_end(holds: dict[MessageQueue, list[Hold]], end_ms: int) -> dict[MessageQueue, list[Hold]]:
    """Let members of whom nobody saw that they ended go on when their log does not."""
    return {
        queue: [replace(hold, until_ms=max(hold.until_ms, end_ms)) if hold.ended == "open" else hold for hold in those]
        for queue, those in holds.items()
    }


def _holds(spans: Iterable[dict[str, object]]) -> dict[MessageQueue, list[Hold]]:
    holds: dict[MessageQueue, list[Hold]] = {}
    for span in spans:
        hold = Hold(
            whole(span["from_ms"]), whole(span["until_ms"]), str(span["client_id"]), str(span["ended"]),
            str(span["process"]), str(span["layout"]),
            known(span.get("from_after_ms")), known(span.get("until_after_ms")),
        )  # fmt: skip
        holds.setdefault(queue_of(span), []).append(hold)
    return holds


def _uncounted(
    found: Clues, holds: dict[MessageQueue, list[Hold]], there: Presence, disputes: Sequence[Dispute]
) -> Spans:
    """Tell when there were members whom nobody names, or may have been."""
    if found.end_ms is None:
        return {}
    more = presence_of_uncounted(found.counted, there, holds, found.end_ms)
    more = with_disputed(more, disputes, found.counted, there, holds)
    return without_named(more, found.counted, found.covers)


def _short(found: Clues) -> dict[str, Offs]:
    """Tell by topic when it lacked queues of which no route tells."""
    end_ms = found.end_ms or 0
    told = (
        (topic, short_of_queues(those, found.routes.get(topic, ()), end_ms)) for topic, those in found.divided.items()
    )
    return {topic: spans for topic, spans in told if spans}


def _losses(holds: dict[MessageQueue, list[Hold]]) -> list[Cause]:
    lost = {(hold.until_ms, hold.client) for those in holds.values() for hold in those if hold.ended == "lost"}
    return [Cause(at, "lost", client, "") for at, client in sorted(lost)]


def _round_row(one: Round) -> dict[str, object]:
    return {"at_ms": one.opened_ms, **asdict(one), "unowned_most": one.unowned, "cause": one.cause}


def _unsure_of_round(one: Round, unheard: Presence, short: Mapping[str, Offs]) -> dict[str, object]:
    """Say what is not known of a round while somebody was there of whom nobody tells what it held, or queues lacked."""
    times = one.opened_ms, max(one.last_cause_ms, one.settled_ms or 0)
    if there_within(*times, unheard):
        return {"above_fewest": None, "unowned": 0}
    return {"unowned": 0} if there_within(*times, short) else {}


def _group_row(
    one: GroupLoad, unheard: Presence, disputes: Sequence[Dispute], short: Mapping[str, Offs]
) -> dict[str, object]:
    there, lacking = (
        sum(any(begin < one.day_ms + DAY_MS and one.day_ms <= end for begin, end in spans) for spans in those.values())
        for those in (unheard, short)
    )
    count = sum(one.day_ms <= begin < one.day_ms + DAY_MS for begin, *_ in disputes)
    counts = {"unheard": there, "disputes": count, "routes_unknown": lacking}
    return {"at_ms": one.day_ms, **asdict(one), **counts}
