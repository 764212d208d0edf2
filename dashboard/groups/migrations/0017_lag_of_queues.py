"""How far each queue was behind, beside how far all of them were: what a page of a past instant shows below its map."""

from django.db import migrations, models
from django.db.models import F, Q

from dashboard.common.fields import AtField

STEP_MS = 10_000


class Migration(migrations.Migration):
    dependencies = [("groups", "0016_of_one_group")]

    operations = [
        migrations.AddField(model_name="lagstep", name="queues", field=models.JSONField(blank=True, default=dict)),
        migrations.AddField(model_name="lagstep", name="told_at", field=AtField(blank=True, null=True)),
        migrations.AddConstraint(
            model_name="lagstep",
            constraint=models.CheckConstraint(
                condition=Q(told_at=None) | Q(told_at__gte=F("began_at"), told_at__lt=F("began_at") + STEP_MS),
                name="lag_step_was_told_in_its_time",
            ),
        ),
    ]
