from rebalance_engine.network.breaker import Breaker


def test_each_failure_doubles_the_pause_up_to_the_longest() -> None:
    breaker = Breaker(first_s=60, longest_s=600)

    assert [breaker.failed("C", 0.0) for _ in range(6)] == [60, 120, 240, 480, 600, 600]


def test_the_pause_runs_out_but_only_an_answer_ends_the_trouble() -> None:
    breaker = Breaker(first_s=60, longest_s=600)
    breaker.failed("C", 100.0)

    assert breaker.pause_s("C", 130.0) == 30
    assert breaker.pause_s("C", 160.0) == 0
    assert breaker.is_suspect("C")
    assert breaker.failed("C", 160.0) == 120

    breaker.answered("C")
    assert not breaker.is_suspect("C")
    assert breaker.failed("C", 1000.0) == 60


def test_names_do_not_share_their_trouble() -> None:
    breaker = Breaker(first_s=60, longest_s=600)
    breaker.failed("C", 0.0)

    assert breaker.pause_s("D", 0.0) == 0
    assert not breaker.is_suspect("D")


def test_names_that_are_long_gone_are_forgotten() -> None:
    breaker = Breaker(first_s=1, longest_s=10)
    breaker.failed("C", 0.0)
    breaker.failed("D", 1000.0)

    assert not breaker.is_suspect("C")
    assert breaker.is_suspect("D")


def test_those_who_rest_are_counted_until_their_pause_is_over() -> None:
    breaker = Breaker(first_s=60, longest_s=600)
    breaker.failed("C", 0.0)
    breaker.failed("D", 30.0)

    assert [breaker.resting(at) for at in (0.0, 59.0, 60.0, 90.0)] == [2, 2, 1, 0]


def test_who_has_registered_anew_may_be_asked_at_once_and_what_was_asked_before_does_not_count() -> None:
    breaker = Breaker(first_s=60, longest_s=600)
    breaker.failed("C", 100.0, asked_at=90.0)

    assert breaker.renewed("C", 110.0)
    assert breaker.pause_s("C", 110.0) == 0
    assert not breaker.is_suspect("C")

    assert breaker.failed("C", 115.0, asked_at=105.0) == 0
    assert not breaker.is_suspect("C")
    assert breaker.failed("C", 121.0, asked_at=111.0) == 60

    assert not breaker.renewed("D", 110.0)
