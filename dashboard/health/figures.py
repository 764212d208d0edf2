"""The figures for Prometheus, read from the database whenever they are asked for.

Nothing is counted in a process: so figures survive a restart, all web processes tell the same, and the series of a
group end when the group is gone. What is unknown has no sample; it is never 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from django.conf import settings
from django.db.models import Count, Max, Q, QuerySet
from django.db.models.functions import Coalesce
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

from dashboard.clusters.models import ASIDE, Cluster, OutboxLine, Watch
from dashboard.groups.doubts import NO_DOUBTS, all_doubts_of, doubted
from dashboard.groups.handoffs import NO_PAUSE, UNKNOWN_PAUSE, longest_pause, stood_still
from dashboard.groups.lag import waiting_of
from dashboard.groups.lasting import lasting_pauses
from dashboard.groups.models import Finding, Group, Handoff, Round
from dashboard.groups.showing import row_of
from dashboard.push import tallies
from dashboard.push.models import Server, Step, Stream
from dashboard.push.publish import steps_so_far
from dashboard.push.tallies import Kind
from rebalance_engine.model import MessageModel
from rebalance_engine.rounds import SAME_CAUSE_MS

GROUP = ["cluster", "group"]
OF_MEMBERS = ("superseded_by", "move_count", "members_before", "members_after")
SERVER_TELLS_MS = 30_000  # a process says every 10 s how many sockets it has
REDIS_WITHIN_S = 1.0
UNWATCHED_MS = 10 * 60 * 1000  # without a watcher or an answer for so long, figures are not known to be so still


class Figures(Collector):
    """All figures at one instant."""

    def __init__(self, *, now: int) -> None:
        self.now = now

    def collect(self) -> Iterator[Metric]:
        """Give each family with its samples."""
        groups = list(_with_series(self.now).select_related("cluster").order_by("cluster__name", "name"))
        yield from _of_groups(groups, self.now)
        yield from _of_rounds({group.pk: [group.cluster.name, group.name] for group in groups}, self.now)
        yield _duplicates(groups)
        yield from _of_lag(groups)
        yield from _of_watchers(self.now)
        yield from _of_push(self.now)
        yield from _of_sockets(self.now)
        yield _of_redis()


def _with_series(now: int) -> QuerySet[Group]:
    """Give the groups that have figures: not those that are gone, nor of a cluster that is put aside or silent."""
    return Group.objects.filter(gone_at=None, cluster__in=_watched(now))


def _watched(now: int) -> QuerySet[Cluster]:
    """Give the clusters of which is known how they are: somebody watches them, and something answers."""
    lost = Q(lease_until__gt=0, lease_until__lt=now - UNWATCHED_MS)
    return Cluster.objects.exclude(ASIDE | lost | Q(watched_at__lt=now - UNWATCHED_MS))


def _duplicates(groups: list[Group]) -> Metric:
    family = CounterMetricFamily(
        "duplicate_messages",
        "Messages consumed twice, at least, in handoffs of which both members reported; no sample where none did.",
        labels=GROUP,
    )
    for group in groups:
        if group.duplicate_messages is not None:
            family.add_metric([group.cluster.name, group.name], group.duplicate_messages)
    return family


def _of_lag(groups: list[Group]) -> Iterator[Metric]:
    lag = GaugeMetricFamily(
        "group_lag_messages",
        "Messages that a group has not consumed yet, if every broker told its offsets of every queue.",
        labels=GROUP,
    )
    waits = GaugeMetricFamily(
        "group_lag_seconds",
        "How long the oldest of them has waited at most, when the brokers told; 0 where none waits.",
        labels=GROUP,
    )
    told = waiting_of(groups=[group.pk for group in groups])
    for group in groups:
        if (each := told.get(group.pk)) is not None and each.is_whole:
            labels, since = [group.cluster.name, group.name], each.waits_since
            _add(lag, labels, each.lag)
            longest = None if since is None else (each.observed_at - since) / 1_000
            _add(waits, labels, 0 if each.lag == 0 else longest)
    yield from (lag, waits)


def _of_groups(groups: list[Group], now: int) -> Iterator[Metric]:
    total = CounterMetricFamily("rebalance", "Rounds of a group since it is known.", labels=GROUP)
    ago = GaugeMetricFamily("last_rebalance_seconds_ago", "Seconds since the latest round opened.", labels=GROUP)
    orphans = GaugeMetricFamily(
        "orphan_queues",
        "Queues that no member holds, if all answered; those on which NameServers disagree do not count. Of a group "
        "that broadcasts there is no sample.",
        labels=GROUP,
    )
    doubles = GaugeMetricFamily(
        "double_owned_queues",
        "Queues that two members hold at one time, if all answered, and none of them too long ago to tell. Of a group "
        "that broadcasts there is no sample.",
        labels=GROUP,
    )
    members = GaugeMetricFamily("group_members", "Members of a group.", labels=GROUP)
    silent = GaugeMetricFamily("group_silent_members", "Members of which is unknown what they hold.", labels=GROUP)
    converged = GaugeMetricFamily(
        "group_converged",
        "1 where held equals target, 0 where not, or where queues have no owner, or two.",
        labels=GROUP,
    )
    for group in groups:
        labels = [group.cluster.name, group.name]
        total.add_metric(labels, group.round_number or 0)
        _add(ago, labels, None if group.round_opened_at is None else max(0, now - group.round_opened_at) / 1_000)
        is_divided = group.model != MessageModel.BROADCASTING.value
        _add(orphans, labels, group.orphan_count if is_divided else None)
        is_whole = group.orphan_count is not None and not group.perhaps_twice_count  # that needs all answers
        _add(doubles, labels, group.double_count if is_divided and (is_whole or group.double_count == 0) else None)
        _add(members, labels, group.member_count)
        _add(silent, labels, group.silent_count)
        _add(converged, labels, row_of(group).is_converged)
    yield from (total, ago, orphans, doubles, members, silent, converged)
    found = GaugeMetricFamily("findings", "Faults that are there now.", labels=["cluster", "kind", "state"])
    faults = Finding.objects.filter(cleared_at=None, group__gone_at=None, cluster__in=_watched(now))
    rows = faults.values("cluster__name", "kind")
    for row in rows.annotate(all=Count("pk"), confirmed=Count("pk", filter=Q(confirmed_at__isnull=False))):
        labels = [row["cluster__name"], row["kind"]]
        found.add_metric([*labels, "confirmed"], row["confirmed"])
        found.add_metric([*labels, "suspected"], row["all"] - row["confirmed"])
    yield found


def _of_rounds(names: dict[int, list[str]], now: int) -> Iterator[Metric]:
    """Figures of each group's latest round that ended."""
    latency = GaugeMetricFamily(
        "rebalance_latency_seconds",
        "Seconds that the latest round that ended took at most: from the earliest time at which its cause may have "
        "come to the look that saw its end. Where that time is unknown there is no sample.",
        labels=GROUP,
    )
    least = GaugeMetricFamily(
        "rebalance_latency_least_seconds",
        "Seconds that the same round took at least. Only the other figure has an outage of the watcher in it.",
        labels=GROUP,
    )
    pause = GaugeMetricFamily(
        "queue_pause_seconds",
        "Longest pause of a queue that was let go in the latest round that ended, from its drop to the first pull: at "
        "least (low), and at most (high). Without a report of each first pull, and while a pause lasts, there is no "
        "high. Of queues that nobody let go in it, and nobody has, orphan_queues tells.",
        labels=[*GROUP, "bound"],
    )
    newest = Round.objects.filter(closed_at__isnull=False).values("group").annotate(last=Max("pk"))
    rows = Round.objects.filter(pk__in=[row["last"] for row in newest]).only(
        "pk", "group", "opened_low", "closed_at", "told_at", "lasted_low", *OF_MEMBERS
    )
    of_round = {row.pk: names[row.group_id] for row in rows if row.group_id in names}
    for row in rows:
        if row.pk in of_round:
            _add(latency, of_round[row.pk], None if row.took_high is None else row.took_high / 1_000)
            _add(least, of_round[row.pk], None if row.took_low is None else row.took_low / 1_000)
    told = {row.pk for row in rows if row.told_at is not None and not row.is_left_untold}
    lasting = lasting_pauses(rounds=of_round, now=now)
    moved = Handoff.objects.filter(round__in=of_round, dropped_at__isnull=False, taken_at__isnull=False)
    ended = moved.values("round").annotate(
        low=Max(Coalesce("pause_low", "unowned_low")),  # as ``stood_still`` says of each, ``longest_pause`` of all
        high=Max("pause_high"),
        unknown=Count("pk", filter=Q(pause_high__isnull=True)),
    )
    bounds = {each["round"]: (each["low"], None if each["unknown"] else each["high"]) for each in ended}
    bounds |= _doubted([row for row in rows if row.pk in bounds])
    for number, labels in of_round.items():
        low, high = bounds.get(number, NO_PAUSE if number in told else UNKNOWN_PAUSE)
        if number in lasting:
            low, high = max(low or 0, lasting[number]), None
        low, high = longest_pause([(low, high)])
        _add(pause, [*labels, "low"], None if low is None else low / 1_000)
        _add(pause, [*labels, "high"], None if high is None else high / 1_000)
    yield from (latency, least, pause)


