"""The room's entry in Django's list."""

from django.apps import AppConfig


class AuditConfig(AppConfig):
    """The audit log."""

    name = "dashboard.audit"
    label = "audit"
