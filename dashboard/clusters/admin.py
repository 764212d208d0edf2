"""The room's tables in the Django admin."""

from django.contrib import admin

from dashboard.clusters.models import (
    Broker,
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
from dashboard.common.admin import Observed, instant


@admin.register(Cluster)
class ClusterAdmin(admin.ModelAdmin[Cluster]):
    """Clusters: the one table here that people write."""

    list_display = ["name", "namesrv", "is_demo", "is_read_only", "lease_holder", "lease_epoch"]
    list_filter = ["is_demo", "is_read_only"]
    search_fields = ["name", "namesrv"]
    readonly_fields = ["lease_holder", "lease_epoch", "lease_until", "watched_at"]


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

    list_display = ["name", "cluster"]
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

    list_display = ["topic", "broker", "queue_id", "gone_at"]
    list_filter = ["topic__cluster", ("gone_at", admin.EmptyFieldListFilter)]
    search_fields = ["topic__name", "broker"]
    list_select_related = ["topic"]


@admin.register(ProducerBroker)
class ProducerBrokerAdmin(Observed[ProducerBroker]):
    """Producers and brokers."""

    list_display = ["client_id", "broker", "latency_ms", "outcome", "backoff_ms", "is_isolated", "is_reachable", "when"]
    list_filter = ["cluster", "is_isolated", "is_reachable", "outcome"]
    search_fields = ["client_id", "broker"]


@admin.register(Producer)
class ProducerAdmin(Observed[Producer]):
    """Producers and the brokers that they are connected to."""

    list_display = ["client_id", "group_name", "broker", "address", "language", "version", "when", "gone"]
    list_filter = ["cluster", "broker", ("gone_at", admin.EmptyFieldListFilter), "language", "version"]
    search_fields = ["client_id", "group_name", "broker", "address"]

    @admin.display(description="gone (UTC)", ordering="gone_at")
    def gone(self, row: Producer) -> str:
        """Write when it went."""
        return "" if row.gone_at is None else instant(row.gone_at)


@admin.register(ProducerList)
class ProducerListAdmin(Observed[ProducerList]):
    """When brokers told which producers they know."""

    list_display = ["cluster", "broker", "missing", "when"]
    list_filter = ["cluster", "missing"]
    search_fields = ["broker"]
    list_select_related = ["cluster"]


class ReceiptInline(admin.TabularInline[CommandReceipt, Command]):
    """What a command did to each member."""

    model = CommandReceipt
    extra = 0
    can_delete = False


@admin.register(Command)
class CommandAdmin(Observed[Command]):
    """Commands."""

    list_display = ["verb", "group_name", "target", "author_name", "outcome", "detail", "cluster"]
    list_filter = ["cluster", "verb", "outcome"]
    search_fields = ["group_name", "target", "author_name", "reason"]
    list_select_related = ["cluster"]
    inlines = [ReceiptInline]


@admin.register(CommandReceipt)
class CommandReceiptAdmin(Observed[CommandReceipt]):
    """Receipts."""

    list_display = ["command", "client_id", "answer", "detail", "when"]
    list_filter = ["answer", "command__cluster"]
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
