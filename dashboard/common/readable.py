"""What an address may hold: text that a database can be asked for. No name has a NUL, and PostgreSQL takes none."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import unquote_to_bytes

from django.core.exceptions import BadRequest
from django.http import HttpRequest
from django.http.response import HttpResponseBase

NUL_IN_ADDRESS = "the address holds a NUL (%00); needed is text without one"


class ReadableMiddleware:
    """Refuses addresses with a NUL, in the path or in what is asked for, before any view reads them."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on what can be read.

        Raises:
            BadRequest: there is a NUL; it is answered with 400.
        """
        if "\0" in request.path_info or b"\0" in unquote_to_bytes(request.META.get("QUERY_STRING", "")):
            raise BadRequest(NUL_IN_ADDRESS)
        return self.get_response(request)
