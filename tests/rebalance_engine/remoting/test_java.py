from rebalance_engine.remoting.bodies.clients import HeartbeatData, ProducerData
from rebalance_engine.remoting.java import camel_case, java_names


def test_a_name_is_camel_case_unless_the_class_says_otherwise() -> None:
    assert camel_case("queue_id") == "queueId"
    assert java_names(ProducerData) == {"group_name": "groupName"}
    assert java_names(HeartbeatData)["client_id"] == "clientID"
