"""The room's tables in the Django admin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.core.exceptions import ValidationError
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from dashboard.clusters import changing
from dashboard.clusters.calling import BadName, check_name
from dashboard.clusters.changing import LONGEST_REASON
from dashboard.clusters.models import (
    ASIDE,
    Broker,
    Canary,
    Cluster,
    Command,
    CommandReceipt,
    OutboxLine,
    Producer,
    ProducerBroker,
    ProducerList,
    Queue,
    Route,
    Topic,
    Watch,
)
from dashboard.common.admin import Addressed, InWords, Observed, Said, in_utc, instant
from dashboard.common.clock import now_ms
from dashboard.common.naming.columns import COLUMNS
from dashboard.common.sayings import in_words
from rebalance_engine.network.rewriting import split_addresses


class ClusterForm(forms.ModelForm[Cluster]):
    """What people say of a cluster; what it is called, and all that is a fact, stays once it is added."""

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=LONGEST_REASON,
        widget=forms.Textarea(attrs={"rows": 2}),
        help_text=gettext_lazy(
            "It stands in the audit log. The cluster's watcher begins anew with what is stored here."
        ),
    )

    is_aside = forms.BooleanField(
        label=gettext_lazy("Put aside"),
        required=False,
        help_text=gettext_lazy(
            "Nobody watches it, and pages leave it out, until this is taken back, or manage.py up is started with it. "
            "That ends its watcher within seconds: a cluster that is to be deleted is put aside first."
        ),
    )

    class Meta:
        """All that can be changed."""

        model = Cluster
        fields = ["name", "namesrv", "is_read_only"]
        widgets = {"name": forms.TextInput(attrs={"size": 40}), "namesrv": forms.TextInput(attrs={"size": 60})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Tell whether it is put aside now, and of a new one nothing of a watcher."""
        super().__init__(*args, **kwargs)
        if "is_aside" in self.fields and self.instance.pk:
            self.fields["is_aside"].initial = self.instance.is_aside
        if "reason" in self.fields and not self.instance.pk:
            self.fields["reason"].help_text = _("It stands in the audit log.")

    def clean_name(self) -> str:
        """Insist on a name that can stand before each line of its watcher."""
        try:
            return check_name(self.cleaned_data["name"])
        except BadName as error:
            raise ValidationError(in_words(str(error))) from None

    def clean_namesrv(self) -> str:
        """Insist on addresses that can be called."""
        try:
            return ";".join(split_addresses(self.cleaned_data["namesrv"]))
        except ValueError as error:
            raise ValidationError(in_words(str(error))) from None


