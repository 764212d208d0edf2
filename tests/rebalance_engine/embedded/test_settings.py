import pytest

from rebalance_engine.embedded.settings import DELAY_LEVELS, EmbeddedSettings, delays_ms
from rebalance_engine.membership.profiles import BrokerSettings


def test_the_usual_levels_are_eighteen() -> None:
    levels = delays_ms(DELAY_LEVELS)

    assert (len(levels), levels[0], levels[4], levels[-1]) == (18, 1_000, 60_000, 7_200_000)


@pytest.mark.parametrize("text", ["1", "1s 5", "s", "1.5s", "-1s"])
def test_a_word_that_is_no_delay_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it needs to be like 10s"):
        delays_ms(text)


def test_a_version_is_since_itself() -> None:
    settings = EmbeddedSettings(membership=BrokerSettings(version="5.1.0"))

    assert (settings.is_since((5, 1, 0)), settings.is_since((5, 1, 1))) == (True, False)


def test_a_cluster_without_a_name_has_rocketmqs() -> None:
    assert EmbeddedSettings().cluster == "DefaultCluster"
