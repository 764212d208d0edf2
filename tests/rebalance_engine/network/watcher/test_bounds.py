import pytest

from rebalance_engine.events import Exactness
from rebalance_engine.network.watcher.bounds import between, expired_by_time, left_since, read_expiry
from rebalance_engine.network.watcher.known import KnownMember

ANSWERED, HUNG = 10_000, 22_000  # the last answer, and the first question that ran into its time


def test_without_a_look_before_only_the_upper_bound_is_known() -> None:
    assert between(None, 20) == Exactness.at_most(20)
    assert between(10, 20) == Exactness.between(10, 20)
    assert between(30, 20) == Exactness.between(20, 20)


@pytest.mark.parametrize(
    ("seen_at", "at", "is_told"),
    [
        (99_000, 100_000, True),  # its last heartbeat was sent 30 s before the last answer
        (98_000, 99_000, False),  # no broker lets go of anybody so soon
        (166_000, 167_000, True),  # it hung from the first question on; the broker looked 10 s late
        (168_000, 169_000, False),  # a broker that waits longer waits for something else
        (60_000, 130_000, False),  # nobody looked for 70 s: it may have been killed meanwhile
    ],
)
def test_time_tells_of_an_expired_heartbeat_only_between_the_least_and_the_most_that_brokers_wait(
    seen_at: int, at: int, *, is_told: bool
) -> None:
    member = KnownMember(seen_at, held_at=ANSWERED, hung_at=HUNG)

    assert (expired_by_time(member, at) is not None) is is_told


def test_a_broker_that_waits_for_another_time_lets_heartbeats_expire_after_that() -> None:
    def is_told(at: int, *waits: int) -> bool:
        return expired_by_time(KnownMember(at - 1_000, held_at=ANSWERED, hung_at=HUNG), at, waits) is not None

    assert (is_told(45_000, 60_000), is_told(39_000, 60_000), is_told(109_000, 60_000)) == (True, False, False)
    assert (is_told(45_000, 60_000, 120_000), is_told(167_000, 60_000, 120_000)) == (True, True)


@pytest.mark.parametrize("setting", [None, "", "-1", "1.5", "9999", "3600001", "9" * 5_000, "²" * 5])
def test_a_setting_that_no_broker_would_have_is_not_believed(setting: str | None) -> None:
    assert read_expiry(setting) is None
    assert read_expiry("60000") == 60_000


def test_who_never_answered_or_never_hung_tells_nothing() -> None:
    assert expired_by_time(KnownMember(120_000, held_at=ANSWERED), 121_000) is None
    assert expired_by_time(KnownMember(120_000, hung_at=HUNG), 121_000) is None


def test_who_left_may_have_been_leaving_since_the_first_broker_lost_it_but_not_since_one_that_lost_it_long_before() -> (
    None
):
    member = KnownMember(100_000)
    assert left_since(member) == 100_000

    member.lost = {"east": (93_000, 94_000), "west": (100_000, 101_000), "north": (40_000, 41_000)}
    assert left_since(member) == 93_000
    assert left_since(KnownMember(None)) is None
