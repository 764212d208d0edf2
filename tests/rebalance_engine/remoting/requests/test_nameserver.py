from rebalance_engine.remoting.java import java_names
from rebalance_engine.remoting.requests.nameserver import RegisterBroker


def test_a_broker_registers_with_java_s_names() -> None:
    names = java_names(RegisterBroker)

    assert (names["body_crc32"], names["ha_server_addr"]) == ("bodyCrc32", "haServerAddr")
