from rebalance_engine.consumer import Mode
from tests.rebalance_engine.consumer.running import running


def test_who_polls_is_woken_by_the_notification_that_his_own_first_heartbeat_causes() -> None:
    world, member = running(mode=Mode.PULL)
    taken = next(int(line[:6]) for line in world.lines if "takes orders" in line)

    assert 1_000 < taken < 1_100
    assert len(member.held()) == 1
