"""Producers as brokers list them: who came, who went, and brokers that cannot tell."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from dashboard.clusters.models import OutboxLine, Producer, ProducerList
from rebalance_engine.events import EXACT, AnswerMissed, BrokerGone, Missing, ProducerConnected, ProducersSeen
from tests.dashboard.story import EAST, NAMESRV, T0, told

pytestmark = pytest.mark.usefixtures("cluster")


def there(at: int, *clients: str, ports: Sequence[int] = (5,)) -> ProducersSeen:
    each = tuple(
        ProducerConnected(group="sends", client=client, address=f"10.0.0.1:{port}", language="JAVA")
        for client in clients
        for port in ports
    )
    return ProducersSeen(at=T0 + at, source=EAST, exactness=EXACT, broker="east", producers=each)


def missed(at: int, missing: Missing = Missing.REFUSED) -> AnswerMissed:
    return AnswerMissed(at=T0 + at, source=EAST, exactness=EXACT, request="328", missing=missing, broker="east")


def rows() -> list[tuple[str, int | None, int, int | None]]:
    return list(Producer.objects.order_by("client_id").values_list("client_id", "at_low", "at", "gone_at"))


def test_who_is_listed_first_is_there_since_nobody_knows_when_and_who_comes_later_since_the_look_before() -> None:
    told(there(0, "A"))
    told(there(60_000, "A", "B"))

    assert rows() == [("A", None, T0, None), ("B", T0, T0 + 60_000, None)]
    assert {row.observed_at for row in Producer.objects.all()} == {T0 + 60_000}
    assert ProducerList.objects.get().observed_at == T0 + 60_000


def test_who_is_listed_no_more_is_gone_and_may_come_back() -> None:
    told(there(0, "A", "B"))
    told(there(60_000, "A"))
    assert rows()[1] == ("B", None, T0, T0 + 60_000)

    told(there(120_000, "A", "B"))

    assert rows()[1] == ("B", T0 + 60_000, T0 + 120_000, None)


def test_a_producer_that_connects_anew_200_times_stays_one_row() -> None:
    for number in range(201):
        told(there(number * 60_000, "A", ports=[5_000 + number]))

    row = Producer.objects.get()
    assert (row.address, row.at, row.observed_at, row.gone_at) == ("10.0.0.1:5200", T0, T0 + 12_000_000, None)
    assert OutboxLine.objects.count() == 201


def test_of_several_connections_the_one_that_is_known_is_kept_while_it_is_there() -> None:
    told(there(0, "A", ports=[7]))
    told(there(60_000, "A", ports=[5, 7]))
    assert Producer.objects.get().address == "10.0.0.1:7"

    told(there(120_000, "A", ports=[5, 6]))
    assert Producer.objects.get().address == "10.0.0.1:5"


@pytest.mark.parametrize(("broker_id", "gone_at"), [(0, T0 + 90_000), (1, None)])
def test_whoever_was_connected_to_a_master_that_is_gone_is_gone_there(broker_id: int, gone_at: int | None) -> None:
    told(there(0, "A"))

    told(
        BrokerGone(
            at=T0 + 90_000,
            source=NAMESRV,
            exactness=EXACT,
            broker="east",
            broker_id=broker_id,
            address="127.0.0.1:10911",
        )
    )

    assert Producer.objects.get().gone_at == gone_at


def test_a_look_that_brings_nothing_new_is_no_line_of_the_history_but_makes_the_list_young() -> None:
    told(there(0, "A"))
    told(there(60_000, "A"))

    assert OutboxLine.objects.count() == 1
    assert ProducerList.objects.get().at == T0 + 60_000


def test_a_broker_that_cannot_tell_is_unknown_and_those_that_it_listed_stay_as_they_were() -> None:
    told(missed(0))
    never = ProducerList.objects.get()
    assert (never.missing, never.missing_at, Producer.objects.count()) == ("refused", T0, 0)

    told(there(60_000, "A"))
    told(missed(120_000, Missing.TIMEOUT), missed(121_000, Missing.ERROR))

    row = ProducerList.objects.get()
    assert (row.missing, row.missing_at) == ("timeout", T0 + 120_000)
    assert rows() == [("A", None, T0 + 60_000, None)]


def test_an_older_list_that_comes_late_changes_nothing() -> None:
    told(there(60_000, "A"))
    told(there(10_000))

    assert rows() == [("A", None, T0 + 60_000, None)]
