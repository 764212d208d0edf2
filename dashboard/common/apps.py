"""The room's entry in Django's list: template tags are found here, and tables get their names."""

from django.apps import AppConfig


class CommonConfig(AppConfig):
    """What every room uses."""

    name = "dashboard.common"
    label = "common"

    def ready(self) -> None:
        """Name the tables, before forms of the Django admin are made of them: it comes first for that."""
        from dashboard.common.naming.giving import give_names  # noqa: PLC0415  # models can be imported only now

        give_names()
