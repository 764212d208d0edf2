"""Clusters in the Django admin: what may be changed there needs a reason, and a watched one stays."""

from __future__ import annotations

import re

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.urls import reverse

from dashboard.audit.models import AuditEntry
from dashboard.clusters import leases
from dashboard.clusters.models import Cluster
from dashboard.common.clock import now_ms
from tests.dashboard.story import T0

ADD = "/admin/clusters/cluster/add/"


def page_of(cluster: Cluster, name: str = "change") -> str:
    return reverse(f"admin:clusters_cluster_{name}", args=[cluster.pk])


def post(client: Client, address: str, **given: str) -> tuple[int, str]:
    answer = client.post(address, {"namesrv": "127.0.0.1:9876", "is_read_only": "on", "reason": "it moved"} | given)
    return answer.status_code, answer.content.decode()


def test_facts_cannot_be_changed_whatever_is_sent(admin_client: Client, cluster: Cluster) -> None:
    Cluster.objects.update(lease_epoch=7, lease_holder="a:1")

    sent = {"namesrv": "b:2", "name": "x", "is_demo": "on", "added_at": "5", "lease_epoch": "1", "lease_holder": ""}
    assert post(admin_client, page_of(cluster), **sent)[0] == 302

    cluster.refresh_from_db()
    assert (cluster.name, cluster.is_demo, cluster.added_at) == ("shop", False, T0)
    assert (cluster.lease_epoch, cluster.lease_holder, cluster.namesrv) == (7, "a:1", "b:2")
    entry = AuditEntry.objects.get()
    assert (entry.author, entry.verb, entry.subject) == ("admin", "change a cluster", "shop")


def test_a_change_needs_a_reason_and_addresses_that_can_be_called(admin_client: Client, cluster: Cluster) -> None:
    without = post(admin_client, page_of(cluster), namesrv="b:2", reason=" ")
    nowhere = post(admin_client, page_of(cluster), namesrv="nowhere")

    assert without[0] == nowhere[0] == 200
    assert "This field is required" in without[1]
    assert "nowhere" in nowhere[1] and "errorlist" in nowhere[1]
    assert Cluster.objects.get().namesrv == "127.0.0.1:9876"
    assert not AuditEntry.objects.exists()


def test_the_watcher_goes_on_with_what_it_wrote_while_somebody_had_the_form_open(
    admin_client: Client, cluster: Cluster
) -> None:
    epoch = leases.take(cluster="shop", holder="a:1", now=now_ms())
    Cluster.objects.update(watched_at=T0 + 5)

    post(admin_client, page_of(cluster), is_read_only="")

    cluster.refresh_from_db()
    assert (cluster.is_read_only, cluster.watched_at, cluster.lease_epoch) == (False, T0 + 5, (epoch or 0) + 1)


@pytest.mark.parametrize("button", ["_save", "_continue", "_addanother"])
def test_a_cluster_that_is_saved_as_it_was_is_said_not_to_be_changed(
    admin_client: Client, cluster: Cluster, button: str
) -> None:
    epoch = leases.take(cluster="shop", holder="a:1", now=now_ms())
    row = {"namesrv": f" {cluster.namesrv};", "is_read_only": "on", "reason": "none", button: "1"}

    told = admin_client.post(page_of(cluster), row, follow=True).content.decode()

    assert "Nothing was changed: shop is as it was, and so is its watcher." in told
    assert "changed successfully" not in told
    assert Cluster.objects.get().lease_epoch == epoch
    assert not (AuditEntry.objects.exists() or LogEntry.objects.exists())


@pytest.mark.django_db
def test_a_cluster_is_added_with_a_reason(admin_client: Client) -> None:
    assert post(admin_client, ADD, name="shop", reason="")[0] == 200
    assert "the name has 101 characters; needed are 1 to 100" in post(admin_client, ADD, name="s" * 101)[1]
    assert "the name has U+000D" in post(admin_client, ADD, name="shop\r\nevenkeel | log in")[1]

    assert post(admin_client, ADD, name="shop", namesrv=" a:1 ;b:2")[0] == 302

    row = Cluster.objects.get()
    assert (row.name, row.namesrv, row.is_demo) == ("shop", "a:1;b:2", False)
    assert row.added_at > T0
    assert AuditEntry.objects.get().verb == "add a cluster"


