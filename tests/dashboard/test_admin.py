"""Every table has its list in the Django admin, and what was observed cannot be changed there."""

from __future__ import annotations

import re
from collections import Counter

import pytest
from django.apps import apps
from django.contrib import admin
from django.db import connection, models
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from dashboard.audit.operations import append
from dashboard.clusters.models import Cluster, Command, CommandReceipt, OutboxLine, Producer, ProducerBroker
from dashboard.common.admin import instant
from dashboard.common.clock import now_ms
from dashboard.groups.models import Group, Member, Round
from dashboard.groups.rebalancing import rebalance_once
from dashboard.push.models import Stream
from rebalance_engine.events import Origin, ReceiptAnswer
from tests.dashboard.story import T0, held, joined, route, seen, told

OURS = [model for model in apps.get_models() if model.__module__.startswith("dashboard.")]


def test_every_table_is_in_the_admin() -> None:
    assert len(OURS) >= 20
    assert [model.__name__ for model in OURS if not admin.site.is_registered(model)] == []


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_a_list_can_be_searched_and_its_rows_opened(
    model: type[models.Model], admin_client: Client, cluster: Cluster
) -> None:
    assert cluster.pk
    told(route(2), *seen("A"), held("A", 10, [0, 1]), joined("<b>\u202e", 5_000))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 5_100)
    append(at=T0, author="ada", verb="recompute")
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"

    listed = admin_client.get(reverse(f"{name}_changelist"), {"q": "a"})
    row = model._default_manager.first()
    opened = None if row is None else admin_client.get(reverse(f"{name}_change", args=[row.pk]))

    assert listed.status_code == 200
    for page in [listed, *([opened] if opened else [])]:
        assert b"<b>" not in page.content.replace(b"<b>\n", b"")
        assert "\u202e" not in page.content.decode()
    assert opened is None or opened.status_code == 200


RAW = re.compile(r"(?<![\d.])1[67]\d{11}(?!\d)")  # epoch milliseconds of the story, and of now
AS_IT_IS = {OutboxLine}  # the line of the history files itself


@pytest.fixture
def full(cluster: Cluster) -> None:
    """Fill the tables with at least two rows of what changes hands."""
    told(route(4), *seen("A"), held("A", 10, [0, 1, 2, 3]))
    rebalance_once(group=Group.objects.get().pk, now=T0 + 20)
    told(joined("B", 5_000), joined("C", 5_001))
    told(held("A", 6_000, [0, 1]), held("B", 6_100, [2]), held("C", 6_200, [3]), at=6_300)
    rebalance_once(group=Group.objects.get().pk, now=T0 + 6_400)
    for client in "AB":
        source = {"at": T0, "origin": Origin.ADMIN_ANSWER.value, "observed_at": T0}
        Producer.objects.create(
            cluster=cluster, client_id=client, group_name="p", broker="east", address=f"{client}:1", **source
        )
        order = Command.objects.create(
            cluster=cluster, verb="group.recompute", ordered_at=T0, deadline=T0 + 1, author_name="ada"
        )
        CommandReceipt.objects.create(command=order, client_id=client, answer=next(iter(ReceiptAnswer)).value, at=T0)


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_no_list_and_no_row_shows_raw_milliseconds_or_asks_once_for_each_row(
    model: type[models.Model], admin_client: Client
) -> None:
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    admin_client.get(reverse(f"{name}_changelist"))  # what is kept after the first time

    with CaptureQueriesContext(connection) as asked:
        pages = [admin_client.get(reverse(f"{name}_changelist"))]
    row = model._default_manager.first()
    if row is not None:
        pages.append(admin_client.get(reverse(f"{name}_change", args=[row.pk])))

    again = [sql for sql, times in Counter(re.sub(r"\d+", "?", one["sql"]) for one in asked).items() if times > 1]
    assert [sql for sql in again if sql.startswith("SELECT") and "COUNT(" not in sql] == []
    if model not in AS_IT_IS:
        raw = [RAW.findall(re.sub(r'(href|value)="[^"]*"', "", page.content.decode())) for page in pages]
        assert not any(raw)


@pytest.mark.usefixtures("full")
def test_lists_say_times_with_their_zone_durations_in_words_and_whose_a_row_is(admin_client: Client) -> None:
    def listed(address: str) -> str:
        return admin_client.get(f"/admin/{address}/").content.decode()

    handoffs = listed("groups/handoff")

    assert "Dropped at (UTC)" in handoffs
    assert "2023-11-14 22:13:2" in handoffs
    assert re.search(r'class="field-pause[^"]*">[^<]*\d (ms|s)|class="field-pause[^"]*">unknown', handoffs)
    for address in ("groups/handoff", "groups/member", "clusters/producer"):
        assert re.search(r'class="field-cluster[^"]*">(<a[^>]*>)?shop', listed(address)), address
    assert "cluster" in admin.site.get_model_admin(ProducerBroker).list_display
    assert re.search(r'class="field-lasted">[\d.\xa0]+(ms|s|d|min).*, goes on', listed("groups/holding"))
    row = Round.objects.get()
    for low, high, words in (
        (None, row.opened_at - 182, "≤\u00a0"),
        (100, row.opened_at - 182, "100\u00a0ms\u00a0– "),
        (None, None, "unknown"),
    ):
        Round.objects.update(closed_at=row.opened_at, opened_low=high, lasted_low=low)
        assert f'class="field-took">{words}' in listed("groups/round")


