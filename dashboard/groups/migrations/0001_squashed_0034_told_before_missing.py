"""All tables and triggers of this room at once, for an empty database: what the replaced ones make, in a tenth of the time."""

import django.db.models.deletion
import django.db.models.expressions
from django.db import migrations, models

import dashboard.common.fields
import dashboard.common.names
from dashboard.common.triggers import always_the_same, never_less, of_one

GROUP = "NEW.group_id"
CLUSTER = "(SELECT cluster_id FROM groups_group WHERE id = NEW.group_id)"
OF_MEMBER = "(SELECT group_id FROM groups_member WHERE id = NEW.member_id)"
OF_ROUND = "(SELECT group_id FROM groups_round WHERE id = NEW.round_id)"
OF_QUEUE = (
    "(SELECT cluster_id FROM clusters_topic WHERE id = (SELECT topic_id FROM clusters_queue WHERE id = NEW.queue_id))"
)


class Migration(migrations.Migration):
    replaces = [
        ("groups", "0001_initial"),
        ("groups", "0002_triggers"),
        ("groups", "0003_told"),
        ("groups", "0004_bounds"),
        ("groups", "0005_lag"),
        ("groups", "0006_findings"),
        ("groups", "0007_handoffs_counted"),
        ("groups", "0008_moves_unknown"),
        ("groups", "0009_dead_letters"),
        ("groups", "0010_groups_gone"),
        ("groups", "0011_perhaps_twice"),
        ("groups", "0012_settled"),
        ("groups", "0013_orderly"),
        ("groups", "0014_behind"),
        ("groups", "0015_offsets"),
        ("groups", "0016_of_one_group"),
        ("groups", "0017_lag_of_queues"),
        ("groups", "0018_popped_by"),
        ("groups", "0019_unasked"),
        ("groups", "0020_lock_grants"),
        ("groups", "0021_rounds_twice"),
        ("groups", "0022_lasted"),
        ("groups", "0023_members_unknown"),
        ("groups", "0024_notified"),
        ("groups", "0025_proxied"),
        ("groups", "0026_good_bye"),
        ("groups", "0027_disputed"),
        ("groups", "0028_settings_seen"),
        ("groups", "0029_perhaps_orphans"),
        ("groups", "0030_silences"),
        ("groups", "0031_counted_twice"),
        ("groups", "0032_popping"),
        ("groups", "0033_told_until"),
        ("groups", "0034_told_before_missing"),
    ]

    initial = True

    dependencies = [
        ("clusters", "0018_asked_in_vain"),
    ]

    operations = [
        migrations.CreateModel(
            name="Group",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", dashboard.common.names.NameField()),
                (
                    "model",
                    models.CharField(
                        blank=True,
                        choices=[("CLUSTERING", "CLUSTERING"), ("BROADCASTING", "BROADCASTING")],
                        max_length=16,
                        null=True,
                    ),
                ),
                ("added_at", dashboard.common.fields.AtField()),
                ("inputs_version", models.BigIntegerField(default=0)),
                ("done_version", models.BigIntegerField(default=0)),
                ("fingerprint", models.CharField(blank=True, default="", max_length=40)),
                ("fence", models.BigIntegerField(default=0)),
                ("due_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "strategy",
                    models.TextField(
                        blank=True, default="", help_text="what the target was computed by; empty is unknown"
                    ),
                ),
                ("is_strategy_assumed", models.BooleanField(default=True, help_text="no member told its strategy")),
                ("rebalanced_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("member_count", models.IntegerField(blank=True, null=True)),
                ("queue_count", models.IntegerField(blank=True, null=True)),
                ("silent_count", models.IntegerField(blank=True, null=True)),
                ("orphan_count", models.IntegerField(blank=True, null=True)),
                ("double_count", models.IntegerField(blank=True, null=True)),
                ("is_converged", models.BooleanField(blank=True, null=True)),
                ("round_number", models.IntegerField(blank=True, null=True)),
                ("round_opened_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("round_closed_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "round_cause",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("member joined", "member joined"),
                            ("member left", "member left"),
                            ("heartbeat expired", "heartbeat expired"),
                            ("subscription changed", "subscription changed"),
                            ("route changed", "route changed"),
                            ("broker gone", "broker gone"),
                            ("broker back", "broker back"),
                            ("strategy changed", "strategy changed"),
                            ("config changed", "config changed"),
                            ("plan changed", "plan changed"),
                            ("held changed", "held changed"),
                            ("manual", "manual"),
                            ("many at once", "many at once"),
                            ("unknown", "unknown"),
                        ],
                        max_length=20,
                        null=True,
                    ),
                ),
                ("round_moves", models.IntegerField(blank=True, null=True)),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="groups", to="clusters.cluster"
                    ),
                ),
                (
                    "duplicate_messages",
                    models.BigIntegerField(
                        blank=True,
                        help_text="consumed twice, at least, as both members of handoffs reported; NULL: none did",
                        null=True,
                    ),
                ),
                (
                    "untold_count",
                    models.IntegerField(blank=True, help_text="brokers that did not tell who is a member", null=True),
                ),
                ("closed_by", models.JSONField(blank=True, default=list, help_text="brokers with consumeEnable=false")),
                (
                    "gone_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="since then no broker names it, and nobody is a member", null=True
                    ),
                ),
                (
                    "perhaps_twice_count",
                    models.IntegerField(
                        blank=True,
                        help_text="queues that two said to hold, at times that need not overlap; no doubles",
                        null=True,
                    ),
                ),
                (
                    "popped_by",
                    models.JSONField(
                        blank=True,
                        help_text="broker -> topics that it is set to give by POP; NULL: none told of any",
                        null=True,
                    ),
                ),
                (
                    "unasked_count",
                    models.IntegerField(blank=True, help_text="of the silent ones, those not asked yet", null=True),
                ),
                (
                    "is_notified",
                    models.BooleanField(
                        blank=True,
                        help_text="False: notifyConsumerIdsChangedEnable=false at every broker that has it",
                        null=True,
                    ),
                ),
                (
                    "proxied_count",
                    models.IntegerField(
                        blank=True,
                        help_text="of the silent ones, those that seem to come through a proxy: they own nothing",
                        null=True,
                    ),
                ),
                (
                    "disputed_count",
                    models.IntegerField(
                        blank=True, help_text="queues that not every NameServer has in its route", null=True
                    ),
                ),
                ("disputed_since", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "disputes",
                    models.JSONField(
                        blank=True, help_text="[[since, until, whether queues went], …]; NULL: none", null=True
                    ),
                ),
                (
                    "settings_seen_at",
                    models.JSONField(
                        blank=True,
                        help_text="setting -> broker -> when it was looked at last, ms; NULL: never",
                        null=True,
                    ),
                ),
                (
                    "perhaps_orphan_count",
                    models.IntegerField(
                        blank=True,
                        help_text="of the disputed queues, those that nobody is known to hold; no orphans",
                        null=True,
                    ),
                ),
                (
                    "popping_count",
                    models.IntegerField(
                        blank=True,
                        help_text="members that take messages by POP, from queues that nobody owns",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("inputs_version__gt", models.F("done_version"))),
                        fields=["id"],
                        name="group_waiting",
                    ),
                    models.Index(fields=["due_at"], name="group_due"),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("cluster", "name"), name="group_is_unique"),
                    models.CheckConstraint(condition=models.Q(("name", ""), _negated=True), name="group_has_a_name"),
                    models.CheckConstraint(
                        condition=models.Q(("model__in", ["CLUSTERING", "BROADCASTING"])), name="group_model_is_known"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "round_cause__in",
                                [
                                    "member joined",
                                    "member left",
                                    "heartbeat expired",
                                    "subscription changed",
                                    "route changed",
                                    "broker gone",
                                    "broker back",
                                    "strategy changed",
                                    "config changed",
                                    "plan changed",
                                    "held changed",
                                    "manual",
                                    "many at once",
                                    "unknown",
                                ],
                            )
                        ),
                        name="group_round_cause_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("added_at__range", (0, 253402300799999))),
                        name="group_added_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("done_version__gte", 0), ("done_version__lte", models.F("inputs_version"))),
                        name="group_done_is_not_ahead_of_inputs",
                    ),
                    models.CheckConstraint(condition=models.Q(("fence__gte", 0)), name="group_fence_is_not_negative"),
                ],
            },
        ),
        migrations.CreateModel(
            name="Finding",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(max_length=40)),
                ("subject", models.TextField()),
                (
                    "subject_key",
                    models.CharField(help_text="the subject, or its digest where it is long", max_length=64),
                ),
                ("sentence", models.TextField()),
                ("proof", models.JSONField()),
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
                ("suspected_at", dashboard.common.fields.AtField()),
                ("confirmed_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("cleared_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "ends_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="when it must end by itself, where that is known", null=True
                    ),
                ),
                (
                    "cluster",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="findings", to="clusters.cluster"
                    ),
                ),
                (
                    "group",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="findings",
                        to="groups.group",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("cleared_at__isnull", True)),
                        fields=["group", "suspected_at"],
                        name="finding_now",
                    )
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("cleared_at__isnull", True), ("group__isnull", False)),
                        fields=("group", "kind", "subject_key"),
                        name="finding_of_a_group_is_there_once",
                    ),
                    models.UniqueConstraint(
                        condition=models.Q(("cleared_at__isnull", True), ("group__isnull", True)),
                        fields=("cluster", "kind", "subject_key"),
                        name="finding_of_a_cluster_is_there_once",
                    ),
                    models.CheckConstraint(condition=models.Q(("kind", ""), _negated=True), name="finding_has_a_kind"),
                    models.CheckConstraint(
                        condition=models.Q(("sentence", ""), _negated=True), name="finding_has_a_sentence"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("subject_key", ""), _negated=True), name="finding_has_a_subject"
                    ),
                    models.CheckConstraint(condition=models.Q(("proof", []), _negated=True), name="finding_has_proof"),
                    models.CheckConstraint(
                        condition=models.Q(("suspected_at__range", (0, 253402300799999))),
                        name="finding_suspected_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("confirmed_at__isnull", True),
                            ("confirmed_at__gte", models.F("suspected_at")),
                            _connector="OR",
                        ),
                        name="finding_is_confirmed_after_suspected",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cleared_at__isnull", True), ("cleared_at__gte", models.F("suspected_at")), _connector="OR"
                        ),
                        name="finding_is_cleared_after_suspected",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("cleared_at__isnull", True), ("cleared_at__gte", models.F("confirmed_at")), _connector="OR"
                        ),
                        name="finding_is_cleared_after_confirmed",
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
                        name="finding_origin_is_known",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Member",
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
                ("registrations", models.IntegerField(default=1)),
                ("left_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "departure",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("unregistered", "unregistered"),
                            ("connection closed", "connection closed"),
                            ("heartbeat expired", "heartbeat expired"),
                            ("unknown", "unknown"),
                        ],
                        max_length=20,
                        null=True,
                    ),
                ),
                ("language", models.TextField(blank=True, default="", help_text="empty is unknown")),
                ("version", models.TextField(blank=True, default="", help_text="empty is unknown")),
                (
                    "consume_type",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("CONSUME_ACTIVELY", "CONSUME_ACTIVELY"),
                            ("CONSUME_PASSIVELY", "CONSUME_PASSIVELY"),
                            ("CONSUME_POP", "CONSUME_POP"),
                        ],
                        max_length=20,
                        null=True,
                    ),
                ),
                ("is_orderly", models.BooleanField(blank=True, null=True)),
                ("started_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("strategy", models.TextField(blank=True, default="", help_text="empty is unknown")),
                (
                    "seen_at",
                    dashboard.common.fields.AtField(default=0, help_text="the look that its own words above are from"),
                ),
                ("held_seen_at", dashboard.common.fields.AtField(blank=True, null=True)),
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
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="members", to="groups.group"
                    ),
                ),
                ("good_bye_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "silences",
                    models.JSONField(
                        blank=True,
                        help_text="[[told last, told again or left], …]; of many the oldest are one; NULL: none",
                        null=True,
                    ),
                ),
                ("silent_until", dashboard.common.fields.AtField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(condition=models.Q(("left_at__isnull", True)), fields=["group"], name="member_here")
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "client_id"), name="member_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="member_has_an_id"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("registrations__gte", 1)), name="member_is_registered_once_at_least"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("departure__isnull", True), ("left_at__isnull", True)),
                            models.Q(("departure__isnull", False), ("left_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="member_who_left_has_a_departure",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                            models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="member_missing_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("left_at__isnull", True), ("left_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="member_leaves_after_joining",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("departure__in", ["unregistered", "connection closed", "heartbeat expired", "unknown"])
                        ),
                        name="member_departure_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("consume_type__in", ["CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP"])
                        ),
                        name="member_consume_type_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                        ),
                        name="member_missing_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="member_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="member_observed_at_is_an_instant",
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
                        name="member_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="member_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="MemberList",
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
                ("clients", dashboard.common.names.NamesField()),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="member_lists", to="groups.group"
                    ),
                ),
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
                    "silences",
                    models.JSONField(
                        blank=True,
                        help_text="[[missing since, told again], …]; of many the oldest are one; NULL: none",
                        null=True,
                    ),
                ),
                ("silent_until", dashboard.common.fields.AtField(blank=True, null=True)),
                ("missing_low", dashboard.common.fields.AtField(blank=True, null=True)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("group", "broker"), name="member_list_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="member_list_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="member_list_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="member_list_observed_at_is_an_instant",
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
                        name="member_list_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="member_list_at_is_within_its_bounds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                            models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="member_list_missing_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                        ),
                        name="member_list_missing_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("missing_low__isnull", True),
                            models.Q(("missing_at__isnull", False), ("missing_low__lte", models.F("missing_at"))),
                            _connector="OR",
                        ),
                        name="member_list_told_before_it_was_missing",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Round",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("number", models.IntegerField()),
                (
                    "state",
                    models.CharField(
                        choices=[
                            ("open", "open"),
                            ("not converged", "not converged"),
                            ("closed", "closed"),
                            ("superseded", "superseded"),
                        ],
                        default="open",
                        max_length=16,
                    ),
                ),
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("member joined", "member joined"),
                            ("member left", "member left"),
                            ("heartbeat expired", "heartbeat expired"),
                            ("subscription changed", "subscription changed"),
                            ("route changed", "route changed"),
                            ("broker gone", "broker gone"),
                            ("broker back", "broker back"),
                            ("strategy changed", "strategy changed"),
                            ("config changed", "config changed"),
                            ("plan changed", "plan changed"),
                            ("held changed", "held changed"),
                            ("manual", "manual"),
                            ("many at once", "many at once"),
                            ("unknown", "unknown"),
                        ],
                        max_length=20,
                    ),
                ),
                ("opened_at", dashboard.common.fields.AtField()),
                ("last_cause_at", dashboard.common.fields.AtField()),
                ("closed_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("not_converged_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("superseded_by", models.IntegerField(blank=True, null=True)),
                ("wave", models.IntegerField()),
                (
                    "members_before",
                    dashboard.common.names.NamesField(
                        blank=True, help_text="NULL: of before the first round nothing is known", null=True
                    ),
                ),
                ("members_after", dashboard.common.names.NamesField(blank=True, null=True)),
                ("move_count", models.IntegerField(blank=True, null=True)),
                ("before", models.BinaryField(default=b"")),
                ("after", models.BinaryField(default=b"")),
                (
                    "unsettled",
                    dashboard.common.names.NamesField(
                        default=list, help_text="queues whose held is not target, at the last look"
                    ),
                ),
                ("unknown_members", dashboard.common.names.NamesField(default=list)),
                ("last_look_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="rounds", to="groups.group"
                    ),
                ),
                (
                    "told_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="when its handoffs were told; after its end", null=True
                    ),
                ),
                ("opened_low", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "waits_for",
                    models.TextField(blank=True, default="", help_text="why it cannot be said whether held is target"),
                ),
                (
                    "settled_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="when what was held had last changed, as it closed", null=True
                    ),
                ),
                (
                    "twice",
                    models.BigIntegerField(
                        blank=True,
                        help_text="messages consumed twice in its handoffs, at least; NULL is unknown",
                        null=True,
                    ),
                ),
                (
                    "lasted_low",
                    models.BigIntegerField(
                        blank=True,
                        help_text="ms it took at least, by its handoffs; NULL until they are told",
                        null=True,
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(fields=["group", "opened_at"], name="round_time"),
                    models.Index(
                        condition=models.Q(("closed_at__isnull", False), ("told_at__isnull", True)),
                        fields=["group"],
                        name="round_untold",
                    ),
                ],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "number"), name="round_number_is_unique"),
                    models.UniqueConstraint(
                        condition=models.Q(("closed_at__isnull", True)), fields=("group",), name="round_is_open_alone"
                    ),
                    models.CheckConstraint(condition=models.Q(("number__gte", 1)), name="round_number_is_from_1"),
                    models.CheckConstraint(
                        condition=models.Q(("wave__gte", 1), ("wave__lte", models.F("number"))),
                        name="round_wave_is_an_earlier_one",
                    ),
                    models.CheckConstraint(condition=models.Q(("move_count__gte", 0)), name="round_moves_are_counted"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(
                                ("closed_at__isnull", True),
                                ("state__in", ("open", "not converged")),
                                ("superseded_by__isnull", True),
                            ),
                            models.Q(
                                ("closed_at__isnull", False), ("state", "closed"), ("superseded_by__isnull", True)
                            ),
                            models.Q(
                                ("closed_at__isnull", False),
                                ("state", "superseded"),
                                ("superseded_by__gt", models.F("number")),
                                ("superseded_by__isnull", False),
                            ),
                            _connector="OR",
                        ),
                        name="round_state_and_end_agree",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("state", "not converged"), _negated=True),
                            ("not_converged_at__isnull", False),
                            _connector="OR",
                        ),
                        name="round_not_converged_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("opened_at__range", (0, 253402300799999))),
                        name="round_opened_at_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("last_cause_at__isnull", True),
                            ("last_cause_at__gte", models.F("opened_at")),
                            _connector="OR",
                        ),
                        name="round_causes_follow_its_opening",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("closed_at__isnull", True), ("closed_at__gte", models.F("opened_at")), _connector="OR"
                        ),
                        name="round_closes_after_it_opened",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "cause__in",
                                [
                                    "member joined",
                                    "member left",
                                    "heartbeat expired",
                                    "subscription changed",
                                    "route changed",
                                    "broker gone",
                                    "broker back",
                                    "strategy changed",
                                    "config changed",
                                    "plan changed",
                                    "held changed",
                                    "manual",
                                    "many at once",
                                    "unknown",
                                ],
                            )
                        ),
                        name="round_cause_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("told_at__isnull", True), ("closed_at__isnull", False), _connector="OR"),
                        name="round_is_told_when_it_ended",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("opened_at__isnull", True), ("opened_at__gte", models.F("opened_low")), _connector="OR"
                        ),
                        name="round_opened_low_is_not_above",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("opened_low__range", (0, 253402300799999))),
                            models.Q(("last_cause_at__range", (0, 253402300799999))),
                            models.Q(("closed_at__range", (0, 253402300799999))),
                            models.Q(("settled_at__range", (0, 253402300799999))),
                            models.Q(("not_converged_at__range", (0, 253402300799999))),
                            models.Q(("told_at__range", (0, 253402300799999))),
                        ),
                        name="round_times_are_instants",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("not_converged_at__isnull", True),
                            ("not_converged_at__gte", models.F("opened_at")),
                            _connector="OR",
                        ),
                        name="round_does_not_converge_after_it_opened",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("settled_at__isnull", True), ("settled_at__gte", models.F("closed_at")), _connector="OR"
                        ),
                        name="round_settled_no_earlier_than_it_closed",
                    ),
                    models.CheckConstraint(condition=models.Q(("twice__gte", 0)), name="round_twice_is_counted"),
                    models.CheckConstraint(
                        condition=models.Q(("lasted_low__gte", 0)), name="round_lasted_low_is_not_negative"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LockRefusal",
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
                ("topic", dashboard.common.names.NameField()),
                ("broker", dashboard.common.names.NameField()),
                ("queue_id", models.BigIntegerField()),
                ("holder", dashboard.common.names.NameField(blank=True, default="")),
                ("count", models.BigIntegerField(default=1)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lock_refusals", to="groups.group"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("group", "client_id", "topic", "broker", "queue_id"), name="lock_refusal_is_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="lock_refusal_has_a_client"
                    ),
                    models.CheckConstraint(condition=models.Q(("count__gte", 1)), name="lock_refusal_is_counted"),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="lock_refusal_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="lock_refusal_observed_at_is_an_instant",
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
                        name="lock_refusal_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="lock_refusal_at_is_within_its_bounds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("queue_id__range", (-1, 2147483647))), name="lock_refusal_queue_id_fits"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Progress",
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
                ("queues", models.JSONField(blank=True, default=list)),
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
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="progress", to="groups.group"
                    ),
                ),
                (
                    "empty_at",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="the last answer of which nothing waited", null=True
                    ),
                ),
                ("lag", models.BigIntegerField(blank=True, null=True)),
                ("looks", models.JSONField(blank=True, default=list)),
                (
                    "unknown_lags",
                    models.IntegerField(default=0, help_text="queues of which it is unknown what was consumed"),
                ),
                (
                    "waits_since",
                    dashboard.common.fields.AtField(
                        blank=True, help_text="no message waits longer; NULL: none waits, or unknown", null=True
                    ),
                ),
            ],
            options={
                "verbose_name_plural": "progress",
                "indexes": [models.Index(fields=["group", "missing", "lag"], name="progress_lags")],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "broker"), name="progress_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("missing__isnull", True), ("missing_at__isnull", True)),
                            models.Q(("missing__isnull", False), ("missing_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="progress_missing_has_a_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("missing__in", ["timeout", "not online", "refused", "no permission", "not asked", "error"])
                        ),
                        name="progress_missing_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="progress_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="progress_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="progress_observed_at_is_an_instant",
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
                        name="progress_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="progress_at_is_within_its_bounds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("lag", None), ("lag__gte", 0), _connector="OR"), ("unknown_lags__gte", 0)
                        ),
                        name="progress_lag_is_counted",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("waits_since__range", (0, 253402300799999))),
                            models.Q(("empty_at__range", (0, 253402300799999))),
                        ),
                        name="progress_times_are_instants",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LagStep",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("broker", dashboard.common.names.NameField()),
                ("began_at", dashboard.common.fields.AtField()),
                ("at", dashboard.common.fields.AtField()),
                ("lag", models.BigIntegerField(blank=True, null=True)),
                ("most", models.BigIntegerField(blank=True, null=True)),
                ("worst_queue", models.TextField(blank=True, default="")),
                ("worst_lag", models.BigIntegerField(blank=True, null=True)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lag_steps", to="groups.group"
                    ),
                ),
                ("queues", models.JSONField(blank=True, default=dict)),
                ("told_at", dashboard.common.fields.AtField(blank=True, null=True)),
            ],
            options={
                "indexes": [models.Index(fields=["group", "began_at"], name="lag_step_by_time")],
                "constraints": [
                    models.UniqueConstraint(fields=("group", "broker", "began_at"), name="lag_step_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("lag", None), ("lag__gte", 0), _connector="OR"),
                        name="lag_step_is_no_less_than_nothing",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("lag", None),
                            models.Q(("most__gte", models.F("lag")), ("most__isnull", False)),
                            _connector="OR",
                        ),
                        name="lag_step_has_its_most",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("at__gte", models.F("began_at")),
                            (
                                "at__lt",
                                django.db.models.expressions.CombinedExpression(
                                    models.F("began_at"), "+", models.Value(10000)
                                ),
                            ),
                        ),
                        name="lag_step_lies_in_its_time",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="lag_step_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="lag_step_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("told_at", None),
                            models.Q(
                                ("told_at__gte", models.F("began_at")),
                                (
                                    "told_at__lt",
                                    django.db.models.expressions.CombinedExpression(
                                        models.F("began_at"), "+", models.Value(10000)
                                    ),
                                ),
                            ),
                            _connector="OR",
                        ),
                        name="lag_step_was_told_in_its_time",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Flow",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("broker", dashboard.common.names.NameField()),
                ("at", dashboard.common.fields.AtField()),
                ("standings", models.JSONField(blank=True, default=list)),
                ("retried", models.JSONField(blank=True, default=list)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="flows", to="groups.group"
                    ),
                ),
                ("dead", models.JSONField(blank=True, default=list)),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("group", "broker"), name="flow_is_unique"),
                    models.CheckConstraint(condition=models.Q(("broker", ""), _negated=True), name="flow_has_a_broker"),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="flow_at_is_an_instant"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="PullRefusal",
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
                ("topic", dashboard.common.names.NameField()),
                ("broker", dashboard.common.names.NameField()),
                ("queue_id", models.BigIntegerField()),
                ("code", models.IntegerField()),
                ("since", dashboard.common.fields.AtField()),
                ("count", models.BigIntegerField(default=1)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="pull_refusals", to="groups.group"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("group", "client_id", "topic", "broker", "queue_id"), name="pull_refusal_is_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="pull_refusal_has_a_client"
                    ),
                    models.CheckConstraint(condition=models.Q(("count__gte", 1)), name="pull_refusal_is_counted"),
                    models.CheckConstraint(
                        condition=models.Q(("at__isnull", True), ("at__gte", models.F("since")), _connector="OR"),
                        name="pull_refusal_began_before_its_last",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("since__range", (0, 253402300799999))),
                        name="pull_refusal_since_is_an_instant",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="pull_refusal_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="pull_refusal_observed_at_is_an_instant",
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
                        name="pull_refusal_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="pull_refusal_at_is_within_its_bounds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("queue_id__range", (-1, 2147483647))), name="pull_refusal_queue_id_fits"
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="LockGrant",
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
                ("topic", dashboard.common.names.NameField()),
                ("broker", dashboard.common.names.NameField()),
                ("queue_id", models.BigIntegerField()),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="lock_grants", to="groups.group"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(
                        fields=("group", "topic", "broker", "queue_id"), name="lock_grant_is_unique"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("client_id", ""), _negated=True), name="lock_grant_has_a_client"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("queue_id__range", (-1, 2147483647))), name="lock_grant_queue_id_fits"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="lock_grant_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="lock_grant_observed_at_is_an_instant",
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
                        name="lock_grant_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="lock_grant_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Holding",
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
                ("until", dashboard.common.fields.AtField(blank=True, null=True)),
                ("until_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("until_high", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "until_origin",
                    models.CharField(
                        blank=True,
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
                        null=True,
                    ),
                ),
                (
                    "reason",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("not in target", "not in target"),
                            ("pull expired", "pull expired"),
                            ("not subscribed", "not subscribed"),
                            ("offset illegal", "offset illegal"),
                            ("stopped", "stopped"),
                            ("lost", "lost"),
                            ("unknown", "unknown"),
                        ],
                        max_length=20,
                        null=True,
                    ),
                ),
                ("first_pull_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holdings", to="groups.group"
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holdings", to="clusters.queue"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="holdings", to="groups.member"
                    ),
                ),
                ("committed_offset", models.BigIntegerField(blank=True, null=True)),
                ("start_offset", models.BigIntegerField(blank=True, null=True)),
                ("twice_until", models.BigIntegerField(blank=True, null=True)),
            ],
            options={
                "indexes": [
                    models.Index(fields=["group", "queue", "at"], name="holding_owners"),
                    models.Index(fields=["group", "until"], name="holding_ends"),
                ],
                "constraints": [
                    models.UniqueConstraint(
                        condition=models.Q(("until__isnull", True)),
                        fields=("member", "queue"),
                        name="holding_is_held_once",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("reason__isnull", True), ("until__isnull", True), ("until_origin__isnull", True)),
                            models.Q(
                                ("reason__isnull", False), ("until__isnull", False), ("until_origin__isnull", False)
                            ),
                            _connector="OR",
                        ),
                        name="holding_that_ended_has_a_reason",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("until__isnull", True), ("until__gte", models.F("at")), _connector="OR"),
                        name="holding_ends_after_it_began",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("until__isnull", True), ("until__gte", models.F("until_low")), _connector="OR"
                        ),
                        name="holding_end_is_not_below_its_bound",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("until_high__isnull", True), ("until_high__gte", models.F("until")), _connector="OR"
                        ),
                        name="holding_end_is_not_above_its_bound",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "until_origin__in",
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
                        name="holding_end_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "reason__in",
                                [
                                    "not in target",
                                    "pull expired",
                                    "not subscribed",
                                    "offset illegal",
                                    "stopped",
                                    "lost",
                                    "unknown",
                                ],
                            )
                        ),
                        name="holding_reason_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="holding_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="holding_observed_at_is_an_instant",
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
                        name="holding_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="holding_at_is_within_its_bounds",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("first_pull_at__isnull", True), ("first_pull_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="holding_is_pulled_after_it_began",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__range", (0, 253402300799999))),
                            models.Q(("at_high__range", (0, 253402300799999))),
                            models.Q(("until__range", (0, 253402300799999))),
                            models.Q(("until_low__range", (0, 253402300799999))),
                            models.Q(("until_high__range", (0, 253402300799999))),
                            models.Q(("first_pull_at__range", (0, 253402300799999))),
                        ),
                        name="holding_times_are_instants",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(models.Q(("start_offset__gte", 0)), models.Q(("committed_offset__gte", 0))),
                        name="holding_offsets_are_not_negative",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Presence",
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
                ("address", models.TextField()),
                ("language", models.TextField(blank=True, default="")),
                ("version", models.TextField(blank=True, default="")),
                ("gone_at", dashboard.common.fields.AtField(blank=True, null=True)),
                (
                    "departure",
                    models.CharField(
                        blank=True,
                        choices=[
                            ("unregistered", "unregistered"),
                            ("connection closed", "connection closed"),
                            ("heartbeat expired", "heartbeat expired"),
                            ("unknown", "unknown"),
                        ],
                        max_length=20,
                        null=True,
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="presences", to="groups.member"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("member", "broker", "address"), name="presence_is_unique"),
                    models.CheckConstraint(
                        condition=models.Q(("broker", ""), _negated=True), name="presence_has_a_broker"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("address", ""), _negated=True), name="presence_has_an_address"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("departure__isnull", True), ("gone_at__isnull", True)),
                            models.Q(("departure__isnull", False), ("gone_at__isnull", False)),
                            _connector="OR",
                        ),
                        name="presence_that_ended_has_a_departure",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("departure__in", ["unregistered", "connection closed", "heartbeat expired", "unknown"])
                        ),
                        name="presence_departure_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("gone_at__isnull", True), ("gone_at__gte", models.F("at")), _connector="OR"
                        ),
                        name="presence_ends_after_it_began",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="presence_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="presence_observed_at_is_an_instant",
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
                        name="presence_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="presence_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Handoff",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("topic", dashboard.common.names.NameField()),
                ("broker", dashboard.common.names.NameField()),
                ("queue_id", models.BigIntegerField()),
                ("from_client", dashboard.common.names.NameField(blank=True, default="")),
                ("to_client", dashboard.common.names.NameField(blank=True, default="")),
                ("dropped_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("dropped_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("dropped_high", dashboard.common.fields.AtField(blank=True, null=True)),
                ("taken_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("taken_low", dashboard.common.fields.AtField(blank=True, null=True)),
                ("taken_high", dashboard.common.fields.AtField(blank=True, null=True)),
                ("first_pull_at", dashboard.common.fields.AtField(blank=True, null=True)),
                ("unowned_low", models.BigIntegerField(blank=True, null=True)),
                ("unowned_high", models.BigIntegerField(blank=True, null=True)),
                ("overlap_low", models.BigIntegerField(blank=True, null=True)),
                ("overlap_high", models.BigIntegerField(blank=True, null=True)),
                (
                    "round",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="handoffs", to="groups.round"
                    ),
                ),
                ("pause_high", models.BigIntegerField(blank=True, null=True)),
                ("pause_low", models.BigIntegerField(blank=True, null=True)),
                (
                    "nth",
                    models.IntegerField(
                        default=0, help_text="of the same queue from the same to the same in its round; 0 is the first"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(("from_client", models.F("to_client")), _negated=True),
                        name="handoff_is_between_two",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("dropped_high__isnull", True),
                            ("dropped_high__gte", models.F("dropped_low")),
                            _connector="OR",
                        ),
                        name="handoff_dropped_bounds_are_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("taken_high__isnull", True), ("taken_high__gte", models.F("taken_low")), _connector="OR"
                        ),
                        name="handoff_taken_bounds_are_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("unowned_high__isnull", True),
                            ("unowned_high__gte", models.F("unowned_low")),
                            _connector="OR",
                        ),
                        name="handoff_unowned_bounds_are_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("overlap_high__isnull", True),
                            ("overlap_high__gte", models.F("overlap_low")),
                            _connector="OR",
                        ),
                        name="handoff_overlap_bounds_are_in_order",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("first_pull_at__isnull", True),
                            ("first_pull_at__gte", models.F("taken_low")),
                            _connector="OR",
                        ),
                        name="handoff_pull_follows_taking",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("pause_high__isnull", True), ("pause_high__gte", models.F("pause_low")), _connector="OR"
                        ),
                        name="handoff_pause_bounds_are_in_order",
                    ),
                    models.UniqueConstraint(
                        fields=("round", "topic", "broker", "queue_id", "from_client", "to_client", "nth"),
                        name="handoff_is_unique",
                    ),
                    models.CheckConstraint(condition=models.Q(("nth__gte", 0)), name="handoff_nth_is_not_negative"),
                    models.CheckConstraint(
                        condition=models.Q(("queue_id__range", (-1, 2147483647))), name="handoff_queue_id_fits"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("dropped_at__range", (0, 253402300799999))),
                            models.Q(("dropped_low__range", (0, 253402300799999))),
                            models.Q(("dropped_high__range", (0, 253402300799999))),
                            models.Q(("taken_at__range", (0, 253402300799999))),
                            models.Q(("taken_low__range", (0, 253402300799999))),
                            models.Q(("taken_high__range", (0, 253402300799999))),
                            models.Q(("first_pull_at__range", (0, 253402300799999))),
                        ),
                        name="handoff_times_are_instants",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("unowned_low__gte", 0)),
                            models.Q(("unowned_high__gte", 0)),
                            models.Q(("overlap_low__gte", 0)),
                            models.Q(("overlap_high__gte", 0)),
                            models.Q(("pause_low__gte", 0)),
                            models.Q(("pause_high__gte", 0)),
                        ),
                        name="handoff_durations_are_not_negative",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            ("dropped_at__gte", models.F("dropped_low")),
                            ("taken_at__gte", models.F("taken_low")),
                            ("dropped_at__lte", models.F("dropped_high")),
                            ("taken_at__lte", models.F("taken_high")),
                        ),
                        name="handoff_times_are_within_their_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="RoundCause",
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
                (
                    "cause",
                    models.CharField(
                        choices=[
                            ("member joined", "member joined"),
                            ("member left", "member left"),
                            ("heartbeat expired", "heartbeat expired"),
                            ("subscription changed", "subscription changed"),
                            ("route changed", "route changed"),
                            ("broker gone", "broker gone"),
                            ("broker back", "broker back"),
                            ("strategy changed", "strategy changed"),
                            ("config changed", "config changed"),
                            ("plan changed", "plan changed"),
                            ("held changed", "held changed"),
                            ("manual", "manual"),
                            ("many at once", "many at once"),
                            ("unknown", "unknown"),
                        ],
                        max_length=20,
                    ),
                ),
                ("client_id", dashboard.common.names.NameField(blank=True, null=True)),
                ("evidence", models.TextField()),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="causes", to="groups.group"
                    ),
                ),
                (
                    "round",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="causes",
                        to="groups.round",
                    ),
                ),
            ],
            options={
                "indexes": [
                    models.Index(
                        condition=models.Q(("round__isnull", True)), fields=["group", "at"], name="cause_waiting"
                    )
                ],
                "constraints": [
                    models.CheckConstraint(
                        condition=models.Q(
                            (
                                "cause__in",
                                [
                                    "member joined",
                                    "member left",
                                    "heartbeat expired",
                                    "subscription changed",
                                    "route changed",
                                    "broker gone",
                                    "broker back",
                                    "strategy changed",
                                    "config changed",
                                    "plan changed",
                                    "held changed",
                                    "manual",
                                    "many at once",
                                    "unknown",
                                ],
                            )
                        ),
                        name="round_cause_kind_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("evidence", ""), _negated=True), name="round_cause_has_evidence"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="round_cause_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="round_cause_observed_at_is_an_instant",
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
                        name="round_cause_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="round_cause_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Subscription",
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
                ("topic", dashboard.common.names.NameField()),
                ("expression", models.TextField(blank=True, default="")),
                ("expression_type", models.TextField()),
                ("sub_version", models.BigIntegerField()),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="subscriptions", to="groups.group"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="subscriptions",
                        to="groups.member",
                    ),
                ),
            ],
            options={
                "indexes": [models.Index(fields=["topic"], name="subscription_topic")],
                "constraints": [
                    models.UniqueConstraint(fields=("member", "topic"), name="subscription_is_unique"),
                    models.UniqueConstraint(
                        condition=models.Q(("member__isnull", True)),
                        fields=("group", "topic"),
                        name="group_subscription_is_unique",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("topic", ""), _negated=True), name="subscription_has_a_topic"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("at__range", (0, 253402300799999))), name="subscription_at_is_an_instant"
                    ),
                    models.CheckConstraint(
                        condition=models.Q(("observed_at__range", (0, 253402300799999))),
                        name="subscription_observed_at_is_an_instant",
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
                        name="subscription_origin_is_known",
                    ),
                    models.CheckConstraint(
                        condition=models.Q(
                            models.Q(("at_low__isnull", True), ("at_low__lte", models.F("at")), _connector="OR"),
                            models.Q(("at_high__isnull", True), ("at_high__gte", models.F("at")), _connector="OR"),
                        ),
                        name="subscription_at_is_within_its_bounds",
                    ),
                ],
            },
        ),
        migrations.CreateModel(
            name="Target",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("fence", models.BigIntegerField()),
                (
                    "group",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="targets", to="groups.group"
                    ),
                ),
                (
                    "member",
                    models.ForeignKey(
                        blank=True,
                        null=True,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="targets",
                        to="groups.member",
                    ),
                ),
                (
                    "queue",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE, related_name="+", to="clusters.queue"
                    ),
                ),
            ],
            options={
                "constraints": [
                    models.UniqueConstraint(fields=("group", "queue"), name="target_is_unique"),
                    models.CheckConstraint(condition=models.Q(("fence__gte", 1)), name="target_comes_from_a_rebalance"),
                ],
            },
        ),
        never_less("groups_group", "inputs_version"),
        never_less("groups_group", "done_version"),
        never_less("groups_group", "fence"),
        never_less("groups_group", "round_number"),
        never_less("groups_target", "fence"),
        always_the_same("groups_group", "cluster_id"),
        always_the_same("groups_member", "group_id"),
        always_the_same("groups_round", "group_id"),
        *of_one("groups_subscription", "group", ["group_id", "member_id"], ours=GROUP, theirs=OF_MEMBER),
        *of_one("groups_target", "group", ["group_id", "member_id"], ours=GROUP, theirs=OF_MEMBER),
        *of_one("groups_target", "cluster", ["group_id", "queue_id"], ours=CLUSTER, theirs=OF_QUEUE),
        *of_one("groups_holding", "group", ["group_id", "member_id"], ours=GROUP, theirs=OF_MEMBER),
        *of_one("groups_holding", "cluster", ["group_id", "queue_id"], ours=CLUSTER, theirs=OF_QUEUE),
        *of_one("groups_roundcause", "group", ["group_id", "round_id"], ours=GROUP, theirs=OF_ROUND),
        *of_one("groups_finding", "cluster", ["cluster_id", "group_id"], ours="NEW.cluster_id", theirs=CLUSTER),
    ]
