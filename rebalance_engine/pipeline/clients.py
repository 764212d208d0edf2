"""Whose lines they are: most lines about queues carry no client id, and a log may be shared by several clients.

One client of a group in a process: it is that one. Several, one after another or at once (a 4.x log is shared by all
processes of one user, ``spec/logs.md`` 1.1): a removal follows its queue's ``[persist]`` line; any other change is
part of the next result line that agrees with it, that is, has the queue after an add and lacks it after a removal.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - the name that PySpark's own documentation uses

from rebalance_engine.pipeline.keeping import computed_once
from rebalance_engine.pipeline.layouts import HISTORY
from rebalance_engine.pipeline.schemas import EVENTS, shaped
from rebalance_engine.pipeline.templates import ADDS, REMOVES

KEY = ["cluster", "process", "group"]
QUEUE_KEY = ["topic", "broker", "queue_id"]
RESULTS_LOOKED_AT = 4  # after a change; rounds of several clients in one log seldom nest deeper
RESULT_WITHIN_MS = 60_000
PERSIST_WITHIN_MS = 25_000  # an orderly queue is persisted first, and removed up to 20 s later
INSTANCE_WITHIN_MS, STOPPED_WITHIN_MS = 10_000, 1_000
TRIED_IN_GO = ("lock refused", "add failed")
PERSISTING_MS = 2_000  # offsets that were being sent are written down after a stop
OF_MEMBERS = ("consumer starting", "consumer stopped", "unregistered")
OF_INSTANCES = ("instance made", "instance stopped")


def moment() -> Column:
    """Order lines: by time, and those of one time as they stand in their file."""
    return F.struct("at_ms", "file", "place")


def changes_of(events: DataFrame) -> DataFrame:
    """Give the lines about queues, starts and stops of clients' logs, each with its client id where one is found."""
    # Asked first: what there is nothing of costs a reading of all events for each part of the plan that looks for it.
    present = {row["layout"] for row in events.select("layout").distinct().collect()}
    logged = events.where(F.col("layout").isin("java5", "java4", "cpp", "go"))
    mine = _with_groups(logged) if "cpp" in present else logged
    if HISTORY.name in present:
        named = logged.where(F.col("client_id").isNotNull()).select("cluster", "client_id").dropDuplicates()
        record = events.where(F.col("layout") == HISTORY.name)  # a client's own log is the better word
        mine = mine.unionByName(record.join(named, on=["cluster", "client_id"], how="left_anti"))
    known = _known_clients(mine)
    # Few, where lines are many.
    lives = computed_once(
        known.groupBy(*KEY, "client_id").agg(F.min("at_ms").alias("first_ms"), F.max("at_ms").alias("last_ms"))
    )
    marks = computed_once(mine.where(F.col("what").isin(*OF_MEMBERS, *OF_INSTANCES, "consumer started")))
    members = lives.select(*KEY, "client_id")
    counted = members.groupBy(*KEY).agg(F.count("client_id").alias("clients"), F.first("client_id").alias("only"))
    told_by_result = (F.col("layout") == "go") & F.col("what").isin(*ADDS)
    lines = mine.where(F.col("what").isin(*ADDS, *REMOVES) & F.col("group").isNotNull() & ~told_by_result).join(
        counted, on=KEY, how="left"
    )
    own = marks.where(F.col("what").isin(*OF_MEMBERS) & F.col("group").isNotNull()).join(counted, on=KEY, how="left")
    strangers = _strangers(marks, members)
    speakers = members if strangers is None else members.unionByName(strangers)
    is_single = F.coalesce("clients", F.lit(0)) == 1
    single = own.where(is_single).withColumn("client_id", F.col("only"))
    if strangers is not None:
        beside = _by_instance_beside(single, marks, speakers).join(counted, on=KEY, how="left")
        single = beside.withColumn("client_id", F.coalesce("client_id", "only"))
    told = [single]
    parts = [lines.where(is_single).withColumn("client_id", F.col("only"))]
    kinds = {row["n"] for row in counted.select(F.least("clients", F.lit(2)).alias("n")).distinct().collect()}
    if 2 in kinds:  # asked first, because a plan that does nothing still costs seconds to make
        parts.append(_by_last_named(_tell_apart(lines.where(F.col("clients") > 1), mine), known))
        beside = _by_instance_beside(own.where(F.col("clients") > 1), marks, speakers)
        told.append(_by_last_named(beside, known))
    ends = reduce(DataFrame.unionByName, [part.select(*mine.columns) for part in told])
    parts.append(_without_those_who_go_on(ends, mine, marks, lives, strangers))
    nameless = lines.unionByName(own).where(F.col("clients").isNull())
    if not nameless.isEmpty():
        parts.append(_by_instance(nameless, mine))
    if "go" in present:
        parts.append(_results_of_go(mine))
    return shaped(reduce(DataFrame.unionByName, [part.select(*mine.columns) for part in parts]), EVENTS)


