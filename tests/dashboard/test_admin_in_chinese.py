"""Every page of the Django admin in Chinese, of every table that is registered: what is still English is found."""

from __future__ import annotations

import json
import re

import pytest
from django.contrib import admin
from django.contrib.auth.models import Group as People
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Cluster, OutboxLine
from dashboard.common.naming.values import said
from dashboard.people.models import Attempt, Grant
from dashboard.people.roles import Role
from dashboard.plans.models import ByConfig
from dashboard.push.models import Step, Stream
from rebalance_engine.findings.finding import FindingKind
from tests.dashboard.persons import person
from tests.dashboard.test_chinese import CHINESE, english_in, group, reader
from tests.house.messages import OF_DJANGOS_SCRIPTS

__all__ = ["group", "reader"]
REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)
WRITTEN = (Cluster, Grant, User, People, ByConfig)
AS_THEY_ARE = {OutboxLine, Attempt, Step, Stream}  # lines of files, digests and names of streams: data alone
DATA = re.compile(r"<div class=\"readonly\">.*?</div>|<bdi>.*?</bdi>|alt=\"[^\"]*\"", re.DOTALL)
# Names of RocketMQ, of SQL and of keyboards, that the pages of the admin have besides; and of this story.
NAMES = re.compile(
    r"\b(BROADCASTING|CLUSTERING|Command|Control|LDAP|Mac|NULL|TAG|consumeEnable|false|host|port)\b"
    r"|\bnotifyConsumerIdsChangedEnable\b|\bmanage\.py up\b|admin@example\.com|\beka_[\w-]{6}",
    re.ASCII,
)


@pytest.fixture
def boss(reader: Client, admin_user: User) -> Client:
    """A superuser who reads Chinese, where there is something to read."""
    People.objects.create(name="orders")
    reader.force_login(admin_user)
    return reader


def english_on(client: Client, address: str) -> list[str]:
    answer = client.get(address)
    assert answer.status_code == 200, address
    return english_in(NAMES.sub("", DATA.sub("", answer.content.decode())))


@pytest.mark.usefixtures("catalogues")
def test_no_list_and_no_row_of_the_admin_in_chinese_has_english_words(boss: Client) -> None:
    found = {"/admin/": english_on(boss, "/admin/")}
    for model in REGISTERED:
        at = f"admin:{model._meta.app_label}_{model._meta.model_name}"
        row = model._default_manager.first()
        pages = [] if model in AS_THEY_ARE else [reverse(f"{at}_changelist")]
        pages += [reverse(f"{at}_change", args=[row.pk])] if row is not None and pages else []
        found |= {page: english_on(boss, page) for page in pages}

    assert len(found) > 60
    assert {page: texts for page, texts in found.items() if texts} == {}


@pytest.mark.usefixtures("catalogues")
@pytest.mark.parametrize("model", WRITTEN, ids=lambda model: model.__name__)
def test_no_form_of_the_admin_in_chinese_has_english_words(boss: Client, model: type[Cluster]) -> None:
    at = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    row = model._default_manager.first()
    assert row is not None
    pages = [reverse(f"{at}_add")]
    if admin.site.get_model_admin(model).has_delete_permission(boss.get("/").wsgi_request, row):
        pages.append(reverse(f"{at}_delete", args=[row.pk]))

    assert {page: texts for page in pages if (texts := english_on(boss, page))} == {}


@pytest.mark.usefixtures("catalogues")
def test_scripts_of_the_admin_have_the_words_that_django_lacks(boss: Client) -> None:
    script = boss.get("/admin/jsi18n/").content.decode()

    assert [word for word in OF_DJANGOS_SCRIPTS if f"{json.dumps(word)}:" not in script] == []


@pytest.mark.usefixtures("catalogues")
def test_every_kind_of_finding_has_chinese_words() -> None:
    with override("zh-hans"):
        assert [kind.value for kind in FindingKind if said(kind.value) == kind.value] == []


@pytest.mark.usefixtures("catalogues")
def test_one_process_heads_columns_in_the_language_of_each_reader(boss: Client) -> None:
    def heads(language: str) -> list[str]:
        page = boss.get("/admin/groups/round/", HTTP_ACCEPT_LANGUAGE=language).content.decode()
        return re.findall(r">(Opened at \(UTC\)|开始时刻\uff08UTC\uff09|Took|用时)<", page)

    english, chinese, again = heads("en"), heads(CHINESE), heads("en")

    assert english == again == ["Opened at (UTC)", "Took"]
    assert chinese == ["开始时刻\uff08UTC\uff09", "用时"]


@pytest.mark.usefixtures("catalogues")
def test_what_goes_with_a_person_is_kept_in_english_whoever_deletes_it(boss: Client) -> None:
    bo = person(Role.VIEWER, name="bo")

    gone = boss.post(reverse("admin:auth_user_delete", args=[bo.pk]), {"post": "yes", "reason": "离职"})

    assert gone.status_code == 302
    last = AuditEntry.objects.latest("number")
    assert (last.verb, json.loads(last.detail)["deleted with it"]) == ("delete a person", {"grants": 1})


@pytest.mark.usefixtures("catalogues")
def test_what_is_permitted_is_kept_in_english_whoever_permits_it(boss: Client) -> None:
    desk, may = People.objects.get(), Permission.objects.get(codename="view_round")
    at = reverse("admin:auth_group_change", args=[desk.pk])

    assert "消费组 | 轮次 | 可查看 轮次" in boss.get(at).content.decode()
    boss.post(at, {"name": "orders", "permissions": [may.pk], "reason": "值班"})

    last = AuditEntry.objects.latest("number")
    assert json.loads(last.detail)["permissions"] == {"before": [], "after": ["Groups | round | Can view round"]}
