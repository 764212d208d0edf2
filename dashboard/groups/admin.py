"""The room's tables in the Django admin."""

from django.contrib import admin

from dashboard.common.admin import Observed
from dashboard.groups.models import (
    Finding,
    Flow,
    Group,
    Handoff,
    Holding,
    LagStep,
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


@admin.register(Group)
class GroupAdmin(Observed[Group]):
    """Groups."""

    list_display = [
        *("name", "cluster", "model", "member_count", "queue_count", "silent_count", "orphan_count", "double_count"),
        *("is_converged", "strategy", "round_number", "round_cause"),
    ]
    list_filter = [
        *("cluster", ("gone_at", admin.EmptyFieldListFilter)),
        *("model", "is_converged", "strategy", "round_cause"),
    ]
    search_fields = ["name"]
    list_select_related = ["cluster"]


@admin.register(Member)
class MemberAdmin(Observed[Member]):
    """Members."""

    list_display = ["client_id", "group", "language", "version", "strategy", "registrations", "missing", "when"]
    list_filter = ["group__cluster", ("left_at", admin.EmptyFieldListFilter), "language", "version", "missing"]
    search_fields = ["client_id", "group__name"]
    list_select_related = ["group"]


@admin.register(MemberList)
class MemberListAdmin(Observed[MemberList]):
    """Member lists."""

    list_display = ["group", "broker", "clients", "missing", "when"]
    list_filter = ["group__cluster", "broker", "missing"]
    search_fields = ["group__name"]
    list_select_related = ["group"]


@admin.register(Presence)
class PresenceAdmin(Observed[Presence]):
    """Connections."""

    list_display = ["member", "broker", "address", "language", "version", "departure", "when"]
    list_filter = ["member__group__cluster", "broker", ("gone_at", admin.EmptyFieldListFilter)]
    search_fields = ["member__client_id", "address"]
    list_select_related = ["member"]


@admin.register(Subscription)
class SubscriptionAdmin(Observed[Subscription]):
    """Subscriptions."""

    list_display = ["group", "member", "topic", "expression", "expression_type", "when"]
    list_filter = ["group__cluster", "expression_type"]
    search_fields = ["group__name", "topic"]
    list_select_related = ["group", "member"]


@admin.register(Target)
class TargetAdmin(Observed[Target]):
    """Targets."""

    list_display = ["group", "queue", "member", "fence"]
    list_filter = ["group__cluster"]
    search_fields = ["group__name", "member__client_id", "queue__topic__name"]
    list_select_related = ["group", "queue__topic", "member"]


@admin.register(Holding)
class HoldingAdmin(Observed[Holding]):
    """Who had what, when."""

    list_display = ["group", "queue", "member", "when", "until", "reason", "origin"]
    list_filter = ["group__cluster", ("until", admin.EmptyFieldListFilter), "reason", "origin"]
    search_fields = ["group__name", "member__client_id", "queue__topic__name"]
    list_select_related = ["group", "queue__topic", "member"]


class CauseInline(admin.TabularInline[RoundCause, Round]):
    """A round's causes."""

    model = RoundCause
    extra = 0
    can_delete = False
    fields = ["at", "cause", "client_id", "evidence", "origin"]


@admin.register(Round)
class RoundAdmin(Observed[Round]):
    """Rounds."""

    list_display = ["group", "number", "state", "cause", "move_count", "opened_at", "closed_at", "wave"]
    list_filter = ["group__cluster", "state", "cause"]
    search_fields = ["group__name"]
    list_select_related = ["group"]
    exclude = ["before", "after"]
    inlines = [CauseInline]


@admin.register(RoundCause)
class RoundCauseAdmin(Observed[RoundCause]):
    """Causes."""

    list_display = ["group", "round", "cause", "client_id", "evidence", "origin", "when"]
    list_filter = ["group__cluster", "cause", "origin", ("round", admin.EmptyFieldListFilter)]
    search_fields = ["group__name", "client_id", "evidence"]
    list_select_related = ["group", "round"]


@admin.register(Handoff)
class HandoffAdmin(Observed[Handoff]):
    """Handoffs."""

    list_display = ["round", "topic", "broker", "queue_id", "from_client", "to_client", "unowned_high", "overlap_high"]
    list_filter = ["round__group__cluster"]
    search_fields = ["topic", "from_client", "to_client", "round__group__name"]
    list_select_related = ["round"]


@admin.register(LockRefusal)
class LockRefusalAdmin(Observed[LockRefusal]):
    """Locks that members were refused."""

    list_display = ["group", "client_id", "topic", "broker", "queue_id", "holder", "count", "origin", "when"]
    list_filter = ["group__cluster", "origin"]
    search_fields = ["group__name", "client_id", "topic", "holder"]
    list_select_related = ["group"]


@admin.register(PullRefusal)
class PullRefusalAdmin(Observed[PullRefusal]):
    """Pulls that members were refused."""

    list_display = ["group", "client_id", "topic", "broker", "queue_id", "code", "count", "origin", "when"]
    list_filter = ["group__cluster", "origin", "code"]
    search_fields = ["group__name", "client_id", "topic"]
    list_select_related = ["group"]


@admin.register(Flow)
class FlowAdmin(Observed[Flow]):
    """Messages that do not get on."""

    list_display = ["group", "broker", "when"]
    list_filter = ["group__cluster", "broker"]
    search_fields = ["group__name", "broker"]
    list_select_related = ["group"]


@admin.register(Progress)
class ProgressAdmin(Observed[Progress]):
    """How far groups are."""

    list_display = ["group", "broker", "queue_count", "missing", "when"]
    list_filter = ["group__cluster", "broker", "missing"]
    search_fields = ["group__name", "broker"]
    list_select_related = ["group"]

    @admin.display(description="queues")
    def queue_count(self, row: Progress) -> int:
        """Count them."""
        return len(row.queues)


@admin.register(LagStep)
class LagStepAdmin(Observed[LagStep]):
    """How far groups were behind."""

    list_display = ["group", "broker", "began_at", "most", "lag", "worst_queue"]
    list_filter = ["group__cluster", "broker"]
    search_fields = ["group__name", "broker"]
    list_select_related = ["group"]


@admin.register(Finding)
class FindingAdmin(Observed[Finding]):
    """Findings."""

    list_display = ["kind", "group", "sentence", "suspected_at", "confirmed_at", "cleared_at"]
    list_filter = ["cluster", "kind", ("confirmed_at", admin.EmptyFieldListFilter), "origin"]
    search_fields = ["group__name", "subject", "sentence"]
    list_select_related = ["group"]
