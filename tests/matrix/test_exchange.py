"""Messages that Java wrote and Python reads, and the other way round; retries and dead letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import pytest

from tests.matrix.conftest import CLUSTERS
from tests.matrix.exchange import EACH, PRODUCERS, READERS, RED, Exchanged

pytestmark = [pytest.mark.java, pytest.mark.slow]
each_cluster = pytest.mark.parametrize("cluster", CLUSTERS, indirect=True, scope="session")
each_reader = pytest.mark.parametrize("reader", READERS)
each_producer = pytest.mark.parametrize("producer", PRODUCERS)
TAGS = ("red", "green", "blue")


@each_cluster
@each_reader
@each_producer
def test_bodies_tags_keys_and_properties_arrive_as_they_were_sent(
    exchanged: Exchanged, reader: str, producer: str
) -> None:
    sent = {seen["body"]: seen for seen in exchanged.sent[producer]}
    got = {seen["body"]: seen for seen in exchanged.got[f"{reader}-everything"] if _number(seen, producer) is not None}

    assert len(sent) == EACH
    assert got.keys() == sent.keys()
    for body, seen in got.items():
        number = int(str(sent[body]["number"]))
        assert (seen["tags"], seen["keys"]) == (TAGS[number % 3], f"key{number}")
        assert dict(seen["properties"])["colour"] == f"früh {number}"  # type: ignore[call-overload]
        assert (seen["queue"], seen["offset"]) == (sent[body]["queue"], sent[body]["offset"])


@each_cluster
@each_reader
@each_producer
def test_a_tag_lets_through_what_has_it(exchanged: Exchanged, reader: str, producer: str) -> None:
    got = exchanged.got[f"{reader}-red"]

    assert Counter(_number(seen, producer) for seen in got if _number(seen, producer) is not None) == Counter(RED)


@each_cluster
@each_reader
def test_what_fails_is_retried_once_and_then_a_dead_letter(exchanged: Exchanged, reader: str) -> None:
    times: dict[object, list[object]] = {}
    for seen in exchanged.got[f"{reader}-fails"]:
        times.setdefault(seen["body"], []).append(seen["again"])

    assert exchanged.late == []
    assert len(times) == EACH * len(PRODUCERS)
    assert {tuple(again) for again in times.values()} == {(0, 1)}
    assert (exchanged.retried[reader], exchanged.dead[reader]) == (len(times), len(times))


def _number(seen: Mapping[str, object], producer: str) -> int | None:
    """Give which message of a producer it is."""
    prefix, _, number = str(seen["body"]).rstrip(".").rpartition("-")
    return int(number) if prefix == producer else None
