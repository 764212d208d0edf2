from __future__ import annotations

import pytest

from dashboard.producers.words import kind_words, skip_words, trouble_words, why_words
from rebalance_engine.network.canary import TOPIC, Trouble
from rebalance_engine.producer import Skip, Why


@pytest.mark.parametrize("why", [why for why in Why if why not in {Why.PARKED, Why.SELECTOR}])
def test_every_reason_of_a_java_client_has_its_words(why: Why) -> None:
    assert why_words(why)


def test_all_others_are_said_as_the_engine_says_them() -> None:
    assert (why_words(Why.SELECTOR), skip_words(Skip.PARKED)) == (Why.SELECTOR.value, Skip.PARKED.value)
    assert skip_words(Skip.BACKS_OFF) == "it is left alone"
    assert kind_words("unknown") == "unknown"


def test_everything_in_the_way_of_a_canary_has_its_words() -> None:
    assert len({trouble_words(trouble) for trouble in Trouble}) == len(Trouble)
    assert TOPIC in trouble_words(Trouble.NO_TOPIC)
