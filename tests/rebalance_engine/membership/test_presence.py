from rebalance_engine.membership.presence import Peer, Presence
from rebalance_engine.remoting.bodies.clients import Connection
from rebalance_engine.remoting.codes import Language


def test_a_connection_list_tells_who_where_and_in_which_language() -> None:
    peer = Peer(channel=1, address="10.0.0.1:5000", language=Language.GO, version=441)

    connection = Presence(peer, "A", 0).connection()

    assert connection == Connection(client_id="A", client_addr="10.0.0.1:5000", language=Language.GO, version=441)


def test_two_entries_are_never_the_same_by_what_they_hold() -> None:
    peer = Peer(channel=1, address="10.0.0.1:5000")

    assert Presence(peer, "A", 0) != Presence(peer, "A", 0)
