import pytest

from rebalance_engine.network.rewriting import name_servers_of, reachable, split_address, split_addresses


@pytest.mark.parametrize(
    ("address", "parts"),
    [
        ("127.0.0.1:10911", ("127.0.0.1", 10911)),
        ("broker-a.example:1", ("broker-a.example", 1)),
        ("[::1]:9876", ("::1", 9876)),
        ("::1:9876", ("::1", 9876)),  # as Java writes it
        (" 10.0.0.1:9876 ", ("10.0.0.1", 9876)),
    ],
)
def test_an_address_has_host_and_port(address: str, parts: tuple[str, int]) -> None:
    assert split_address(address) == parts


@pytest.mark.parametrize(
    "address", ["", "broker", "broker:", ":9876", "broker:-1", "broker:65536", "broker:٣", "b:1.0"]
)
def test_an_address_without_both_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match="it needs the form host:port"):
        split_address(address)


@pytest.mark.parametrize(
    ("addresses", "said"),
    [
        ("h:1,g:2", "address is 'h:1,g:2'; it needs the form host:port, and ';' between one address and the next"),
        ("h:1 g:2", "and ';' between one address and the next"),
        ("http://h:1", "address is 'http://h:1'; it needs the form host:port, without http://"),
        ("h/x:1", "it needs the form host:port"),
        ("g:1;h:0", "address is 'h:0'; it needs a port from 1 to 65535"),
    ],
)
def test_another_way_to_write_addresses_is_refused_with_what_it_needs(addresses: str, said: str) -> None:
    with pytest.raises(ValueError, match=f"{said}$"):
        split_addresses(addresses)


def test_name_servers_are_a_text_or_a_list() -> None:
    assert name_servers_of("a:1;b:2") == name_servers_of(["a:1", "b:2"]) == ("a:1", "b:2")
    with pytest.raises(ValueError, match="host:port"):
        name_servers_of("nowhere")


@pytest.mark.parametrize("given", [5, None, [5], ["h:1", None], b"x:1"])
def test_name_servers_of_another_kind_are_refused(given: object) -> None:
    with pytest.raises(TypeError, match=r"the name servers are .*; needed are 'host:port;host:port', or a list"):
        name_servers_of(given)  # type: ignore[arg-type]  # a mistake


def test_a_list_names_each_address_once() -> None:
    assert split_addresses("b:1; a:2;;b:1;") == ("b:1", "a:2")


@pytest.mark.parametrize("addresses", ["", ";", "a:1;b"])
def test_a_list_of_none_or_with_a_bad_one_is_refused(addresses: str) -> None:
    with pytest.raises(ValueError, match="host:port"):
        split_addresses(addresses)


@pytest.mark.parametrize(
    ("rules", "called"),
    [
        ({}, ("10.0.0.1", 10911)),
        ({"10.0.0.2": "x"}, ("10.0.0.1", 10911)),
        ({"10.0.0.1": "gate"}, ("gate", 10911)),
        ({"10.0.0.1": "gate:1"}, ("gate", 1)),
        ({"10.0.0.1": "::1"}, ("::1", 10911)),
        ({"10.0.0.1": "[::1]"}, ("::1", 10911)),
        ({"10.0.0.1": "[::1]:5"}, ("::1", 5)),
        ({"10.0.0.1:10911": "gate:2", "10.0.0.1": "gate:1"}, ("gate", 2)),
        ({"10.0.0.1:10912": "gate:2", "10.0.0.1": "gate:1"}, ("gate", 1)),
    ],
)
def test_rules_say_what_to_call_instead(rules: dict[str, str], called: tuple[str, int]) -> None:
    assert reachable("10.0.0.1:10911", rules) == called
