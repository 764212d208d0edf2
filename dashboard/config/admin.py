"""The schedule of background tasks in the Django admin: to read, as it is set by code (``CELERY_BEAT_SCHEDULE``)."""

from __future__ import annotations

from django.contrib import admin
from django.utils.translation import pgettext_lazy
from django_celery_beat import models

from dashboard.common.admin import Observed

SCHEDULES = (models.ClockedSchedule, models.CrontabSchedule, models.IntervalSchedule, models.SolarSchedule)


class ScheduleAdmin(Observed):  # type: ignore[type-arg] # django_celery_beat has no types
    """When tasks are begun."""


class TaskAdmin(Observed):  # type: ignore[type-arg] # likewise
    """What is begun, and when it was last."""

    list_display = ("name", "task", "enabled", "schedule", "last_run_at", "total_run_count")
    list_filter = ("enabled",)
    search_fields = ("name", "task")

    @admin.display(description=pgettext_lazy("column", "schedule"))
    def schedule(self, row: models.PeriodicTask) -> str:
        """Write when it is begun."""
        return str(row.scheduler)


admin.site.unregister([*SCHEDULES, models.PeriodicTask])  # those can be written, and run tasks by hand
admin.site.register(SCHEDULES, ScheduleAdmin)
admin.site.register(models.PeriodicTask, TaskAdmin)
