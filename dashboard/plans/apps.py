"""The room's entry in Django's list."""

from django.apps import AppConfig
from django.utils.translation import pgettext_lazy


class PlansConfig(AppConfig):
    """Dry runs, and by-config assignments."""

    name = "dashboard.plans"
    label = "plans"
    verbose_name = pgettext_lazy("room", "Plans")

    def ready(self) -> None:
        """Say to the groups that what members were told by hand is kept here."""
        from dashboard.groups.told import keep_told  # noqa: PLC0415  # models can be imported only now
        from dashboard.plans.queries import told  # noqa: PLC0415  # likewise

        keep_told(told)