def _results_of_go(mine: DataFrame) -> DataFrame:
    """Take the adds of Go's clients from their results: the lines that tell an add are of level DEBUG.

    A result lists what a member wants; an orderly one has not got what it was refused the lock of.
    """
    listed = mine.where((F.col("layout") == "go") & (F.col("what") == "result") & F.col("queues").isNotNull())
    results = _without_refused(listed, mine)
    before = Window.partitionBy(*KEY, "client_id", "topic").orderBy(moment())
    had = F.coalesce(F.lag("queues").over(before), F.array().cast("array<string>"))
    came = results.withColumn("had", had).withColumn("pair", F.explode(F.array_except("queues", "had")))
    return _with_queue(came).withColumn("what", F.lit("added"))


def _without_refused(results: DataFrame, mine: DataFrame) -> DataFrame:
    """Leave out of results the queues of which the last word before is that their lock was refused.

    Before it adds a queue a member asks for its offset, and says so (``updateProcessQueueTable``).
    """
    told = mine.where((F.col("layout") == "go") & F.col("what").isin(*TRIED_IN_GO, "start offset"))
    marks = told.where(F.col("group").isNotNull() & F.col("queue_id").isNotNull())
    if marks.where(F.col("what").isin(*TRIED_IN_GO)).isEmpty():
        return results
    each = _with_queue(results.withColumn("pair", F.explode("queues")))
    both = each.unionByName(marks.withColumn("pair", F.lit(None).cast("string")))
    before = (
        Window.partitionBy(*KEY, *QUEUE_KEY).orderBy(moment()).rowsBetween(Window.unboundedPreceding, Window.currentRow)
    )
    last = F.last(F.when(F.col("what") != "result", F.col("what")), ignorenulls=True).over(before)
    refused = both.withColumn("last", last).where((F.col("what") == "result") & F.col("last").isin(*TRIED_IN_GO))
    by_line = refused.groupBy(*KEY, "file", "place").agg(F.collect_list("pair").alias("refused"))
    met = results.join(by_line, on=[*KEY, "file", "place"], how="left")
    none = F.array().cast("array<string>")
    return met.withColumn("queues", F.array_except("queues", F.coalesce("refused", none))).drop("refused")


def _with_queue(pairs: DataFrame) -> DataFrame:
    """Give broker and queue id of what a result lists."""
    queue_id = F.substring_index("pair", "|", -1).try_cast("int")
    return pairs.withColumns({"broker": F.substring_index("pair", "|", 1), "queue_id": queue_id})


