from __future__ import annotations

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import models
from django.utils.translation import override

from dashboard.common.naming.giving import columns_of, give_names, key_of, our_tables
from dashboard.groups.models import Group, Round
from dashboard.people.admin import GrantForm


@pytest.mark.django_db
@pytest.mark.usefixtures("catalogues")
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_names_are_no_alteration_of_the_database(language: str, capsys: pytest.CaptureFixture[str]) -> None:
    with override(language):
        call_command("makemigrations", "--check", "--dry-run")

    assert "No changes detected" in capsys.readouterr().out


def test_only_our_own_tables_are_named() -> None:
    ours = list(our_tables())

    assert Group in ours
    assert apps.get_model("auth", "Group") not in ours
    assert all(column.name != "id" for column in columns_of(Group))


def test_a_column_has_a_name_of_its_own_in_a_table_where_it_is_something_else() -> None:
    holding = apps.get_model("groups", "Holding")

    assert key_of(holding._meta.get_field("reason")) == "groups.holding.reason"
    assert key_of(apps.get_model("clusters", "Command")._meta.get_field("reason")) == "reason"


def test_what_has_no_name_keeps_that_of_its_identifier(monkeypatch: pytest.MonkeyPatch) -> None:
    class Unnamed(models.Model):
        """A table of which nothing is said."""

        odd_count = models.IntegerField(help_text="odd", choices=[(1, "one")])

        class Meta:
            """Of no room that keeps it."""

            app_label = "unnamed"

        def __str__(self) -> str:
            """Say nothing."""
            return ""

    monkeypatch.setattr("dashboard.common.naming.giving.our_tables", lambda: iter([Unnamed]))

    give_names()

    [column] = columns_of(Unnamed)
    assert (column.verbose_name, column.help_text, column.flatchoices) == ("odd count", "odd", [(1, "one")])
    assert Unnamed._meta.verbose_name == "unnamed"


@pytest.mark.usefixtures("catalogues")
def test_forms_of_the_admin_are_made_after_the_names_were_given() -> None:
    with override("zh-hans"):
        labels = [str(field.label) for field in GrantForm.base_fields.values()]

    assert labels == ["用户", "角色", "集群", "组", "原因"]


@pytest.mark.usefixtures("catalogues")
def test_one_process_speaks_both_languages_in_turn() -> None:
    said = []
    for language in ("en", "zh-hans", "en"):
        with override(language):
            said.append((str(Round._meta.verbose_name), str(dict(Round._meta.get_field("state").flatchoices)["open"])))

    assert said == [("round", "open"), ("轮次", "未结束"), ("round", "open")]
