from rebalance_engine.remoting.requests.changes import InvokeBrokerToResetOffset


def test_a_reset_moves_all_queues_by_time_unless_it_says_otherwise() -> None:
    reset = InvokeBrokerToResetOffset(group="G", topic="T", timestamp=-1, is_force=True)

    assert (reset.queue_id, reset.offset) == (-1, -1)
