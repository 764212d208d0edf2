import pytest

from rebalance_engine.proxied import is_of_grpc


@pytest.mark.parametrize(
    ("client", "is_it"),
    [
        ("10.0.0.1@7#123456789", False),
        ("10.0.0.1@DEFAULT", False),
        ("10.0.0.1@7@8@STREAM", False),
        ("web-1@1@0@d1o2m9xh3k@x", False),
        ("mbp@78774@2@3549a8wsr", True),
        ("web-2@9@13@lxk2p0aa", True),
    ],
)
def test_clients_of_grpc_are_known_by_their_ids(client: str, is_it: bool) -> None:
    assert is_of_grpc(client) is is_it
