from contextlib import nullcontext

import pytest

from rebalance_engine.consumer.settings import UNLIMITED, ClientSettings, GroupSettings, Mode
from rebalance_engine.model import MessageModel
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere, ConsumeType

TOPICS = {"orders": "*"}


def test_defaults_are_those_of_a_concurrent_push_consumer() -> None:
    settings = GroupSettings(group="G", topics=TOPICS)

    assert settings.is_clustering and not settings.locks_queues
    assert settings.consume_type is ConsumeType.CONSUME_PASSIVELY
    assert settings.retry_topic == "%RETRY%G"
    assert (settings.threads, settings.batch, settings.attempts) == (20, 1, 16)


def test_the_other_defaults_are_java_s() -> None:
    settings = GroupSettings(group="G", topics=TOPICS)
    client = ClientSettings(client_id="A", name_servers=("names:9876",))

    assert settings.from_where is ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET and settings.client_rebalance
    assert (settings.pull_interval_ms, settings.suspend_ms, settings.consume_timeout_ms) == (0, 1_000, 900_000)
    assert (settings.pop_batch, settings.pop_threshold, settings.pop_invisible_ms) == (32, 96, 60_000)
    assert (settings.rebalances, settings.auto_commit_ms) == (True, 5_000)
    assert (client.routes_every_ms, client.heartbeat_every_ms, client.persist_every_ms) == (30_000, 30_000, 5_000)
    assert client.channel_listener and not client.heartbeat_v2 and not client.waits_to_heartbeat


@pytest.mark.parametrize(("ms", "may_be"), [(4_999, False), (5_000, True), (300_000, True), (300_001, False)])
def test_what_is_popped_is_invisible_for_5_to_300_s(ms: int, *, may_be: bool) -> None:
    with nullcontext() if may_be else pytest.raises(ValueError, match="needed are 5000 to 300000"):
        GroupSettings(group="G", topics=TOPICS, pop_invisible_ms=ms)


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
