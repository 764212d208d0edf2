"""What a browser may load and run for our pages: our own files, and nothing that stands inside a page."""

from __future__ import annotations

from collections.abc import Callable

from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

SOURCES = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self' data:",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "frame-ancestors": "'none'",
    "base-uri": "'none'",
}
POLICY = "; ".join(f"{what} {where}" for what, where in SOURCES.items())
PERMISSIONS = "camera=(), geolocation=(), microphone=(), payment=(), usb=()"


class PolicyMiddleware:
    """Adds the policies to every answer. Client ids come from strangers: what they hold must never run."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, with the policies."""
        response = _whole(self.get_response(request))
        response.headers.setdefault("Content-Security-Policy", POLICY)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response


def _whole(response: HttpResponseBase) -> HttpResponseBase:
    """Read a static file at once: they are small, and the server has no way to read one in pieces without a warning."""
    if not isinstance(response, FileResponse) or response.is_async:
        return response
    content = b"".join(response)
    whole = HttpResponse(content, status=response.status_code, headers=dict(response.headers))
    if content:
        whole["Content-Length"] = len(content)  # was noted at the start: of a file that was changed since it is wrong
    response.close()
    return whole
