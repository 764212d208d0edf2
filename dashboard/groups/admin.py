"""The room's tables in the Django admin."""

from __future__ import annotations

from typing import TypeVar

from django.contrib import admin
from django.contrib.admin.views.main import ChangeList
from django.db import models
from django.http import HttpRequest
from django.utils.translation import pgettext_lazy

from dashboard.common.admin import InWords, Observed, Said, bounds, lasted
from dashboard.common.naming.columns import COLUMNS
from dashboard.common.spans import between
from dashboard.groups.doubts import doubted, doubted_of_each
from dashboard.groups.models import (
    Finding,
    Flow,
    Group,
    Handoff,
    Holding,
    LagStep,
    LockGrant,
    LockRefusal,
    Member,
    MemberList,
    Presence,
    Progress,
    PullRefusal,
    Round,
    RoundCause,
    Subscription,
    Target,
)

M = TypeVar("M", bound=models.Model)


class OfGroup(Observed[M]):
    """Rows of a group; the same name may be a group of several clusters."""

    @admin.display(description=COLUMNS["cluster"], ordering="group__cluster__name")
    def cluster(self, row: M) -> str:
        """Name the cluster."""
        group: Group | None = getattr(row, "group", None)
        return "" if group is None else group.cluster.name


@admin.register(Group)
class GroupAdmin(Observed[Group]):
    """Groups."""

    list_display = [
        *("name", "cluster", "model", "member_count", "queue_count", "silent_count", "orphan_count", "double_count"),
        *("is_converged", "strategy", "round_number", "round_cause", "round_opened_at"),
    ]
    list_filter = [
        *("cluster", ("gone_at", admin.EmptyFieldListFilter)),
        *("model", "is_converged", ("strategy", Said), "round_cause"),
    ]
    sayings = ["strategy"]
    search_fields = ["name"]
    list_select_related = ["cluster"]


@admin.register(Member)
class MemberAdmin(OfGroup[Member]):
    """Members."""

    list_display = [
        "client_id",
        "group",
        "cluster",
        "language",
        "version",
        "strategy",
        "registrations",
        "missing",
        "when",
    ]
    list_filter = ["group__cluster", ("left_at", admin.EmptyFieldListFilter), "language", "version", "missing"]
    search_fields = ["client_id", "group__name"]
    list_select_related = ["group__cluster"]


@admin.register(MemberList)
class MemberListAdmin(OfGroup[MemberList]):
    """Member lists."""

    list_display = ["group", "cluster", "broker", "clients", "missing", "when"]
    list_filter = ["group__cluster", "broker", "missing"]
    search_fields = ["group__name"]
    list_select_related = ["group__cluster"]


@admin.register(Presence)
class PresenceAdmin(Observed[Presence]):
    """Connections."""

    list_display = ["member", "group", "cluster", "broker", "address", "language", "version", "departure", "when"]
    list_filter = ["member__group__cluster", "broker", ("gone_at", admin.EmptyFieldListFilter)]
    search_fields = ["member__client_id", "address"]
    list_select_related = ["member__group__cluster"]

    @admin.display(description=COLUMNS["group"], ordering="member__group__name")
    def group(self, row: Presence) -> str:
        """Name the group."""
        return row.member.group.name

    @admin.display(description=COLUMNS["cluster"], ordering="member__group__cluster__name")
    def cluster(self, row: Presence) -> str:
        """Name the cluster."""
        return row.member.group.cluster.name


@admin.register(Subscription)
class SubscriptionAdmin(OfGroup[Subscription]):
    """Subscriptions."""

    list_display = ["group", "cluster", "member", "topic", "expression", "expression_type", "when"]
    list_filter = ["group__cluster", "expression_type"]
    search_fields = ["group__name", "topic"]
    list_select_related = ["group__cluster", "member"]