class Aside(admin.SimpleListFilter):
    """Clusters that are put aside, or are not."""

    title = gettext_lazy("put aside")
    parameter_name = "aside"

    def lookups(self, request: HttpRequest, model_admin: admin.ModelAdmin[Cluster]) -> list[tuple[str, str]]:  # noqa: ARG002 - Django's names
        """Give what can be chosen."""
        return [("1", _("Yes")), ("0", _("No"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Cluster]) -> QuerySet[Cluster]:  # noqa: ARG002 - Django's name
        """Keep those."""
        chosen = {"1": ASIDE, "0": ~ASIDE}.get(self.value() or "")
        return queryset if chosen is None else queryset.filter(chosen)


@admin.register(Cluster)
class ClusterAdmin(Addressed[Cluster]):
    """Clusters: the one table here that people write, with a reason, and audited."""

    form = ClusterForm
    list_display = ["name", "namesrv", "is_demo", "is_read_only", "aside", "lease_holder", "lease_epoch"]
    list_filter = ["is_demo", "is_read_only", Aside]
    search_fields = ["name", "namesrv"]
    readonly_fields = ["is_demo", "added", "lease_holder", "lease_epoch", "lease_ends", "watched"]

    def get_fields(self, request: HttpRequest, obj: Cluster | None = None) -> list[str]:  # type: ignore[override]
        """Ask for what a new one needs; show all of one that is there."""
        asked = ["name", "namesrv", "is_read_only", "reason"]
        if obj is not None and not self.has_change_permission(request, obj):
            asked.remove("reason")
        return asked if obj is None else [*asked[:3], "is_aside", *asked[3:], *self.readonly_fields]

    def get_readonly_fields(self, request: HttpRequest, obj: Cluster | None = None) -> list[str]:  # noqa: ARG002 - Django's name
        """Keep the name of one that is there: facts, roles and the history files know it by that."""
        return [*self.readonly_fields] if obj is None else ["name", *self.readonly_fields]

    def save_model(self, request: HttpRequest, obj: Cluster, form: forms.Form, change: bool) -> None:
        """Store what was asked for, and nothing else: the rest of the row is its watcher's."""
        by = _author(request, form.cleaned_data["reason"])
        if change:
            is_aside = form.cleaned_data["is_aside"]
            if is_aside and not obj.is_aside:
                messages.info(
                    request, _("Nobody is to watch %(name)s any more: it may be deleted.") % {"name": obj.name}
                )
            obj.is_changed = changing.change(  # type: ignore[attr-defined] # for what is said of it
                cluster=obj.pk, namesrv=obj.namesrv, is_read_only=obj.is_read_only, by=by, is_aside=is_aside
            )
        else:
            changing.add(cluster=obj, by=by)

    def log_change(self, request: HttpRequest, obj: Cluster, message: object) -> LogEntry | None:  # type: ignore[override]
        """Keep no line of what is as it was."""
        return super().log_change(request, obj, message) if obj.is_changed else None  # type: ignore[attr-defined]

    def response_change(self, request: HttpRequest, obj: Cluster) -> HttpResponse:
        """Say that nothing was changed where that is so."""
        if obj.is_changed:  # type: ignore[attr-defined]
            return super().response_change(request, obj)
        messages.info(
            request, _("Nothing was changed: %(name)s is as it was, and so is its watcher.") % {"name": obj.name}
        )
        if "_continue" in request.POST:
            return redirect(request.path)
        return redirect(
            "admin:clusters_cluster_add" if "_addanother" in request.POST else "admin:clusters_cluster_changelist"
        )

    def has_delete_permission(self, request: HttpRequest, obj: Cluster | None = None) -> bool:
        """One at a time: each needs a reason of its own."""
        return obj is not None and super().has_delete_permission(request, obj)

    def get_deleted_objects(  # type: ignore[override]
        self,
        objs: Sequence[Cluster],
        request: HttpRequest,  # noqa: ARG002 - Django's name
    ) -> tuple[list[str], dict[str, int], set[str], list[str]]:
        """Count what goes with a cluster by what people know of it; what is in the way comes last."""
        [cluster] = objs
        obstacle = changing.obstacle_to_removing(cluster=cluster, now=now_ms())
        counts = {"groups": "groups", "topics": "topics", "brokers": "brokers", "producers": "producer_connections"}
        found = {name: getattr(cluster, rows).count() for name, rows in counts.items()}
        found |= cluster.groups.aggregate(rounds=Count("rounds"))
        found |= cluster.groups.aggregate(handoffs=Count("rounds__handoffs"))
        return [str(cluster)], found, set(), [obstacle] if obstacle else []

    def change_view(
        self,
        request: HttpRequest,
        object_id: str,
        form_url: str = "",
        extra_context: dict[str, object] | None = None,
    ) -> HttpResponse:
        """Lead to the list from one that is gone."""
        if self.get_object(request, object_id) is None:
            return _to_the_list(request)
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, object] | None = None
    ) -> HttpResponse:
        """Ask for the reason; say why not, where something is in the way by now."""
        cluster = self.get_object(request, object_id)
        if cluster is None:
            return _to_the_list(request)
        title = _("Delete the cluster %(name)s") % {"name": cluster.name}
        shown = {"longest_reason": LONGEST_REASON, "title": title, **(extra_context or {})}
        try:
            return super().delete_view(request, object_id, shown)
        except changing.Refused as refusal:
            messages.error(request, str(refusal))
            return redirect(request.path)

    def delete_model(self, request: HttpRequest, obj: Cluster) -> None:
        """Delete it in order."""
        changing.remove(cluster=obj.pk, by=_author(request, request.POST.get("reason", "")))

    @admin.display(description=gettext_lazy("put aside"), boolean=True)
    def aside(self, row: Cluster) -> bool:
        """Tell whether nobody watches it by order."""
        return row.is_aside

    @admin.display(description=in_utc(COLUMNS["added_at"]))
    def added(self, row: Cluster) -> str:
        """Write when it was added."""
        return instant(row.added_at)

    @admin.display(description=in_utc(COLUMNS["lease_until"]))
    def lease_ends(self, row: Cluster) -> str:
        """Write when the lease ends."""
        return instant(row.lease_until) if row.lease_until else _("nobody has it")

    @admin.display(description=in_utc(COLUMNS["watched_at"]))
    def watched(self, row: Cluster) -> str:
        """Write when anything of it answered last."""
        return instant(row.watched_at)


def _to_the_list(request: HttpRequest) -> HttpResponse:
    messages.warning(request, _("There is no such cluster; somebody may have deleted it."))
    return redirect("admin:clusters_cluster_changelist")


def _author(request: HttpRequest, reason: str) -> changing.Author:
    return changing.Author(name=request.user.get_username(), reason=reason, now=now_ms())


@admin.register(Broker)
class BrokerAdmin(Observed[Broker]):
    """Brokers."""

    list_display = ["name", "broker_id", "address", "version", "cluster", "when", "origin"]
    list_filter = ["cluster", ("gone_at", admin.EmptyFieldListFilter), "version"]
    search_fields = ["name", "address"]
    list_select_related = ["cluster"]


