from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo


def test_stacks_are_not_asked_for() -> None:
    assert not GetConsumerRunningInfo(consumer_group="G", client_id="A").jstack_enable