def _with_groups(mine: DataFrame) -> DataFrame:
    """Name the group of C++ lines, which name a queue only: that of the topic's results, where it is one."""
    bare = mine.where((F.col("layout") == "cpp") & F.col("group").isNull() & F.col("topic").isNotNull())
    results = mine.where((F.col("layout") == "cpp") & (F.col("what") == "result"))
    of_topic = (
        results.groupBy("cluster", "process", "topic")
        .agg(F.countDistinct("group").alias("groups"), F.first("group").alias("of_topic"))
        .where(F.col("groups") == 1)
        .drop("groups")
    )
    named = bare.join(of_topic, on=["cluster", "process", "topic"], how="left").withColumn("group", F.col("of_topic"))
    rest = mine.where((F.col("layout") != "cpp") | F.col("group").isNotNull() | F.col("topic").isNull())
    is_left = F.col("group").isNull() & F.col("what").isin(*ADDS, *REMOVES)
    if named.where(is_left).isEmpty():  # asked first: most processes have one group
        return rest.unionByName(named.select(*mine.columns))
    followed = _by_what_follows(named.where(is_left).select(*mine.columns), mine, results)
    return rest.unionByName(named.where(~is_left).select(*mine.columns)).unionByName(followed)


def _by_what_follows(bare: DataFrame, mine: DataFrame, results: DataFrame) -> DataFrame:
    """Name the group of adds and drops in processes of several by the line of the same round that names it.

    An add is followed by "Start to pull" with the queue, a drop by a result without it (``RebalancePush``).
    """
    started = mine.where((F.col("layout") == "cpp") & (F.col("what") == "start offset") & F.col("group").isNotNull())
    of_topic = Window.partitionBy(*KEY, "client_id", "topic").orderBy(moment())
    lost = F.array_except(F.lag("queues").over(of_topic), F.col("queues"))
    left = _with_queue(results.withColumn("lost", lost).withColumn("pair", F.explode("lost"))).select(*mine.columns)
    marks = started.withColumn("mark", F.lit("start")).unionByName(left.withColumn("mark", F.lit("left")))
    both = bare.withColumn("mark", F.lit(None).cast("string")).unionByName(marks)
    after = Window.partitionBy("cluster", "process", *QUEUE_KEY).orderBy(F.desc(moment()))

    def following(mark: str) -> Column:
        one = F.last(F.when(F.col("mark") == mark, F.struct("at_ms", "group")), ignorenulls=True).over(after)
        return F.when(one["at_ms"] - F.col("at_ms") <= RESULT_WITHIN_MS, one["group"])

    told = both.withColumns({"started": following("start"), "dropped": following("left")})
    group = F.when(F.col("what").isin(*ADDS), F.col("started")).otherwise(F.col("dropped"))
    return told.where(F.col("mark").isNull()).withColumn("group", group).select(*mine.columns)


def _known_clients(mine: DataFrame) -> DataFrame:
    """Give every line that names both a group and a client: those of the process that are members."""
    direct = mine.where(F.col("group").isNotNull() & F.col("client_id").isNotNull())
    beats = mine.where(F.col("what") == "heartbeat data").withColumn("group", F.explode("queues"))
    return direct.unionByName(beats.select(*mine.columns)).select(*KEY, "client_id", "thread", "at_ms", "file", "place")


def _strangers(marks: DataFrame, members: DataFrame) -> DataFrame | None:
    """Give the clients that began to start as members of a group, and never spoke as one: these could not start.

    A consumer says that it starts, makes its instance, and says then that it has started. None: there are no such.
    """
    told = marks.where(F.col("what").isin("consumer starting", "instance made", "consumer started"))
    order = Window.partitionBy("cluster", "process").orderBy(moment())
    following = F.lead(F.struct("what", "client_id", "at_ms")).over(order)
    began = told.withColumn("next", following).where(
        (F.col("what") == "consumer starting")
        & (F.col("next.what") == "instance made")
        & (F.col("next.at_ms") - F.col("at_ms") <= INSTANCE_WITHIN_MS)
    )
    made = began.select(*KEY, F.col("next.client_id").alias("client_id")).where(F.col("client_id").isNotNull())
    in_process = members.select("cluster", "process", "client_id")
    found = made.join(in_process, on=["cluster", "process", "client_id"], how="left_anti")
    # Only beside a member can its lines be taken for somebody else's.
    beside = computed_once(found.dropDuplicates().join(members.select(*KEY).distinct(), on=KEY, how="left_semi"))
    return None if beside.isEmpty() else beside