@admin.register(Topic)
class TopicAdmin(Observed[Topic]):
    """Topics."""

    list_display = ["name", "cluster", "unused_since"]
    list_filter = ["cluster"]
    search_fields = ["name"]
    list_select_related = ["cluster"]


@admin.register(Route)
class RouteAdmin(Observed[Route]):
    """Routes."""

    list_display = ["topic", "broker", "namesrv", "read_queues", "write_queues", "permission", "has_master", "when"]
    list_filter = ["topic__cluster", "namesrv", "permission", "has_master"]
    search_fields = ["topic__name", "broker"]
    list_select_related = ["topic"]


@admin.register(Queue)
class QueueAdmin(Observed[Queue]):
    """Queues."""

    list_display = ["topic", "cluster", "broker", "queue_id", "since", "gone_at"]
    list_filter = ["topic__cluster", ("gone_at", admin.EmptyFieldListFilter)]
    search_fields = ["topic__name", "broker"]
    list_select_related = ["topic__cluster"]

    @admin.display(description=COLUMNS["cluster"], ordering="topic__cluster__name")
    def cluster(self, row: Queue) -> str:
        """Name the cluster."""
        return row.topic.cluster.name


@admin.register(ProducerBroker)
class ProducerBrokerAdmin(Observed[ProducerBroker]):
    """Producers and brokers."""

    list_display = [
        *("client_id", "cluster", "broker", "latency_ms", "latency_at", "outcome", "backoff_ms", "backoff_until"),
        *("is_isolated", "is_reachable", "when"),
    ]
    list_filter = ["cluster", "is_isolated", "is_reachable", "outcome"]
    search_fields = ["client_id", "broker"]
    list_select_related = ["cluster"]


@admin.register(Producer)
class ProducerAdmin(Observed[Producer]):
    """Producers and the brokers that they are connected to."""

    list_display = [
        *("client_id", "group_name", "cluster", "broker", "address", "language", "version", "when", "gone_at"),
    ]
    list_filter = ["cluster", "broker", ("gone_at", admin.EmptyFieldListFilter), "language", "version"]
    search_fields = ["client_id", "group_name", "broker", "address"]
    list_select_related = ["cluster"]


@admin.register(ProducerList)
class ProducerListAdmin(Observed[ProducerList]):
    """When brokers told which producers they know."""

    list_display = ["cluster", "broker", "missing", "when"]
    list_filter = ["cluster", "missing"]
    search_fields = ["broker"]
    list_select_related = ["cluster"]


class ReceiptInline(InWords[CommandReceipt], admin.TabularInline[CommandReceipt, Command]):  # type: ignore[misc] # as its bases do
    """What a command did to each member."""

    model = CommandReceipt
    sayings = ["detail"]
    extra = 0
    can_delete = False


@admin.register(Command)
class CommandAdmin(Observed[Command]):
    """Commands."""

    list_display = [
        *("verb", "group_name", "target", "cluster", "author_name", "ordered_at", "finished_at", "outcome", "detail"),
    ]
    list_filter = ["cluster", ("verb", Said), "outcome"]
    sayings = ["verb", "detail"]
    search_fields = ["group_name", "target", "author_name", "reason"]
    list_select_related = ["cluster"]
    inlines = [ReceiptInline]


@admin.register(CommandReceipt)
class CommandReceiptAdmin(Observed[CommandReceipt]):
    """Receipts."""

    list_display = ["command", "client_id", "answer", "detail", "when"]
    list_filter = ["answer", "command__cluster"]
    sayings = ["detail"]
    search_fields = ["client_id"]
    list_select_related = ["command"]


@admin.register(OutboxLine)
class OutboxLineAdmin(Observed[OutboxLine]):
    """Lines of the event log."""

    list_display = ["id", "cluster", "when", "line"]
    list_filter = ["cluster", ("exported_at", admin.EmptyFieldListFilter)]
    search_fields = ["line"]
    list_select_related = ["cluster"]


@admin.register(Watch)
class WatchAdmin(Observed[Watch]):
    """Watchers."""

    list_display = [
        "cluster",
        "epoch",
        "sweep",
        "sweep_took_ms",
        "calls",
        "missed",
        "members",
        "unknown",
        "resting",
        "queued",
        "when",
    ]
    list_filter = ["cluster"]
    search_fields = ["cluster__name"]
    list_select_related = ["cluster"]


@admin.register(Canary)
class CanaryAdmin(Observed[Canary]):
    """Canaries; they are switched on the page of producers, which writes it down in the audit log."""

    list_display = ["cluster", "is_on", "may_create", "reason", "changed_by", "changed_at", "told_at"]
    list_filter = ["is_on", "may_create"]
    search_fields = ["cluster__name", "reason", "changed_by"]
    list_select_related = ["cluster"]
