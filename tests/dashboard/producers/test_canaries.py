from __future__ import annotations

import json

import pytest

from dashboard.audit.models import AuditEntry
from dashboard.clusters.models import Canary, Cluster, ProducerBroker
from dashboard.people.roles import Access, Role, Scope
from dashboard.producers.canaries import LONGEST_REASON, Refused, Seen, Wish, canaries_of, estimates_of, switch
from dashboard.producers.queries import producers_of
from rebalance_engine.events import EXACT, BrokerLatency, Fact, Origin, SendOutcome, Source
from rebalance_engine.network.canary import CLIENT, Trouble
from tests.dashboard.story import T0, told

ADMIN = Access("ada", (Scope(Role.ADMIN),))
VIEWER = Access("vera", (Scope(Role.VIEWER),))
SOME = Access("sam", (Scope(Role.VIEWER), Scope(Role.ADMIN, "*", "orders-*")))
WISH = Wish(is_on=True, reason="producers say that it is slow")


def sang(at: int, ms: int, broker: str = "east", outcome: SendOutcome = SendOutcome.OK) -> Fact:
    """What a canary states of one message, ``at`` ms since 1970."""
    source = Source(origin=Origin.ADMIN_ANSWER, broker=broker)
    return BrokerLatency(
        at=at, source=source, exactness=EXACT, client=CLIENT, broker=broker, latency_ms=ms, outcome=outcome
    )


def seen(at: int | None = None, access: Access = VIEWER) -> list[Seen]:
    return canaries_of(clusters=list(Cluster.objects.all()), access=access, at=at)


def test_it_is_off_until_an_admin_switches_it_on_and_the_audit_log_has_it(cluster: Cluster) -> None:
    assert [(each.is_on, each.row) for each in seen()] == [(False, None)]

    row = switch(cluster=cluster, wish=WISH, access=ADMIN, now=T0)

    assert (row.is_on, row.may_create, row.reason, row.changed_by) == (True, False, WISH.reason, "ada")
    assert [each.is_on for each in seen()] == [True]
    entry = AuditEntry.objects.get()
    assert (entry.author, entry.verb, entry.subject) == ("ada", "switch the canary on", "shop")
    assert json.loads(entry.detail) == {"reason": WISH.reason, "makes its topic": False, "read only": True}

    switch(cluster=cluster, wish=Wish(is_on=False, may_create=True, reason="enough"), access=ADMIN, now=T0 + 1)

    off = Canary.objects.get()
    assert (off.is_on, off.may_create) == (False, False)
    assert AuditEntry.objects.latest("number").verb == "switch the canary off"


@pytest.mark.parametrize("access", [VIEWER, SOME, Access("olga", (Scope(Role.OPERATOR),))], ids=lambda each: each.name)
def test_who_is_no_admin_of_all_groups_switches_nothing(cluster: Cluster, access: Access) -> None:
    with pytest.raises(Refused, match="needs the role admin for all groups") as refusal:
        switch(cluster=cluster, wish=WISH, access=access, now=T0)

    assert refusal.value.is_forbidden
    assert not Canary.objects.exists()
    assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("reason", ["", "  ", "x" * (LONGEST_REASON + 1)], ids=len)
def test_it_needs_a_reason_that_can_be_read(cluster: Cluster, reason: str) -> None:
    with pytest.raises(Refused, match="reason") as refusal:
        switch(cluster=cluster, wish=Wish(is_on=True, reason=reason), access=ADMIN, now=T0)

    assert not refusal.value.is_forbidden
    assert not AuditEntry.objects.exists()


def test_what_it_tells_is_an_estimate_of_brokers_and_no_producer(cluster: Cluster) -> None:
    switch(cluster=cluster, wish=WISH, access=ADMIN, now=T0)
    told(sang(T0 + 100, 4), sang(T0 + 200, 9), sang(T0 + 300, 5), sang(T0 + 300, 3_000, "west"))

    found = seen()

    assert estimates_of(found, T0 + 1_000) == {(cluster.pk, "east"): 5, (cluster.pk, "west"): 3_000}
    assert estimates_of(found, T0 + 61_000) == {}
    assert estimates_of(seen(at=T0 + 250), T0 + 250) == {(cluster.pk, "east"): 4}
    assert producers_of(clusters=[cluster], access=VIEWER, now=T0 + 1_000).rows == ()
    assert ProducerBroker.objects.count() == 2


def test_what_is_in_its_way_is_told_while_it_is_on(cluster: Cluster) -> None:
    row = switch(cluster=cluster, wish=WISH, access=ADMIN, now=T0)
    Canary.objects.filter(pk=row.pk).update(troubles={"ea\\ud800st": ["no topic", ""], "west": ["refused", "code 1"]})

    [each] = seen()

    assert each.troubles == (("ea\ud800st", Trouble.NO_TOPIC, ""), ("west", Trouble.REFUSED, "code 1"))
    Canary.objects.update(is_on=False)
    assert seen()[0].troubles == ()


def test_who_may_not_see_all_groups_sees_none(cluster: Cluster) -> None:
    assert cluster.pk

    assert seen(access=Access("sam", (Scope(Role.VIEWER, "*", "orders-*"),))) == []
