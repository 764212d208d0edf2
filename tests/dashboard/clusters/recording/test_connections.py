"""Producers as brokers list them: who came, who went, and brokers that cannot tell."""

from __future__ import annotations

import pytest

from dashboard.clusters.models import OutboxLine, Producer, ProducerList
from rebalance_engine.events import EXACT, AnswerMissed, Missing, ProducerConnected, ProducersSeen
from tests.dashboard.story import EAST, T0, told

pytestmark = pytest.mark.usefixtures("cluster")


def there(at: int, *clients: str) -> ProducersSeen:
    each = tuple(
        ProducerConnected(group="sends", client=client, address="10.0.0.1:5", language="JAVA") for client in clients
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