def _without_those_who_go_on(
    ends: DataFrame, mine: DataFrame, marks: DataFrame, lives: DataFrame, strangers: DataFrame | None
) -> DataFrame:
    """Take starts and stops away from members that go on persisting what they had: these are of somebody else.

    What is persisted without having been added meanwhile proves that its member went on; but where its client's
    instance was made anew before, or a queue was added that was not removed, it began anew, and a line is lost. They
    are of the stranger whose instance was made last, if there is one; else a stop is of nobody knows whom, and a start,
    which may have come to nothing, tells nothing.
    """
    since, line = F.col("at_ms") + PERSISTING_MS, ["cluster", "process", "file", "place"]
    made = marks.where(F.col("what") == "instance made").select(
        "cluster", "process", "client_id", F.col("at_ms").alias("made_ms")
    )
    asked = computed_once(
        ends.join(lives, on=[*KEY, "client_id"], how="inner")
        .where((F.col("first_ms") < F.col("at_ms")) & (F.col("last_ms") > since))
        .join(made, on=["cluster", "process", "client_id"], how="left")
        .groupBy(*KEY, "client_id", "file", "place", F.col("at_ms").alias("mark_ms"))
        .agg(F.min(F.when(F.col("made_ms") >= F.col("at_ms"), F.col("made_ms"))).alias("made_ms"))
        .where(F.col("made_ms").isNull() | (F.col("made_ms") > F.col("mark_ms") + PERSISTING_MS))
        .withColumnsRenamed({"file": "mark_file", "place": "mark_place"})
    )
    if asked.isEmpty():  # asked first: who stops says nothing more, and most logs are of one life
        return ends
    mark = [*KEY, "client_id", "mark_ms", "mark_file", "mark_place"]
    of_queue = Window.partitionBy(*KEY, *QUEUE_KEY).orderBy(moment())
    is_add, is_change = F.col("what").isin(*ADDS), F.col("what").isin(*ADDS, *REMOVES)
    asking = F.broadcast(asked.select(*KEY).distinct())
    added = (
        mine.where(is_change)
        .join(asking, on=KEY, how="left_semi")
        .withColumn("is_anew", F.lag("what").over(of_queue).isin(*ADDS))
        .where(is_add)
    )
    said = mine.where((F.col("what") == "persisted all") & F.col("client_id").isNotNull())
    is_in_life = F.col("made_ms").isNull() | (F.col("at_ms") < F.col("made_ms"))
    persisted = (
        said.select(*KEY, "client_id", *QUEUE_KEY, "at_ms")
        .join(F.broadcast(asked), on=[*KEY, "client_id"], how="inner")
        .where((F.col("at_ms") >= F.col("mark_ms") + PERSISTING_MS) & is_in_life)
        .groupBy(*mark, *QUEUE_KEY)
        .agg(F.min("at_ms").alias("persisted_ms"))
    )
    adds = (
        added.select(*KEY, *QUEUE_KEY, "at_ms", "is_anew")
        .join(F.broadcast(asked), on=KEY, how="inner")
        .where(F.col("at_ms") >= F.col("mark_ms"))
        .groupBy(*mark, *QUEUE_KEY)
        .agg(F.min("at_ms").alias("added_ms"), F.min(F.when(F.col("is_anew"), F.col("at_ms"))).alias("anew_ms"))
    )
    anew = adds.groupBy(*mark).agg(F.min("anew_ms").alias("anew_ms"))
    met = persisted.join(adds.drop("anew_ms"), on=[*mark, *QUEUE_KEY], how="left").join(anew, on=mark, how="left")
    goes_on = F.coalesce(F.least("added_ms", "anew_ms") > F.col("persisted_ms"), F.lit(True))
    went_on = met.where(goes_on).select(
        "cluster", "process", F.col("mark_file").alias("file"), F.col("mark_place").alias("place")
    )
    others = computed_once(went_on.distinct().withColumn("is_others", F.lit(True)))
    if others.isEmpty():
        return ends
    told = ends.join(F.broadcast(others), on=line, how="left")
    client = F.when(F.col("is_others").isNull(), F.col("client_id"))
    if strangers is not None:
        theirs = marks.where(F.col("what") == "instance made").drop("group")
        came = theirs.join(strangers, on=["cluster", "process", "client_id"], how="inner").select(*ends.columns)
        before = Window.partitionBy(*KEY).orderBy(moment())
        last = F.last(F.when(F.col("what") == "instance made", F.col("client_id")), ignorenulls=True).over(before)
        both = told.unionByName(came, allowMissingColumns=True).withColumn("last", last)
        told, client = both.where(F.col("what") != "instance made"), F.coalesce(client, "last")
    named = told.withColumn("client_id", client)
    return named.where(F.col("client_id").isNotNull() | (F.col("what") != "consumer starting")).select(*ends.columns)


