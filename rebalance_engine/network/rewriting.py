"""Addresses: their parts, and the way from the one a broker advertises to the one that reaches it.

Routes name the address that each broker registered, often that of a container or of a private network. Rules say what
to call instead; the connection keeps the advertised address as its name, so nothing else has to know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rebalance_engine.effects import Address

MAX_PORT = 65535
NO_PART_OF_A_HOST = re.compile(r"[,;/\s]")  # of a list, or of a URL


def split_address(address: Address) -> tuple[str, int]:
    """Give host and port of ``host:port``; an IPv6 host may stand in brackets.

    Raises:
        ValueError: it is none.
    """
    host, colon, port = address.strip().rpartition(":")
    host = host.removeprefix("[").removesuffix("]")
    is_port = port.isascii() and port.isdigit() and int(port) <= MAX_PORT
    if not (colon and host and is_port) or NO_PART_OF_A_HOST.search(host):
        raise ValueError(f"address is {address!r}; it needs the form host:port{_hint(address)}")
    return host, int(port)


def _hint(address: Address) -> str:
    if "://" in address:
        return f", without {address.partition('://')[0].strip()}://"
    if "," in address or " " in address.strip():
        return ", and ';' between one address and the next"
    return ""


def name_servers_of(given: str | Sequence[Address]) -> tuple[Address, ...]:
    """Read the addresses of name servers: ``host:port;host:port``, or a list.

    Raises:
        TypeError: it is something else.
        ValueError: one is none, or there is none.
    """
    if isinstance(given, str):
        return split_addresses(given)
    seen: object = given
    if not isinstance(seen, Sequence) or not all(isinstance(one, str) for one in seen):
        raise TypeError(f"the name servers are {seen!r}; needed are 'host:port;host:port', or a list of such texts")
    return split_addresses(";".join(given))


def split_addresses(addresses: str) -> tuple[Address, ...]:
    """Give the addresses of ``host:port;host:port``, each once, as ``namesrvAddr`` lists them.

    Raises:
        ValueError: one is none or cannot be called, or there is none.
    """
    found = tuple(dict.fromkeys(one.strip() for one in addresses.split(";") if one.strip()))
    if not found:
        raise ValueError(f"addresses are {addresses!r}; at least one host:port is needed")
    for one in found:
        if split_address(one)[1] == 0:  # one may listen there, and gets any other
            raise ValueError(f"address is {one!r}; it needs a port from 1 to {MAX_PORT}")
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
