"""All tables and triggers of this room at once, for an empty database: what the replaced ones make, in a tenth of the time."""

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models

import dashboard.common.fields
import dashboard.common.names
from dashboard.common.triggers import always_the_same, never_less


class Migration(migrations.Migration):
    replaces = [
        ("clusters", "0001_initial"),
        ("clusters", "0002_triggers"),
        ("clusters", "0003_division"),
        ("clusters", "0004_watch"),
        ("clusters", "0005_connections"),
        ("clusters", "0006_reported_commands"),
        ("clusters", "0007_silent"),
        ("clusters", "0008_sends"),
        ("clusters", "0009_unrouted"),
        ("clusters", "0010_canary"),
        ("clusters", "0011_forgetting"),
        ("clusters", "0012_orders_in_order"),
        ("clusters", "0013_of_one_cluster"),
        ("clusters", "0014_absences"),
        ("clusters", "0015_queues_away"),
        ("clusters", "0016_queues_came"),
        ("clusters", "0017_routes_told"),
        ("clusters", "0018_asked_in_vain"),
    ]

    initial = True

    dependencies = [
        ("auth", "__first__"),
    ]

    operations = [
        migrations.CreateModel(
            name="Cluster",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", dashboard.common.names.NameField(unique=True)),
                ("namesrv", models.TextField(help_text="host:port of each NameServer, separated by semicolons")),
                ("is_demo", models.BooleanField(default=False)),
                ("is_read_only", models.BooleanField(default=True)),
                ("added_at", dashboard.common.fields.AtField()),
                ("lease_holder", models.TextField(blank=True, default="")),
                ("lease_epoch", models.BigIntegerField(default=0)),
                ("lease_until", dashboard.common.fields.AtField(default=0)),
                (
                    "watched_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="when anything of it answered last", null=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="cluster_has_a_name"),
                    models.CheckConstraint(
                        condition=models.Q(("namesrv", ""), _negated=True), name="cluster_has_a_namesrv"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("added_at__range", (0, 253402300799999))),
                        name="cluster_added_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("lease_epoch__gte", 0)), name="cluster_lease_epoch_is_not_negative"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lease_until", 0),
                            models.Q(models.Q(("lease_holder", ""), _negated=True), ("lease_epoch__gte", 1)),
                            _connector="OR",
                        ),
                        name="cluster_lease_has_a_holder",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Command",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("verb", models.CharField(max_length=40)),
                ("group_name", dashboard.common.names.NameField(blank=True, null=True)),
                ("target", models.TextField(blank=True, default="")),
                ("parameters", models.JSONField(blank=True, default=dict)),
                ("author_name", models.TextField()),
                ("reason", models.TextField(blank=True, default="")),
                ("ordered_at", dashboard.common.fields.AtField()),
                ("deadline", dashboard.common.fields.AtField()),
                ("taken_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("taken_epoch", models.BigIntegerField(blank=True, null=True)),
                ("finished_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("done", "done"),
                            ("refused", "refused"),
                            ("failed", "failed"),
                            ("expired", "expired"),
                        ],
                        max_length=16,
                        null=True,
                    ),
                ),
                ("detail", models.TextField(blank=True, default="")),
                (
                    "author",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.PROTECT,
                        related_name="+",
                        to=settings.AUTH_USER_MODEL,
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="commands", to="clusters.cluster"
                    ),
                ),
                ("reported_as", dashboard.common.names.NameField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("finished_at__isnull", True)),
                        fields=["cluster", "ordered_at"],
                        name="command_open",
                    )
                ],
                "constraints": [
                    models.CheckConstraint(condition=models.Q(("verb", ""), _negated=True), name="command_has_a_verb"),
                    models.CheckConstraint(
                        condition=models.Q(("author_name", ""), _negated=True), name="command_has_an_author"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("ordered_at__range", (0, 253402300799999))),
                        name="command_ordered_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("deadline__gte", models.F("ordered_at"))),
                        name="command_deadline_is_not_before",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("taken_at__isnull", True), ("taken_epoch__isnull", True)),
                            models.Q(
                                ("taken_at__gte", models.F("ordered_at")),
                                ("taken_at__isnull", False),
                                ("taken_at__lte", models.F("deadline")),
                                ("taken_epoch__gte", 1),
                                ("taken_epoch__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="command_is_taken_in_time_by_a_lease",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("finished_at__isnull", True), ("outcome__isnull", True)),
                            models.Q(
                                ("finished_at__gte", models.F("ordered_at")),
                                ("finished_at__isnull", False),
                                ("outcome__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="command_end_has_an_outcome",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("outcome__in", ["done", "refused", "failed", "expired"])),
                        name="command_outcome_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("outcome", "done"), _negated=True),
                            ("taken_at__isnull", False),
                            ("reported_as__isnull", False),
                            _connector="OR",
                        ),
                        name="command_done_was_taken",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("reported_as__isnull", True), ("finished_at__isnull", False), _connector="OR"
                        ),
                        name="command_reported_is_over",
                    ),
                    models.UniqueConstraint(fields=("cluster", "reported_as"), name="command_is_reported_once"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("finished_at__isnull", True), ("finished_at__gte", models.F("taken_at")), _connector="OR"
                        ),
                        name="command_is_over_after_it_was_taken",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="OutboxLine",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.BinaryField(max_length=20)),
                ("at", dashboard.common.fields.AtField()),
                ("stored_at", dashboard.common.fields.AtField()),
                ("line", models.TextField()),
                ("exported_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="outbox", to="clusters.cluster"
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("exported_at__isnull", True)), fields=["id"], name="outbox_waiting"
                    ),
                    models.Index(fields=["exported_at"], name="outbox_exported"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "digest"), name="outbox_line_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="outbox_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("line", ""), _negated=True), name="outbox_line_is_not_empty"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProducerBroker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("at_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("at_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("admin answer", "admin answer"),
                            ("client log", "client log"),
                            ("broker log", "broker log"),
                            ("agent report", "agent report"),
                            ("derived", "derived"),
                            ("simulator", "simulator"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("observed_at", dashboard.common.fields.AtField()),
                ("observed_by", models.TextField(blank=True, default="")),
                ("detail", models.TextField(blank=True, default="")),
                ("client_id", dashboard.common.names.NameField()),
                ("broker", dashboard.common.names.NameField()),
                ("latency_ms", models.BigIntegerField(blank=True, null=True)),
                ("latency_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "outcome",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("ok", "ok"),
                            ("not stored", "not stored"),
                            ("client error", "client error"),
                            ("remoting error", "remoting error"),
                            ("broker error", "broker error"),
                            ("interrupted", "interrupted"),
                        ],
                        max_length=16,
                        null=True,
                    ),
                ),
                ("backoff_ms", models.BigIntegerField(blank=True, null=True)),
                ("backoff_until", dashboard.common.fields.AtField(blank=True, null=True)),
                ("is_isolated", models.BooleanField(blank=True, null=True)),
                ("is_reachable", models.BooleanField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="producers", to="clusters.cluster"
                    ),
                ),
                ("backoffs", models.JSONField(blank=True, default=list)),
                ("sends", models.JSONField(blank=True, default=list)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("cluster", "client_id", "broker"), name="producer_broker_is_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("latency_ms__isnull", True), ("latency_ms__gte", 0), _connector="OR"),
                        name="latency_is_one",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("latency_at__isnull", True), ("latency_ms__isnull", True), ("outcome__isnull", True)
                            ),
                            models.Q(
                                ("latency_at__isnull", False), ("latency_ms__isnull", False), ("outcome__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="latency_is_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("backoff_ms__isnull", True), ("backoff_until__isnull", True)),
                            models.Q(
                                ("backoff_ms__gte", 0),
                                ("backoff_ms__isnull", False),
                                ("backoff_until__isnull", False),
                                ("is_isolated__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="backoff_is_whole",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "outcome__in",
                                ["ok", "not stored", "client error", "remoting error", "broker error", "interrupted"],
                            )
                        ),
                        name="producer_outcome_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="producer_has_an_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="producer_broker_has_a_name"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="producer_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="producer_observed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "origin__in",
                                [
                                    "admin answer",
                                    "client log",
                                    "broker log",
                                    "agent report",
                                    "derived",
                                    "simulator",
                                    "operator",
                                ],
                            )
                        ),
                        name="producer_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="producer_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Topic",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", dashboard.common.names.NameField()),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="topics", to="clusters.cluster"
                    ),
                ),
                ("division", models.CharField(blank=True, default="", max_length=32)),
                ("unrouted_by", models.JSONField(blank=True, default=list)),
                ("unused_since", dashboard.common.fields.AtField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "name"), name="topic_is_unique"),
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="topic_has_a_name"),
                    models.CheckConstraint(
                        condition=models.Q(("unused_since__range", (0, 253402300799999))),
                        name="topic_unused_since_is_an_instant",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Broker",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("at_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("at_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("admin answer", "admin answer"),
                            ("client log", "client log"),
                            ("broker log", "broker log"),
                            ("agent report", "agent report"),
                            ("derived", "derived"),
                            ("simulator", "simulator"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("observed_at", dashboard.common.fields.AtField()),
                ("observed_by", models.TextField(blank=True, default="")),
                ("detail", models.TextField(blank=True, default="")),
                ("name", dashboard.common.names.NameField()),
                ("broker_id", models.BigIntegerField()),
                ("address", models.TextField()),
                ("version", models.TextField(blank=True, default="", help_text="empty is unknown")),
                ("gone_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="brokers", to="clusters.cluster"
                    ),
                ),
                (
                    "absences",
                    models.JSONField(
                        blank=True, help_text="[[gone at, back at], …], the last ones; NULL: none", null=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "name", "broker_id"), name="broker_is_unique"),
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="broker_has_a_name"),
                    models.CheckConstraint(
                        condition=models.Q(("address", ""), _negated=True), name="broker_has_an_address"
                    ),
                    models.CheckConstraint(condition=models.Q(("broker_id__gte", 0)), name="broker_id_is_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("gone_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="broker_goes_after_it_came",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="broker_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="broker_observed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "origin__in",
                                [
                                    "admin answer",
                                    "client log",
                                    "broker log",
                                    "agent report",
                                    "derived",
                                    "simulator",
                                    "operator",
                                ],
                            )
                        ),
                        name="broker_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="broker_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Watch",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("epoch", models.BigIntegerField(default=0)),
                ("sweep", models.BigIntegerField(default=0)),
                ("sweep_began_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("sweep_ended_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("sweep_took_ms", models.BigIntegerField(blank=True, null=True)),
                ("sweep_missed", models.IntegerField(default=0, help_text="what the last whole sweep did not get to")),
                ("calls", models.BigIntegerField(default=0)),
                ("missed", models.BigIntegerField(default=0)),
                ("facts", models.BigIntegerField(default=0)),
                ("brokers", models.IntegerField(default=0)),
                ("groups", models.IntegerField(default=0)),
                ("members", models.IntegerField(default=0)),
                ("unknown", models.IntegerField(default=0)),
                ("viewed", models.IntegerField(default=0)),
                ("oldest_held_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("waiting", models.IntegerField(default=0)),
                ("queued", models.IntegerField(default=0, help_text="batches of facts that wait to be stored")),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="watch", to="clusters.cluster"
                    ),
                ),
                (
                    "lists_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="every member list was told then or later, and is stored", null=True
                    ),
                ),
                (
                    "resting",
                    models.IntegerField(
                        default=0, help_text="clients that did not answer, and are left alone for a while"
                    ),
                ),
                (
                    "answered_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="when any server answered last; NULL is never", null=True
                    ),
                ),
                (
                    "silent",
                    models.JSONField(
                        blank=True, default=list, help_text="servers that do not answer, since when, and why"
                    ),
                ),
                (
                    "routes_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="every route was told then or later, and is stored", null=True
                    ),
                ),
                (
                    "sweep_unanswered",
                    models.IntegerField(default=0, help_text="what the last whole sweep asked in vain"),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="watch_at_is_an_instant"
                    )
                ],
                "verbose_name_plural": "watches",
            },
        ),
        migrations.CreateModel(
            name="Producer",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("at_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("at_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("admin answer", "admin answer"),
                            ("client log", "client log"),
                            ("broker log", "broker log"),
                            ("agent report", "agent report"),
                            ("derived", "derived"),
                            ("simulator", "simulator"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("observed_at", dashboard.common.fields.AtField()),
                ("observed_by", models.TextField(blank=True, default="")),
                ("detail", models.TextField(blank=True, default="")),
                ("broker", dashboard.common.names.NameField()),
                ("group_name", dashboard.common.names.NameField()),
                ("client_id", dashboard.common.names.NameField()),
                ("address", models.TextField()),
                ("language", models.TextField(blank=True, default="")),
                ("version", models.TextField(blank=True, default="")),
                ("gone_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="producer_connections",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="producer_connection_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="producer_connection_has_a_client"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("gone_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="producer_goes_after_it_came",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))),
                        name="producer_connection_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="producer_connection_observed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "origin__in",
                                [
                                    "admin answer",
                                    "client log",
                                    "broker log",
                                    "agent report",
                                    "derived",
                                    "simulator",
                                    "operator",
                                ],
                            )
                        ),
                        name="producer_connection_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="producer_connection_at_is_within_its_bounds",
                    ),
                    models.UniqueConstraint(
                        fields=("cluster", "broker", "group_name", "client_id"), name="producer_connection_is_unique"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="ProducerList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("at_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("at_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("admin answer", "admin answer"),
                            ("client log", "client log"),
                            ("broker log", "broker log"),
                            ("agent report", "agent report"),
                            ("derived", "derived"),
                            ("simulator", "simulator"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("observed_at", dashboard.common.fields.AtField()),
                ("observed_by", models.TextField(blank=True, default="")),
                ("detail", models.TextField(blank=True, default="")),
                ("broker", dashboard.common.names.NameField()),
                (
                    "missing",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("timeout", "timeout"),
                            ("not online", "not online"),
                            ("refused", "refused"),
                            ("no permission", "no permission"),
                            ("not asked", "not asked"),
                            ("error", "error"),
                        ],
                        max_length=16,
                        null=True,
                    ),
                ),
                ("missing_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="producer_lists",
                        to="clusters.cluster",
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "broker"), name="producer_list_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                            models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="producer_list_missing_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                        ),
                        name="producer_list_missing_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="producer_list_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="producer_list_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="producer_list_observed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "origin__in",
                                [
                                    "admin answer",
                                    "client log",
                                    "broker log",
                                    "agent report",
                                    "derived",
                                    "simulator",
                                    "operator",
                                ],
                            )
                        ),
                        name="producer_list_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="producer_list_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Canary",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("is_on", models.BooleanField()),
                ("may_create", models.BooleanField(default=False)),
                ("reason", models.TextField()),
                ("changed_by", models.TextField()),
                ("changed_at", dashboard.common.fields.AtField()),
                ("told_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("troubles", models.JSONField(blank=True, default=dict)),
                (
                    "cluster",
                    models.OneToOneField(
                        on_delete=django.db.models.deletion.CASCADE, related_name="canary", to="clusters.cluster"
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "canaries",
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("reason", ""), _negated=True), name="canary_has_a_reason"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("changed_by", ""), _negated=True), name="canary_was_switched_by_somebody"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("changed_at__range", (0, 253402300799999))),
                        name="canary_changed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("told_at__isnull", True), ("told_at__gte", models.F("changed_at")), _connector="OR"
                        ),
                        name="canary_tells_after_it_was_switched",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("is_on", True), ("may_create", False), _connector="OR"),
                        name="canary_that_is_off_makes_nothing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="CommandReceipt",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("client_id", dashboard.common.names.NameField()),
                (
                    "answer",
                    models.CharField(
                        choices=[
                            ("changed", "changed"),
                            ("unchanged", "unchanged"),
                            ("unknown", "unknown"),
                            ("not asked", "not asked"),
                        ],
                        max_length=16,
                    ),
                ),
                ("at", dashboard.common.fields.AtField()),
                ("detail", models.TextField(blank=True, default="")),
                (
                    "command",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="receipts", to="clusters.command"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("command", "client_id"), name="receipt_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("answer__in", ["changed", "unchanged", "unknown", "not asked"])),
                        name="receipt_answer_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="receipt_has_a_member"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="receipt_at_is_an_instant"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Route",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("at", dashboard.common.fields.AtField()),
                ("at_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("at_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "origin",
                    models.CharField(
                        choices=[
                            ("admin answer", "admin answer"),
                            ("client log", "client log"),
                            ("broker log", "broker log"),
                            ("agent report", "agent report"),
                            ("derived", "derived"),
                            ("simulator", "simulator"),
                            ("operator", "operator"),
                        ],
                        max_length=16,
                    ),
                ),
                ("observed_at", dashboard.common.fields.AtField()),
                ("observed_by", models.TextField(blank=True, default="")),
                ("detail", models.TextField(blank=True, default="")),
                ("namesrv", models.TextField(blank=True, default="")),
                ("broker", dashboard.common.names.NameField()),
                ("read_queues", models.BigIntegerField()),
                ("write_queues", models.BigIntegerField()),
                ("permission", models.SmallIntegerField()),
                ("has_master", models.BooleanField()),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="routes", to="clusters.topic"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("topic", "namesrv", "broker"), name="route_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("read_queues__range", (0, 2147483647))), name="route_read_queues_fit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("write_queues__range", (0, 2147483647))), name="route_write_queues_fit"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("permission__range", (0, 15))), name="route_permission_is_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="route_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="route_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="route_observed_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "origin__in",
                                [
                                    "admin answer",
                                    "client log",
                                    "broker log",
                                    "agent report",
                                    "derived",
                                    "simulator",
                                    "operator",
                                ],
                            )
                        ),
                        name="route_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="route_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Queue",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("broker", dashboard.common.names.NameField()),
                ("queue_id", models.BigIntegerField()),
                ("since", dashboard.common.fields.AtField()),
                ("gone_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "topic",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="queues", to="clusters.topic"
                    ),
                ),
                ("gone_low", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "absences",
                    models.JSONField(
                        blank=True,
                        help_text="[[gone low, gone at, back low, back at], …], the last ones; NULL: none",
                        null=True,
                    ),
                ),
                (
                    "came_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="when it was first known; NULL: nobody kept it", null=True
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("topic", "broker", "queue_id"), name="queue_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("queue_id__range", (-1, 2147483647))), name="queue_id_fits"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="queue_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("since__range", (0, 253402300799999))), name="queue_since_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("gone_at__gte", models.F("since")), _connector="OR"
                        ),
                        name="queue_goes_after_it_came",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("gone_at__gte", models.F("gone_low")), _connector="OR"
                        ),
                        name="queue_gone_bounds_are_in_order",
                    ),
                ],
            },
        ),
        never_less("clusters_cluster", "lease_epoch"),
        always_the_same("clusters_topic", "cluster_id"),
        always_the_same("clusters_queue", "topic_id"),
    ]
