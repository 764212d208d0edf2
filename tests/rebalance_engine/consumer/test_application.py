from rebalance_engine.consumer import Consumed, GroupSettings, Result, Start


def test_what_says_nothing_else_succeeded_as_a_whole() -> None:
    heard = Consumed(token=1)

    assert (heard.result, heard.done, heard.delay_level, heard.suspend_ms) == (Result.SUCCESS, None, 0, None)


def test_a_first_start_has_saved_nothing() -> None:
    assert Start(settings=GroupSettings(group="G", topics={"orders": "*"})).saved == {}
