import pytest

from rebalance_engine.consumer.settings import UNLIMITED, GroupSettings, Mode
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeType

TOPICS = {"orders": "*"}


def test_defaults_are_those_of_a_concurrent_push_consumer() -> None:
    settings = GroupSettings(group="G", topics=TOPICS)

    assert settings.is_clustering and not settings.locks_queues
    assert settings.consume_type is ConsumeType.CONSUME_PASSIVELY
    assert settings.retry_topic == "%RETRY%G"
    assert (settings.threads, settings.batch, settings.attempts) == (20, 1, 16)


def test_an_orderly_consumer_retries_for_ever_unless_told_otherwise() -> None:
    assert GroupSettings(group="G", topics=TOPICS, orderly=True).attempts == UNLIMITED
    assert GroupSettings(group="G", topics=TOPICS, orderly=True, max_reconsume_times=3).attempts == 3


def test_only_a_clustering_orderly_consumer_locks() -> None:
    assert GroupSettings(group="G", topics=TOPICS, orderly=True).locks_queues
    assert not GroupSettings(group="G", topics=TOPICS, orderly=True, model=MessageModel.BROADCASTING).locks_queues


def test_who_polls_consumes_actively() -> None:
    assert GroupSettings(group="G", topics=TOPICS, mode=Mode.PULL).consume_type is ConsumeType.CONSUME_ACTIVELY


@pytest.mark.parametrize("wrong", [{"group": ""}, {"threads": 0}, {"batch": 0}, {"orderly": True, "mode": Mode.PULL}])
def test_what_no_consumer_can_be_is_refused(wrong: dict) -> None:
    with pytest.raises(ValueError, match=r"needed are|only a listener"):
        GroupSettings(**({"group": "G", "topics": TOPICS} | wrong))