def _tell_apart(changes: DataFrame, mine: DataFrame) -> DataFrame:
    return _by_result(_by_persist(changes, mine), mine).select(*mine.columns)


def _by_persist(changes: DataFrame, mine: DataFrame) -> DataFrame:
    persists = mine.where(F.col("what") == "persisted").select(
        *KEY, *QUEUE_KEY, F.col("client_id").alias("persisting"), F.col("at_ms").alias("persisted_ms"), "place", "file"
    )
    key = [*KEY, *QUEUE_KEY]
    before = F.col("persisted_ms").between(F.col("at_ms") - PERSIST_WITHIN_MS, F.col("at_ms"))
    removals = changes.where(~F.col("what").isin(*ADDS))
    met = removals.join(persists.drop("place", "file"), on=key, how="left").where(
        before | F.col("persisted_ms").isNull()
    )
    last = met.groupBy(*key, "at_ms", "file", "place").agg(F.max_by("persisting", "persisted_ms").alias("persisting"))
    told = removals.join(last, on=[*key, "at_ms", "file", "place"], how="left").withColumn(
        "client_id", F.col("persisting")
    )
    adds = changes.where(F.col("what").isin(*ADDS)).withColumn("client_id", F.lit(None).cast("string"))
    return told.select(*changes.columns).unionByName(adds)


def _by_result(changes: DataFrame, mine: DataFrame) -> DataFrame:
    of_topic = [*KEY, "topic"]
    results = mine.where(F.col("what") == "result")
    both = changes.withColumn("is_result", F.lit(0)).unionByName(
        results.withColumn("is_result", F.lit(1)), allowMissingColumns=True
    )
    numbered = both.withColumn("seq", F.sum("is_result").over(Window.partitionBy(*of_topic).orderBy(moment())))
    shown = numbered.where(F.col("is_result") == 1).select(
        *of_topic,
        "seq",
        F.col("client_id").alias("of"),
        F.col("queues").alias("wanted"),
        F.col("at_ms").alias("shown_ms"),
    )
    steps = F.sequence(F.lit(1), F.lit(RESULTS_LOOKED_AT))
    asked = numbered.where(F.col("is_result") == 0).withColumn("step", F.explode(steps))
    asked = asked.withColumn("seq", F.col("seq") + F.col("step"))
    queue = F.concat_ws("|", "broker", "queue_id")
    agrees = F.array_contains("wanted", queue) == F.col("what").isin(*ADDS)
    soon = F.col("shown_ms") - F.col("at_ms") <= RESULT_WITHIN_MS
    met = asked.join(shown, on=[*of_topic, "seq"], how="left").withColumn("fits", F.when(agrees & soon, F.col("of")))
    first = met.groupBy(*of_topic, "at_ms", "file", "place").agg(
        F.min_by("fits", F.when(F.col("fits").isNotNull(), F.col("step"))).alias("fits")
    )
    told = changes.join(first, on=[*of_topic, "at_ms", "file", "place"], how="left")
    return told.withColumn("client_id", F.coalesce("client_id", "fits"))