def _doubted(rounds: Sequence[Round]) -> dict[int, tuple[int | None, int | None]]:
    """Bound the longest pause of those of some rounds in which not everybody answered."""
    since = min(((row.opened_low or 0) - SAME_CAUSE_MS for row in rounds), default=0)
    silent = all_doubts_of(groups={row.group_id for row in rounds}, since=since) if rounds else {}
    found: dict[int, tuple[int | None, int | None]] = {}
    for row in rounds:
        began = (row.opened_low or 0) - SAME_CAUSE_MS
        if not any(high > began for _, high in silent.get(row.group_id, NO_DOUBTS)):
            continue  # what a superseded round left is its own beyond its end
        rows = Handoff.objects.filter(round=row.pk, dropped_at__isnull=False, taken_at__isnull=False)
        told = doubted(rows, group=row.group_id)
        pauses = [stood_still((each.pause_low, each.pause_high), each.unowned_low) for each in told]
        found[row.pk] = longest_pause(pauses)
    return found


def _of_watchers(now: int) -> Iterator[Metric]:
    watched = GaugeMetricFamily(
        "watcher_last_fact_seconds_ago", "Seconds since the watcher last stated anything.", labels=["cluster"]
    )
    leased = GaugeMetricFamily("watcher_has_lease", "1 while a watcher has the cluster's lease.", labels=["cluster"])
    for cluster in Cluster.objects.exclude(ASIDE).order_by("name"):
        _add(watched, [cluster.name], None if cluster.watched_at is None else max(0, now - cluster.watched_at) / 1_000)
        leased.add_metric([cluster.name], int(cluster.lease_until > now))
    yield from (watched, leased)
    yield from _of_sweeps(now)
    waiting = GaugeMetricFamily("history_lines_waiting", "Lines of the event log that are not exported yet.")
    waiting.add_metric([], OutboxLine.objects.filter(exported_at=None).count())
    yield waiting