@admin.register(Target)
class TargetAdmin(OfGroup[Target]):
    """Targets."""

    list_display = ["group", "cluster", "queue", "member", "fence"]
    list_filter = ["group__cluster"]
    search_fields = ["group__name", "member__client_id", "queue__topic__name"]
    list_select_related = ["group__cluster", "queue__topic", "member"]


@admin.register(Holding)
class HoldingAdmin(OfGroup[Holding]):
    """Who had what, when."""

    list_display = ["group", "cluster", "queue", "member", "when", "until", "lasted", "reason", "origin"]
    list_filter = ["group__cluster", ("until", admin.EmptyFieldListFilter), "reason", "origin"]
    search_fields = ["group__name", "member__client_id", "queue__topic__name"]
    list_select_related = ["group__cluster", "queue__topic", "member"]

    @admin.display(description=pgettext_lazy("column", "for"))
    def lasted(self, row: Holding) -> str:
        """Say how long it was held."""
        return lasted(row.at, row.until)


class CauseInline(InWords[RoundCause], admin.TabularInline[RoundCause, Round]):  # type: ignore[misc] # as its bases do
    """A round's causes."""

    model = RoundCause
    sayings = ["evidence"]
    extra = 0
    can_delete = False
    fields = ["at", "cause", "client_id", "evidence", "origin"]


@admin.register(Round)
class RoundAdmin(OfGroup[Round]):
    """Rounds."""

    list_display = [
        "group",
        "cluster",
        "number",
        "state",
        "cause",
        "move_count",
        "opened_at",
        "closed_at",
        "took",
        "wave",
    ]
    list_filter = ["group__cluster", "state", "cause"]
    search_fields = ["group__name"]
    list_select_related = ["group__cluster"]
    exclude = ["before", "after"]
    sayings = ["waits_for"]
    inlines = [CauseInline]

    @admin.display(description=pgettext_lazy("column", "took"))
    def took(self, row: Round) -> str:
        """Say how long it took, within its bounds as on the pages; one that is open says since when."""
        if row.closed_at is None:
            return lasted(row.opened_at, None)
        return between(row.took_low, row.took_high)[0]


@admin.register(RoundCause)
class RoundCauseAdmin(OfGroup[RoundCause]):
    """Causes."""

    list_display = ["group", "cluster", "round", "cause", "client_id", "evidence", "origin", "when"]
    list_filter = ["group__cluster", "cause", "origin", ("round", admin.EmptyFieldListFilter)]
    sayings = ["evidence"]
    search_fields = ["group__name", "client_id", "evidence"]
    list_select_related = ["group__cluster", "round"]


@admin.register(Handoff)
class HandoffAdmin(Observed[Handoff]):
    """Handoffs, as they are known now: who left since may have had a queue meanwhile."""

    list_display = [
        *("group", "cluster", "queue", "pause", "taken_at", "from_client", "to_client"),
        *("dropped_at", "unowned", "overlap", "round"),
    ]
    list_filter = ["round__group__cluster", ("taken_at", admin.EmptyFieldListFilter), "round__cause"]
    search_fields = ["topic", "from_client", "to_client", "round__group__name"]
    list_select_related = ["round__group__cluster"]
    durations = ["unowned_low", "unowned_high", "overlap_low", "overlap_high", "pause_low", "pause_high"]

    def get_changelist_instance(self, request: HttpRequest) -> ChangeList:
        """Read a list."""
        found = super().get_changelist_instance(request)
        doubted_of_each((row.round.group_id, row) for row in found.result_list)
        return found

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Handoff | None:
        """Read a row."""
        row = super().get_object(request, object_id, from_field)
        return None if row is None else doubted([row], group=row.round.group_id)[0]

    @admin.display(description=COLUMNS["group"], ordering="round__group__name")
    def group(self, row: Handoff) -> str:
        """Name the group."""
        return row.round.group.name

    @admin.display(description=COLUMNS["cluster"], ordering="round__group__cluster__name")
    def cluster(self, row: Handoff) -> str:
        """Name the cluster."""
        return row.round.group.cluster.name

    @admin.display(description=COLUMNS["queue"], ordering="topic")
    def queue(self, row: Handoff) -> str:
        """Name the queue."""
        return f"{row.topic}/{row.broker}/{row.queue_id}"

    @admin.display(description=pgettext_lazy("column", "without owner"), ordering="unowned_high")
    def unowned(self, row: Handoff) -> str:
        """Write how long nobody had it."""
        return bounds(row.unowned_low, row.unowned_high)

    @admin.display(description=pgettext_lazy("column", "two owners"), ordering="overlap_high")
    def overlap(self, row: Handoff) -> str:
        """Write how long two had it."""
        return bounds(row.overlap_low, row.overlap_high)

    @admin.display(description=pgettext_lazy("column", "pause"), ordering="pause_high")
    def pause(self, row: Handoff) -> str:
        """Write how long nobody pulled."""
        return bounds(row.pause_low, row.pause_high)


