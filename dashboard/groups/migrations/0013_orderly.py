"""States that could be stored though they are wrong. What is there of them is put right as far as that is known."""

from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.migrations.state import StateApps
from django.db.models import F, Manager, Model, Q

from dashboard.common.triggers import never_less

MAX_AT = 253_402_300_799_999
BOUNDS = {
    "Holding": ("at_low", "at_high", "until_low", "until_high", "first_pull_at"),
    "Handoff": ("dropped_low", "dropped_high", "taken_low", "taken_high", "first_pull_at"),
    "Round": ("opened_low",),
}


MOMENTS = ("dropped", "taken")
DURATIONS = ("unowned_low", "unowned_high", "overlap_low", "overlap_high", "pause_low", "pause_high")
NOT_CONVERGED_MS = 120_000  # so long after it opened a round is said not to have converged
WRONG_QUEUE = ~Q(queue_id__range=(-1, 2**31 - 1))


def put_right(apps: StateApps, editor: BaseDatabaseSchemaEditor) -> None:
    """Forget what cannot be, and let what must have a time have the nearest that is known; no queue, no row."""
    for name in ("LockRefusal", "PullRefusal", "Handoff"):
        apps.get_model("groups", name).objects.filter(WRONG_QUEUE).delete()
    for name, columns in BOUNDS.items():
        rows = apps.get_model("groups", name).objects
        for column in columns:
            rows.filter(_is_no_instant(column)).update(**{column: None})
    _put_holdings_right(apps.get_model("groups", "Holding").objects)
    _put_handoffs_right(apps.get_model("groups", "Handoff").objects)
    _put_rounds_right(apps.get_model("groups", "Round").objects)
    if (
        editor.connection.vendor == "postgresql"
    ):  # alters no table while keys of rows that were updated wait to be checked
        editor.connection.check_constraints()


def _is_no_instant(column: str) -> Q:
    return Q(**{f"{column}__lt": 0}) | Q(**{f"{column}__gt": MAX_AT})


def _put_holdings_right(rows: Manager[Model]) -> None:
    """A span whose end is no instant ended at any time after it began."""
    rows.filter(_is_no_instant("until")).update(until=F("at"), until_low=F("at"), until_high=None)
    rows.filter(first_pull_at__lt=F("at")).update(first_pull_at=None)


def _put_handoffs_right(rows: Manager[Model]) -> None:
    """A time that is none is unknown, and so are its bounds; of bounds that it lies beyond the time is right."""
    for moment in MOMENTS:
        at, low, high = f"{moment}_at", f"{moment}_low", f"{moment}_high"
        rows.filter(_is_no_instant(at)).update(**{at: None, low: None, high: None})
        rows.filter(**{f"{at}__lt": F(low)}).update(**{low: None})
        rows.filter(**{f"{at}__gt": F(high)}).update(**{high: None})
    for column in DURATIONS:
        rows.filter(**{f"{column}__lt": 0}).update(**{column: None})


def _put_rounds_right(rows: Manager[Model]) -> None:
    """A round that ended did so after its last cause at the earliest; what was told of it stays told."""
    rows.filter(_is_no_instant("last_cause_at")).update(last_cause_at=F("opened_at"))
    rows.filter(_is_no_instant("closed_at")).update(closed_at=F("last_cause_at"))
    rows.filter(_is_no_instant("told_at")).update(told_at=F("closed_at"))
    rows.filter(_is_no_instant("settled_at") | Q(settled_at__lt=F("closed_at"))).update(settled_at=None)
    late = rows.filter(_is_no_instant("not_converged_at") | Q(not_converged_at__lt=F("opened_at")))
    late.filter(state="not converged").update(not_converged_at=F("opened_at") + NOT_CONVERGED_MS)
    late.update(not_converged_at=None)


class Migration(migrations.Migration):
    dependencies = [
        ("groups", "0012_settled"),
    ]

    operations = [
        migrations.RunPython(put_right, migrations.RunPython.noop),
        migrations.AddConstraint(
            model_name="handoff",
            constraint=models.CheckConstraint(
                condition=models.Q(("queue_id__range", (-1, 2147483647))), name="handoff_queue_id_fits"
            ),
        ),
        migrations.AddConstraint(
            model_name="handoff",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="handoff",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="handoff",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("dropped_at__gte", models.F("dropped_low")),
                    ("taken_at__gte", models.F("taken_low")),
                    ("dropped_at__lte", models.F("dropped_high")),
                    ("taken_at__lte", models.F("taken_high")),
                ),
                name="handoff_times_are_within_their_bounds",
            ),
        ),
        migrations.AddConstraint(
            model_name="holding",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("first_pull_at__isnull", True), ("first_pull_at__gte", models.F("at")), _connector="OR"
                ),
                name="holding_is_pulled_after_it_began",
            ),
        ),
        migrations.AddConstraint(
            model_name="holding",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="lockrefusal",
            constraint=models.CheckConstraint(
                condition=models.Q(("queue_id__range", (-1, 2147483647))), name="lock_refusal_queue_id_fits"
            ),
        ),
        migrations.AddConstraint(
            model_name="pullrefusal",
            constraint=models.CheckConstraint(
                condition=models.Q(("queue_id__range", (-1, 2147483647))), name="pull_refusal_queue_id_fits"
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
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
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("not_converged_at__isnull", True),
                    ("not_converged_at__gte", models.F("opened_at")),
                    _connector="OR",
                ),
                name="round_does_not_converge_after_it_opened",
            ),
        ),
        migrations.AddConstraint(
            model_name="round",
            constraint=models.CheckConstraint(
                condition=models.Q(
                    ("settled_at__isnull", True), ("settled_at__gte", models.F("closed_at")), _connector="OR"
                ),
                name="round_settled_no_earlier_than_it_closed",
            ),
        ),
        never_less("groups_target", "fence"),
    ]
