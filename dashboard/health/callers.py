"""Who may read figures without a log-in: this machine itself, or whoever has the token, once one is set."""

from __future__ import annotations

import hmac
from ipaddress import ip_address


def may_read(*, address: str, is_forwarded: bool, authorization: str, token: str) -> bool:
    """Ask whether a caller may read figures.

    Args:
        address: where the connection comes from.
        is_forwarded: it came through a proxy: then its address is the proxy's, and says nothing.
        authorization: the header, ``Bearer`` and a token.
        token: the one that is asked for; empty is none, then callers on this machine may read.
    """
    if token:
        return hmac.compare_digest(authorization.encode(), f"Bearer {token}".encode())
    try:
        caller = ip_address(address)
        return not is_forwarded and (getattr(caller, "ipv4_mapped", None) or caller).is_loopback
    except ValueError:
        return False