def test_a_watched_cluster_is_not_deleted_and_the_page_says_why(admin_client: Client, cluster: Cluster) -> None:
    leases.take(cluster="shop", holder="watch-1:42", now=now_ms())

    asked = admin_client.get(page_of(cluster, "delete")).content.decode()
    sent = admin_client.post(page_of(cluster, "delete"), {"post": "yes", "reason": "gone"}).content.decode()

    for page in (asked, sent):
        assert "watch-1:42 watches the cluster shop" in page
        assert 'name="reason"' not in page
    assert Cluster.objects.exists()
    assert not AuditEntry.objects.exists()


def test_deleting_needs_a_reason_and_is_audited(admin_client: Client, cluster: Cluster) -> None:
    asked = admin_client.get(page_of(cluster, "delete")).content.decode()
    without = admin_client.post(page_of(cluster, "delete"), {"post": "yes"}, follow=True).content.decode()
    assert 'name="reason" required' in asked
    assert "It needs a reason" in without
    assert Cluster.objects.exists()

    done = admin_client.post(page_of(cluster, "delete"), {"post": "yes", "reason": "the shop is closed"})

    assert done.status_code == 302
    assert not Cluster.objects.exists()
    entry = AuditEntry.objects.get()
    assert (entry.verb, entry.author) == ("remove a cluster", "admin")
    assert "the shop is closed" in entry.detail


def test_that_nobody_has_the_lease_is_not_unknown(admin_client: Client, cluster: Cluster) -> None:
    assert "nobody has it" in admin_client.get(page_of(cluster)).content.decode()

    Cluster.objects.update(lease_holder="a:1", lease_epoch=1, lease_until=T0 + 7)

    assert "2023-11-14 22:13:20.007" in admin_client.get(page_of(cluster)).content.decode()
    assert "nobody has it" not in admin_client.get(page_of(cluster)).content.decode()


def test_many_at_once_cannot_be_deleted(admin_client: Client, cluster: Cluster) -> None:
    values = {"action": "delete_selected", "_selected_action": [str(cluster.pk)], "post": "yes"}
    admin_client.post(reverse("admin:clusters_cluster_changelist"), values)

    assert Cluster.objects.exists()


def test_a_cluster_that_is_watched_is_put_aside_in_its_row(admin_client: Client, cluster: Cluster) -> None:
    assert leases.take(cluster="shop", holder="a:1", now=now_ms()) is not None
    told = admin_client.get(page_of(cluster, "delete")).content.decode()
    assert "Put the cluster aside first" in told

    row = {"namesrv": cluster.namesrv, "is_read_only": "on", "is_aside": "on", "reason": "mistyped"}
    told = admin_client.post(page_of(cluster, "change"), row, follow=True).content.decode()

    assert "Nobody is to watch shop any more: it may be deleted." in told
    assert Cluster.objects.get().is_aside
    listed = reverse("admin:clusters_cluster_changelist")
    assert ["shop" in admin_client.get(f"{listed}?aside={n}").content.decode() for n in (1, 0)] == [True, False]
    shown = admin_client.get(page_of(cluster, "change")).content.decode()
    assert re.search(r'<input[^>]*id="id_is_aside"[^>]*checked', shown)
    asked = admin_client.get(page_of(cluster, "delete")).content.decode()
    assert "Delete the cluster shop" in asked
    assert all(name in asked.lower() for name in ("rounds", "handoffs"))
    admin_client.post(page_of(cluster, "delete"), {"post": "yes", "reason": "mistyped"})
    assert not Cluster.objects.exists()
    for page in ("delete", "change"):
        again = admin_client.get(page_of(cluster, page), follow=True)
        assert (again.status_code, again.redirect_chain) == (200, [(listed, 302)])
        assert "There is no such cluster" in again.content.decode()