def _by_instance_beside(lines: DataFrame, marks: DataFrame, speakers: DataFrame) -> DataFrame:
    """Take the client whose instance is made or stopped beside a start or a stop: whoever speaks next may be another.

    A consumer that starts says so, and makes its instance then; one that stops unregisters, stops its instance, and
    says so at once (``DefaultMQPushConsumerImpl``). Nothing is told beside where its process has another consumer.

    Args:
        speakers: whose lines they may be: of each group and process the members, and who could not start.
    """
    beside = marks.where(F.col("what").isin(*OF_INSTANCES)).drop("group")
    theirs = beside.join(speakers, on=["cluster", "process", "client_id"], how="inner").select(*marks.columns)
    both = lines.select(*marks.columns).withColumn("client_id", F.lit(None).cast("string")).unionByName(theirs)
    before = Window.partitionBy(*KEY).orderBy(moment())
    after = Window.partitionBy(*KEY).orderBy(F.desc(moment()))

    def nearest(what: str, window: WindowSpec, within_ms: int) -> Column:
        one = F.last(F.when(F.col("what") == what, F.struct("at_ms", "client_id")), ignorenulls=True).over(window)
        return F.when(F.abs(one["at_ms"] - F.col("at_ms")) <= within_ms, one["client_id"])

    told = both.withColumns(
        {
            "made_next": nearest("instance made", after, INSTANCE_WITHIN_MS),
            "stopped_next": nearest("instance stopped", after, INSTANCE_WITHIN_MS),
            "stopped_last": nearest("instance stopped", before, STOPPED_WITHIN_MS),
        }
    ).where(~F.col("what").isin(*OF_INSTANCES))
    client = (
        F.when(F.col("what") == "consumer starting", F.col("made_next"))
        .when(F.col("what") == "unregistered", F.col("stopped_next"))
        .when(F.col("what") == "consumer stopped", F.col("stopped_last"))
    )
    return told.withColumn("client_id", client).select(*marks.columns)


def _by_last_named(lines: DataFrame, known: DataFrame) -> DataFrame:
    """Take the client that the group's lines in this log named last, or, before the first, will name next."""
    marks = known.withColumn("named", F.col("client_id")).withColumn("is_mark", F.lit(1))
    both = lines.withColumn("is_mark", F.lit(0)).unionByName(marks, allowMissingColumns=True)
    before = Window.partitionBy(*KEY).orderBy(moment())
    after = Window.partitionBy(*KEY).orderBy(F.desc(moment()))
    told = both.withColumns(
        {
            "named_last": F.last("named", ignorenulls=True).over(before),
            "named_next": F.last("named", ignorenulls=True).over(after),
        }
    ).where(F.col("is_mark") == 0)
    # A start is of the client that comes; everything else of one that was there.
    near = F.when(F.col("what") == "consumer starting", F.coalesce("named_next", "named_last")).otherwise(
        F.coalesce("named_last", "named_next")
    )
    return told.withColumn("client_id", F.coalesce("client_id", near))


def _by_instance(lines: DataFrame, mine: DataFrame) -> DataFrame:
    """Take the client that the process made last, or, of a start, at once after it.

    Broadcasting members never name themselves beside their group; nor does one whose log breaks off after its start.
    """
    made = mine.where(F.col("what") == "instance made").select(
        "cluster", "process", "at_ms", "file", "place", F.col("client_id").alias("named")
    )
    both = lines.withColumn("is_mark", F.lit(0)).unionByName(
        made.withColumn("is_mark", F.lit(1)), allowMissingColumns=True
    )
    before = Window.partitionBy("cluster", "process").orderBy(moment())
    after = Window.partitionBy("cluster", "process").orderBy(F.desc(moment()))
    made_next = F.last(F.when(F.col("is_mark") == 1, F.struct("at_ms", "named")), ignorenulls=True).over(after)
    told = both.withColumns({"last": F.last("named", ignorenulls=True).over(before), "next": made_next})
    is_start = F.col("what") == "consumer starting"
    is_soon = F.col("next.at_ms") - F.col("at_ms") <= INSTANCE_WITHIN_MS
    own = F.when(is_start & is_soon, F.col("next.named"))
    return told.where(F.col("is_mark") == 0).withColumn("client_id", F.coalesce("client_id", own, "last"))