def _of_sweeps(now: int) -> Iterator[Metric]:
    """What each watcher says of itself; one that ended says nothing more, and its figures grow old with it."""
    label = ["cluster"]
    told = GaugeMetricFamily(
        "watcher_report_seconds_ago", "Seconds since the watcher said how it is doing.", labels=label
    )
    age = GaugeMetricFamily("watcher_sweep_seconds_ago", "Seconds since the last whole sweep ended.", labels=label)
    took = GaugeMetricFamily("watcher_sweep_seconds", "How long the last whole sweep took.", labels=label)
    left_out = GaugeMetricFamily("watcher_sweep_missed", "Questions that the last sweep did not get to.", labels=label)
    in_vain = GaugeMetricFamily(
        "watcher_sweep_unanswered", "Questions that the last sweep asked in vain.", labels=label
    )
    held = GaugeMetricFamily(
        "watcher_oldest_held_seconds", "Age of the oldest answer of what a member holds.", labels=label
    )
    lists = GaugeMetricFamily(
        "watcher_oldest_list_seconds", "Age of the oldest member list; every one told.", labels=label
    )
    calls = CounterMetricFamily("watcher_calls", "Questions that this watcher has asked since it began.", labels=label)
    missed = CounterMetricFamily("watcher_calls_missed", "Those of them that got no answer.", labels=label)
    resting = GaugeMetricFamily(
        "watcher_clients_resting", "Clients left alone for not answering (breaker).", labels=label
    )
    unknown = GaugeMetricFamily("watcher_members_unknown", "Members of whom is unknown what they hold.", labels=label)
    viewed = GaugeMetricFamily("watcher_groups_viewed", "Groups that somebody looks at.", labels=label)
    waiting = GaugeMetricFamily(
        "watcher_questions_waiting", "Questions that are due and have no turn yet.", labels=label
    )
    queued = GaugeMetricFamily("watcher_batches_queued", "Batches of facts that wait to be stored.", labels=label)
    there = Cluster.objects.exclude(ASIDE)
    for row in Watch.objects.filter(cluster__in=there).select_related("cluster").order_by("cluster__name"):
        name = [row.cluster.name]
        for family, at in (
            (told, row.at),
            (age, row.sweep_ended_at),
            (held, row.oldest_held_at),
            (lists, row.lists_at),
        ):
            _add(family, name, None if at is None else max(0, now - at) / 1_000)
        _add(took, name, None if row.sweep_took_ms is None else row.sweep_took_ms / 1_000)
        _add(left_out, name, None if row.sweep_ended_at is None else row.sweep_missed)
        _add(in_vain, name, None if row.sweep_ended_at is None else row.sweep_unanswered)
        calls.add_metric(name, row.calls)
        missed.add_metric(name, row.missed)
        for family, figure in ((resting, row.resting), (unknown, row.unknown), (viewed, row.viewed)):
            family.add_metric(name, figure)
        for family, figure in ((waiting, row.waiting), (queued, row.queued)):
            family.add_metric(name, figure)
    yield from (told, age, took, left_out, in_vain, held, lists)
    yield from (calls, missed, resting, unknown, viewed, waiting, queued)


