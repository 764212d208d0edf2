from rebalance_engine.remoting.java import java_names
from rebalance_engine.remoting.requests.membership import HeartBeatResponse, UnregisterClient


def test_leaving_names_the_client_as_java_does() -> None:
    assert java_names(UnregisterClient)["client_id"] == "clientID"


def test_the_answer_to_a_heartbeat_shouts() -> None:
    assert java_names(HeartBeatResponse)["is_sub_change"] == "IS_SUB_CHANGE"
