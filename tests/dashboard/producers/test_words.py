from __future__ import annotations

import pytest

from dashboard.producers.words import kind_words, skip_words, why_words
from rebalance_engine.producer import Skip, Why


@pytest.mark.parametrize("why", [why for why in Why if why not in {Why.PARKED, Why.SELECTOR}])
def test_every_reason_of_a_java_client_has_its_words(why: Why) -> None:
    assert why_words(why)


def test_all_others_are_said_as_the_engine_says_them() -> None:
    assert (why_words(Why.SELECTOR), skip_words(Skip.PARKED)) == (Why.SELECTOR.value, Skip.PARKED.value)
    assert skip_words(Skip.BACKS_OFF) == "it is left alone"
    assert kind_words("unknown") == "unknown"
