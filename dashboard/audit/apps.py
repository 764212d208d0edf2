"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class AuditConfig(AppConfig):
    """The audit log."""

    name = "dashboard.audit"
    label = "audit"
    verbose_name = pgettext_lazy("room", "Audit")
