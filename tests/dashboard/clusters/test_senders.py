"""A producer that reported is gone when brokers say so, and unknown is not gone."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import Broker, Cluster, Producer, ProducerList
from dashboard.clusters.senders import SETTLED_MS, gone_of
from tests.dashboard.story import T0
from tests.dashboard.wrong_states import SOURCED

MINUTE = 60_000


def listed(cluster: Cluster, gone_at: int | None, broker: str = "east") -> None:
    Producer.objects.create(
        cluster=cluster,
        client_id="A",
        group_name="sends",
        address="a:5",
        broker=broker,
        gone_at=None if gone_at is None else T0 + gone_at,
        **SOURCED,
    )


def master(cluster: Cluster, told_at: int | None, broker: str = "east") -> None:
    """A master that told its producers then; None: it never did."""
    Broker.objects.create(cluster=cluster, name=broker, broker_id=0, address="a:1", **SOURCED)
    if told_at is not None:
        ProducerList.objects.create(
            cluster=cluster, broker=broker, at=T0, observed_at=T0 + told_at, origin="admin answer"
        )


def is_gone(cluster: Cluster, spoke_at: int, now: int = 10 * MINUTE) -> bool:
    sender = cluster.pk, "A"
    found = gone_of(last_words={sender: T0 + spoke_at}, now=T0 + now)
    assert found <= {sender}
    return sender in found


def test_who_is_listed_is_there_however_long_it_has_said_nothing(cluster: Cluster) -> None:
    master(cluster, 9 * MINUTE)
    listed(cluster, MINUTE)
    listed(cluster, None, "west")

    assert not is_gone(cluster, 0)


def test_who_was_listed_is_gone_with_its_last_connection_unless_it_spoke_since(cluster: Cluster) -> None:
    listed(cluster, MINUTE)
    listed(cluster, 2 * MINUTE, "west")

    assert is_gone(cluster, 2 * MINUTE)
    assert not is_gone(cluster, 2 * MINUTE + 1)


@pytest.mark.parametrize(("after", "gone"), [(SETTLED_MS, False), (SETTLED_MS + 1, True)])
def test_who_was_never_listed_is_gone_once_all_masters_have_told_after_its_last_word(
    cluster: Cluster, after: int, gone: bool
) -> None:
    master(cluster, MINUTE + after)
    master(cluster, 5 * MINUTE, "west")

    assert is_gone(cluster, MINUTE) is gone


@pytest.mark.parametrize("missing", [None, "refused"])
def test_where_a_master_does_not_tell_nobody_is_taken_to_be_gone(cluster: Cluster, missing: str | None) -> None:
    master(cluster, 5 * MINUTE)
    master(cluster, 5 * MINUTE if missing else None, "west")
    ProducerList.objects.filter(broker="west").update(missing=missing, missing_at=T0)

    assert not is_gone(cluster, MINUTE)


def test_without_any_master_nothing_is_known(cluster: Cluster) -> None:
    assert not is_gone(cluster, 0)


def test_at_a_past_instant_what_came_later_tells_nothing(cluster: Cluster) -> None:
    master(cluster, 9 * MINUTE)
    listed(cluster, 5 * MINUTE)

    assert not is_gone(cluster, MINUTE, now=4 * MINUTE)
    assert is_gone(cluster, MINUTE, now=5 * MINUTE)