def _of_push(now: int) -> Iterator[Metric]:
    steps = CounterMetricFamily("push_steps", "Steps of all streams that were sent to browsers, or would have been.")
    steps.add_metric([], steps_so_far())
    yield steps
    kept = GaugeMetricFamily("push_steps_kept", "Steps that are kept, so that browsers can catch up.")
    kept.add_metric([], Step.objects.count())
    yield kept
    ago = GaugeMetricFamily("push_last_step_seconds_ago", "Seconds since the newest step of any stream.")
    last = Stream.objects.aggregate(last=Max("at"))["last"]
    _add(ago, [], None if not last else max(0, now - last) / 1_000)
    yield ago
    days = GaugeMetricFamily("retention_days", "How long history is kept in the database.")
    days.add_metric([], settings.RETENTION_DAYS)
    yield days


def _of_sockets(now: int) -> Iterator[Metric]:
    """What processes that serve live pages tell; one that has said nothing for long has no sample."""
    sockets = GaugeMetricFamily("push_sockets", "Sockets of live pages that are open.", labels=["process"])
    for row in Server.objects.filter(at__gte=now - SERVER_TELLS_MS).order_by("process"):
        sockets.add_metric([row.process], row.sockets)
    failed = CounterMetricFamily(
        "push_sends_failed", "Messages that Redis, or a browser that went away, did not take.", labels=["to"]
    )
    dropped = CounterMetricFamily(
        "push_sockets_dropped", "Sockets that were closed because something was wrong.", labels=["why"]
    )
    behind = CounterMetricFamily("push_queues_dropped", "Queues of slow browsers that were dropped for a snapshot.")
    counts = tallies.counts()
    for family, labels, kind in (
        (failed, ["redis"], Kind.NOT_TO_REDIS),
        (failed, ["browser"], Kind.NOT_TO_BROWSER),
        (dropped, ["too slow"], Kind.TOO_SLOW),
        (dropped, ["no redis"], Kind.WITHOUT_REDIS),
        (dropped, ["error"], Kind.BROKEN),
        (behind, [], Kind.FELL_BEHIND),
    ):
        family.add_metric(labels, counts[kind])
    yield from (sockets, failed, dropped, behind)


def _of_redis() -> Metric:
    up = GaugeMetricFamily("redis_up", "1 where Redis answers whoever serves this page, 0 where it does not.")
    up.add_metric([], int(_answers()))
    return up


def _answers() -> bool:
    """Ask Redis whether it is there; whoever collects figures waits for no longer than a second or two."""
    limits = {"socket_timeout": REDIS_WITHIN_S, "socket_connect_timeout": REDIS_WITHIN_S}
    try:
        with Redis.from_url(settings.REDIS_URL, retry=Retry(NoBackoff(), 0), **limits) as redis:
            return bool(redis.ping())
    except (RedisError, OSError):
        return False


def _add(family: GaugeMetricFamily, labels: list[str], figure: float | None) -> None:
    if figure is not None:
        family.add_metric(labels, figure)