@pytest.mark.usefixtures("full")
def test_a_row_shows_each_column_once(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:groups_round_change", args=[Round.objects.get().pk])).content.decode()

    labels = re.findall(r"<label>([^<]+):</label>", page)
    assert len(labels) > 10
    assert [label for label, times in Counter(labels).items() if times > 1] == []


HUGE = "9" * 40


@pytest.mark.parametrize("model", [*admin.site._registry], ids=lambda model: model.__name__)
def test_no_address_of_a_list_or_a_form_breaks_its_page(model: type[models.Model], admin_client: Client) -> None:
    """A filter, a number, a reference that somebody wrote by hand into the address."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    add, listed = reverse(f"{name}_add"), reverse(f"{name}_changelist")
    columns = model._meta.get_fields()
    filters = [f"{each}__in" for each in admin.site._registry[model].list_filter if isinstance(each, str)]
    asked = {(each.name, "abc" if isinstance(each, models.BinaryField) else HUGE) for each in columns}

    for each, value in [*asked, *((name, HUGE) for name in ("pk__in", *filters))]:
        assert admin_client.get(listed, {each: value}).status_code in {200, 302, 400}, each
    for value in ("abc", "²", HUGE):
        there = admin_client.get(add, {each.name: value for each in columns})
        assert there.status_code in {200, 403}
        if there.status_code == 403:
            break


def test_a_row_that_there_cannot_be_is_left_out_of_a_form_which_is_said(admin_client: Client) -> None:
    page = admin_client.get(reverse("admin:plans_byconfig_add"), {"group": "<abc>"}).content.decode()

    assert "Left out: group=&lt;abc&gt; names no row." in page


def test_what_was_observed_cannot_be_added(admin_client: Client) -> None:
    assert admin_client.get(reverse("admin:groups_group_add")).status_code == 403
    assert admin_client.get(reverse("admin:audit_auditentry_add")).status_code == 403


def test_instants_are_written_for_people() -> None:
    assert instant(T0 + 7) == "2023-11-14 22:13:20.007"
    assert instant(None) == "unknown"


@pytest.mark.parametrize("model", OURS, ids=lambda model: model.__name__)
def test_a_list_has_columns_a_search_and_filters(model: type[models.Model]) -> None:
    lists = admin.site.get_model_admin(model)

    assert len(lists.list_display) >= 2, "a list of one column tells nothing"
    assert lists.search_fields, "nothing can be searched for"
    assert lists.list_filter, "nothing can be filtered by"


def test_rows_can_be_cut_down_to_the_last_hour(admin_client: Client, cluster: Cluster) -> None:
    Stream.objects.create(name="old", at=T0)
    Stream.objects.create(name="new", at=now_ms())
    assert cluster.pk

    listed = admin_client.get(reverse("admin:push_stream_changelist"), {"lately": "hour"}).content.decode()

    assert ">new<" in listed
    assert ">old<" not in listed


@pytest.mark.django_db
def test_the_admin_is_read_in_chinese_by_whom_asks_for_it_and_by_whom_chooses_it(admin_client: Client) -> None:
    asked = admin_client.get("/admin/", headers={"Accept-Language": "zh-CN"}).content.decode()
    english = admin_client.get("/admin/groups/group/").content.decode()

    assert 'lang="zh-hans"' in asked and "站点管理" in asked  # in words of Django itself
    assert 'lang="en"' in english
    assert 'name="next" value="/admin/groups/group/"' in english

    chosen = admin_client.post("/language/", {"language": "zh-hans", "next": "/admin/groups/group/"}, follow=True)
    assert chosen.redirect_chain[-1][0] == "/admin/groups/group/"
    assert 'lang="zh-hans"' in chosen.content.decode()


def test_every_page_of_the_admin_says_that_the_cluster_is_the_demo(admin_client: Client, cluster: Cluster) -> None:
    addresses = [reverse("admin:index"), reverse("admin:clusters_cluster_change", args=[cluster.pk])]
    assert not any(b"data-demo" in admin_client.get(address).content for address in addresses)

    Cluster.objects.update(is_demo=True)

    for address in addresses:
        assert b"data-demo" in admin_client.get(address).content, address


def test_a_long_name_is_cut_in_a_list_and_whole_in_its_title(admin_client: Client, cluster: Cluster) -> None:
    assert cluster.pk
    long = "x" * 1_000
    told(route(2), *seen(long), held(long, 10, [0, 1]))
    stored = Member.objects.get().client_id

    page = admin_client.get(reverse("admin:groups_member_changelist")).content.decode()

    assert f'title="{stored}"' in page
    table = re.sub(r'title="[^"]*"', "", page)
    assert "x" * 65 not in table
    assert re.search("x{20}…", table)