@admin.register(LockRefusal)
class LockRefusalAdmin(OfGroup[LockRefusal]):
    """Locks that members were refused."""

    list_display = ["group", "cluster", "client_id", "topic", "broker", "queue_id", "holder", "count", "origin", "when"]
    list_filter = ["group__cluster", "origin"]
    search_fields = ["group__name", "client_id", "topic", "holder"]
    list_select_related = ["group__cluster"]


@admin.register(LockGrant)
class LockGrantAdmin(OfGroup[LockGrant]):
    """Locks that members were granted."""

    list_display = ["group", "cluster", "client_id", "topic", "broker", "queue_id", "origin", "when"]
    list_filter = ["group__cluster", "origin"]
    search_fields = ["group__name", "client_id", "topic"]
    list_select_related = ["group__cluster"]


@admin.register(PullRefusal)
class PullRefusalAdmin(OfGroup[PullRefusal]):
    """Pulls that members were refused."""

    list_display = ["group", "cluster", "client_id", "topic", "broker", "queue_id", "code", "count", "origin", "when"]
    list_filter = ["group__cluster", "origin", "code"]
    search_fields = ["group__name", "client_id", "topic"]
    list_select_related = ["group__cluster"]


@admin.register(Flow)
class FlowAdmin(OfGroup[Flow]):
    """Messages that do not get on."""

    list_display = ["group", "cluster", "broker", "when"]
    list_filter = ["group__cluster", "broker"]
    search_fields = ["group__name", "broker"]
    list_select_related = ["group__cluster"]


@admin.register(Progress)
class ProgressAdmin(OfGroup[Progress]):
    """How far groups are."""

    list_display = ["group", "cluster", "broker", "queue_count", "missing", "when"]
    list_filter = ["group__cluster", "broker", "missing"]
    search_fields = ["group__name", "broker"]
    list_select_related = ["group__cluster"]

    @admin.display(description=COLUMNS["queues"])
    def queue_count(self, row: Progress) -> int:
        """Count them."""
        return len(row.queues)


@admin.register(LagStep)
class LagStepAdmin(OfGroup[LagStep]):
    """How far groups were behind."""

    list_display = ["group", "cluster", "broker", "began_at", "when", "most", "lag", "worst_queue"]
    list_filter = ["group__cluster", "broker"]
    search_fields = ["group__name", "broker"]
    list_select_related = ["group__cluster"]


@admin.register(Finding)
class FindingAdmin(Observed[Finding]):
    """Findings."""

    list_display = [
        *("kind", "group", "cluster", "sentence", "suspected_at", "confirmed_at", "cleared_at", "lasted"),
    ]
    list_filter = ["cluster", ("kind", Said), ("confirmed_at", admin.EmptyFieldListFilter), "origin"]
    sayings = ["kind", "sentence"]
    search_fields = ["group__name", "subject", "sentence"]
    list_select_related = ["group", "cluster"]

    @admin.display(description=pgettext_lazy("column", "for"))
    def lasted(self, row: Finding) -> str:
        """Say how long it was there."""
        return lasted(row.suspected_at, row.cleared_at)
