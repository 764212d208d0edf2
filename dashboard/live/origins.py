"""Whether a web socket was opened by one of our own pages. Cookies go with a socket from any page."""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit


def is_ours(origin: str | None, host: str | None, trusted: Iterable[str] = ()) -> bool:
    """Ask whether an ``Origin`` is that of the host that was asked, port included, or one of the trusted ones.

    A host that is trusted by its whole origin is so by that one alone: not over another scheme.

    A browser always says its origin. Whoever says none is no browser, and has no business with a log-in by cookie.
    """
    if not origin or not host:
        return False
    if origin in (known := set(trusted)):
        return True
    try:
        parts = urlsplit(origin)
    except ValueError:
        return False
    if any(urlsplit(each).netloc.casefold() == parts.netloc.casefold() for each in known):
        return False
    return parts.scheme in {"http", "https"} and parts.netloc.casefold() == host.casefold()
