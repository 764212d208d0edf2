from dataclasses import fields

from rebalance_engine.producer import Settings


def test_the_defaults_are_those_of_rocketmq() -> None:
    given = Settings(group="p_orders", client="A")

    assert (given.send_timeout_ms, given.default_topic, given.default_topic_queues) == (3_000, "TBW102", 4)
    assert (given.detect_interval_ms, given.detect_timeout_ms, given.route_every_ms) == (2_000, 200, 30_000)
    assert not (given.avoids_faults or given.detects or given.retries_when_not_stored or given.uses_vip_channel)


def test_every_setting_is_described() -> None:
    assert Settings.__doc__ is not None
    described = Settings.__doc__

    assert [field.name for field in fields(Settings) if f"        {field.name}:" not in described] == []
