"""Addresses: their parts, and the way from the one a broker advertises to the one that reaches it.

Routes name the address that each broker registered, often that of a container or of a private network. Rules say what
to call instead; the connection keeps the advertised address as its name, so nothing else has to know.
"""

from __future__ import annotations

from collections.abc import Mapping

from rebalance_engine.effects import Address

MAX_PORT = 65535


def split_address(address: Address) -> tuple[str, int]:
    """Give host and port of ``host:port``; an IPv6 host may stand in brackets.

    Raises:
        ValueError: it is none.
    """
    host, colon, port = address.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    if not (colon and host and port.isascii() and port.isdigit() and int(port) <= MAX_PORT):
        raise ValueError(f"address is {address!r}; it needs the form host:port")
    return host, int(port)


def split_addresses(addresses: str) -> tuple[Address, ...]:
    """Give the addresses of ``host:port;host:port``, each once, as ``namesrvAddr`` lists them.

    Raises:
        ValueError: one is none, or there is none.
    """
    found = tuple(dict.fromkeys(one.strip() for one in addresses.split(";") if one.strip()))
    if not found:
        raise ValueError(f"addresses are {addresses!r}; at least one host:port is needed")
    for one in found:
        split_address(one)
    return found


def reachable(address: Address, rules: Mapping[Address, Address]) -> tuple[str, int]:
    """Give host and port to call for an advertised address.

    A rule for ``host:port`` comes before one for ``host``. What a rule gives may be a host, then the port stays.

    >>> reachable("172.17.0.2:10911", {"172.17.0.2": "localhost"})
    ('localhost', 10911)

    Raises:
        ValueError: the address, or what the rule gives, is none.
    """
    host, port = split_address(address)
    if (whole := rules.get(address)) is not None:
        return _with_port(whole, port)
    if (instead := rules.get(host)) is not None:
        return _with_port(instead, port)
    return host, port


def _with_port(target: str, port: int) -> tuple[str, int]:
    is_ipv6 = target.count(":") > 1 and not target.startswith("[")
    if ":" not in target or is_ipv6 or target.endswith("]"):
        return split_address(f"{target}:{port}")
    return split_address(target)
