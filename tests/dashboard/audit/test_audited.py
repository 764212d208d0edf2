"""Whatever can be written in the Django admin writes an entry of the audit log, of every table that is registered."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group as People
from django.contrib.auth.models import User
from django.db import models
from django.test import Client, RequestFactory
from django.urls import reverse

from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.people.models import Grant
from dashboard.plans.models import ByConfig
from tests.dashboard.persons import PASSWORD, person
from tests.dashboard.story import T0, add_cluster, held, route, seen, told

pytestmark = pytest.mark.django_db
REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)
Form = dict[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """How a row of a table that can be written is made, what is sent to add one, and to change one that is there."""

    add: Callable[[], Form]
    row: Callable[[], models.Model] | None = None
    change: Callable[[], Form] | None = None


def by_config() -> Form:
    add_cluster()
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    group = Group.objects.get()
    rebalance_once(group=group.pk, now=T0 + 20)
    return {"group": str(group.pk), "base": "0", "document": '{"A": ["orders/east/0-3"]}'}


def of_person(**given: str) -> Form:
    return {"date_joined_0": "2026-01-01", "date_joined_1": "00:00:00", "is_active": "on", **given}


def granted() -> Form:
    return {"user": str(person().pk), "role": "operator", "clusters": "*", "groups": "*"}


def of_shop(namesrv: str) -> Form:
    return {"name": "shop", "namesrv": namesrv, "is_read_only": "on"}


SAMPLES: dict[type[models.Model], Sample] = {
    User: Sample(
        lambda: {"username": "eve", "usable_password": "true", "password1": PASSWORD, "password2": PASSWORD},
        lambda: person(name="bo"),
        lambda: of_person(username="bo", is_superuser="on"),
    ),
    People: Sample(lambda: {"name": "desk"}, lambda: People.objects.create(name="x"), lambda: {"name": "y"}),
    Grant: Sample(
        granted,
        lambda: Grant.objects.create(user=person(None, name="bo"), role="viewer"),
        lambda: {"user": str(User.objects.get(username="bo").pk), "role": "admin", "clusters": "*", "groups": "*"},
    ),
    Cluster: Sample(lambda: of_shop("a:1"), add_cluster, lambda: of_shop("b:2")),
    ByConfig: Sample(by_config),
}


def address(model: type[models.Model], page: str, *arguments: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=arguments)


def sample_of(model: type[models.Model]) -> Sample:
    if model not in SAMPLES:
        pytest.fail(f"{model._meta.label} can be written in the admin: say here how, and that it is audited is tested")
    return SAMPLES[model]


@pytest.fixture
def written(admin_client: Client) -> Callable[[str, Form], int]:
    """Send a form without a reason, which is refused, and with one; give how many entries that made."""

    def send(where: str, form: Form) -> int:
        before = AuditEntry.objects.count()
        admin_client.post(where, form | {"reason": " "})
        assert AuditEntry.objects.count() == before, "done without a reason"
        answer = admin_client.post(where, form | {"reason": "because"})
        assert answer.status_code == 302, answer.content.decode()
        made = AuditEntry.objects.filter(number__gt=before)
        assert {entry.author for entry in made} <= {"admin"}
        assert all("because" in entry.detail for entry in made)
        return made.count()

    return send


@pytest.fixture
def asked(rf: RequestFactory, admin_user: User) -> object:
    request = rf.get("/admin/")
    request.user = admin_user
    return request


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_what_is_added_is_audited_or_refused(
    model: type[models.Model], admin_client: Client, asked: object, written: Callable[[str, Form], int]
) -> None:
    rows, where = model._default_manager, address(model, "add")
    if not admin.site.get_model_admin(model).has_add_permission(asked):  # type: ignore[arg-type] # see the fixture
        assert admin_client.post(where, {"reason": "because"}).status_code == 403
        return
    form = sample_of(model).add()
    before = set(rows.values_list("pk", flat=True))

    assert written(where, form) == 1
    assert len(set(rows.values_list("pk", flat=True)) - before) == 1


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_what_is_changed_is_audited_or_refused(
    model: type[models.Model], asked: object, written: Callable[[str, Form], int]
) -> None:
    ours = admin.site.get_model_admin(model)
    if not ours.has_change_permission(asked):  # type: ignore[arg-type] # likewise
        assert not ours.has_change_permission(asked, model())  # type: ignore[arg-type] # likewise
        return
    sample = sample_of(model)
    assert sample.row is not None and sample.change is not None
    row = sample.row()

    assert written(address(model, "change", row.pk), sample.change()) == 1


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_what_is_deleted_is_audited_or_refused(
    model: type[models.Model], asked: object, written: Callable[[str, Form], int]
) -> None:
    ours = admin.site.get_model_admin(model)
    if not ours.has_delete_permission(asked, model()):  # type: ignore[arg-type] # likewise
        return
    sample = sample_of(model)
    assert sample.row is not None
    row = sample.row()

    assert written(address(model, "delete", row.pk), {"post": "yes"}) >= 1
    assert not model._default_manager.filter(pk=row.pk).exists()


@pytest.mark.parametrize("model", REGISTERED, ids=lambda model: model._meta.label)
def test_nothing_is_done_to_many_rows_at_once(model: type[models.Model], admin_client: Client, asked: object) -> None:
    ours = admin.site.get_model_admin(model)

    assert ours.get_actions(asked) == {}  # type: ignore[arg-type] # likewise
    assert ours.list_editable == ()
    if model in SAMPLES and (make := SAMPLES[model].row) is not None:
        row = make()
        chosen = {"action": "delete_selected", "_selected_action": [str(row.pk)], "post": "yes", "reason": "because"}
        admin_client.post(address(model, "changelist"), chosen)
        assert model._default_manager.filter(pk=row.pk).exists()
        assert not ours.inlines, "what stands inside of others is written past the form"
