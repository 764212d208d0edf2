from rebalance_engine.remoting.bodies.queues import (
    LockBatchResponseBody,
    PopProcessQueueInfo,
    ProcessQueueInfo,
    QueryAssignmentResponseBody,
)
from rebalance_engine.remoting.java import java_names


def test_dropped_keeps_java_s_misspelling_on_the_wire() -> None:
    assert java_names(ProcessQueueInfo)["dropped"] == "droped"
    assert java_names(PopProcessQueueInfo)["dropped"] == "droped"


def test_names_that_no_rule_gives_are_java_s() -> None:
    assert java_names(ProcessQueueInfo)["cached_msg_size_in_mib"] == "cachedMsgSizeInMiB"
    assert java_names(LockBatchResponseBody) == {"lock_ok_mq_set": "lockOKMQSet"}


def test_an_assignment_without_a_list_is_not_an_empty_one() -> None:
    assert QueryAssignmentResponseBody().message_queue_assignments is None
