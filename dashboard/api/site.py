"""The API as a whole: what is at which address, the role that each needs, and its description as OpenAPI 3.1.

Operations are declared with ``reads``, ``does`` and ``ends``, which note the role for the gate: it asks for it before
anything is read of the request, and asks again for the cluster or the group by the functions of the pages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import TypeVar

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.urls import URLPattern, path
from django.views.decorators.http import require_safe
from ninja import NinjaAPI
from ninja.errors import HttpError, ValidationError

from dashboard.api import reported
from dashboard.api.bodies import Strict
from dashboard.api.door import READING
from dashboard.api.errors import ADDRESS, Problem, refuse_unknown, refused
from dashboard.api.invalid import OF_ADDRESS, words_of
from dashboard.api.nulls import say_nulls
from dashboard.api.shapes import Refusal
from dashboard.common.clock import now_ms
from dashboard.people import operations
from dashboard.people.gate import needs
from dashboard.people.roles import Role

F = TypeVar("F", bound=Callable[..., object])
PROBLEMS = dict.fromkeys((400, 401, 403, 404, 422), Refusal)
CHANGES_A_MINUTE = 120  # of one person; a script that waits for each answer rarely gets there
WITHIN_MS = 60_000
TRIALS: set[str] = set()  # names of addresses that compute something anew, however often they are asked
CONVERTED = re.compile(r"<(?:\w+:)?(\w+)>")  # a part of an address, as Django writes it
ROLES: dict[str, dict[str, Role]] = {}  # name of an address -> method -> role
ABOUT = """What the pages of Evenkeel show, and what they do, with the same permissions.

Come with a log-in, or with `Authorization: Bearer <token>`; tokens are made on the page `/api/`. Instants are UTC epoch
milliseconds. Null is never 0; what it means stands at each field. Each answer but 2xx has `problem`."""

SCHEMES = {
    "token": {"type": "http", "scheme": "bearer"},
    "group_token": {"type": "http", "scheme": "bearer", "description": "of a group, for its reports alone"},
}

api = NinjaAPI(
    parser=Strict(),
    title="Evenkeel",
    version="1",
    description=ABOUT,
    openapi_url=None,
    docs_url=None,
    urls_namespace="api",
    openapi_extra={
        "security": [{"token": []}],
    },
)


def reads(
    where: str, *, name: str, answer: object, is_table: bool = False, is_trial: bool = False, also: str = ""
) -> Callable[[F], F]:
    """Declare what answers GET; of a table ``also`` as CSV; of a trial so many times a minute. Viewers may."""
    ROLES.setdefault(name, {})["GET"] = Role.VIEWER
    if is_trial:
        TRIALS.add(name)
    extra: dict[str, object] = {"x-needs-role": Role.VIEWER.value}
    if is_table or also:
        extra["responses"] = {200: {"content": {also or "text/csv": {"schema": {"type": "string"}}}}}
    problems = {429: Refusal, **PROBLEMS} if is_trial else PROBLEMS
    return api.get(where, response={200: answer, **problems}, url_name=name, openapi_extra=extra)


def reads_as(role: Role, where: str, *, name: str, answer: object) -> Callable[[F], F]:
    """Declare what answers GET to a higher role alone, also as CSV."""
    ROLES.setdefault(name, {})["GET"] = role
    extra = {"x-needs-role": role.value, "responses": {200: {"content": {"text/csv": {"schema": {"type": "string"}}}}}}
    return api.get(where, response={200: answer, **PROBLEMS}, url_name=name, openapi_extra=extra)


def does(role: Role, where: str, *, name: str, status: int, answer: object) -> Callable[[F], F]:
    """Declare what answers POST: it changes something, and is refused with 409 where that cannot be now."""
    ROLES.setdefault(name, {})["POST"] = role
    extra = {"x-needs-role": role.value}
    responses = {status: answer, 409: Refusal, 429: Refusal, **PROBLEMS}
    return api.post(where, response=responses, url_name=name, openapi_extra=extra)


def ends(role: Role, where: str, *, name: str, answer: object) -> Callable[[F], F]:
    """Declare what answers DELETE: it ends something for good."""
    ROLES.setdefault(name, {})["DELETE"] = role
    extra = {"x-needs-role": role.value}
    return api.delete(
        where, response={200: answer, 409: Refusal, 429: Refusal, **PROBLEMS}, url_name=name, openapi_extra=extra
    )


@api.exception_handler(Problem)
def _refuse(_request: HttpRequest, problem: Problem) -> HttpResponse:
    answer = refused(problem.status, str(problem), **problem.more)
    if problem.wait_s:
        answer["Retry-After"] = str(problem.wait_s)
    return answer


@api.exception_handler(Http404)
def _not_found(_request: HttpRequest, error: Http404) -> HttpResponse:
    return refused(404, str(error))


@api.exception_handler(PermissionDenied)
def _forbid(_request: HttpRequest, error: PermissionDenied) -> HttpResponse:
    return refused(403, str(error))


@api.exception_handler(HttpError)
def _unreadable(request: HttpRequest, error: HttpError) -> HttpResponse:
    if isinstance(error.__cause__, Problem):  # why the body cannot be read
        return _refuse(request, error.__cause__)
    return refused(error.status_code, str(error))


@api.exception_handler(ValidationError)
def _invalid(request: HttpRequest, error: ValidationError) -> HttpResponse:
    """Say of each wrong part where it is and what is wrong with it; the value itself is not sent back."""
    wrong = [words_of(each, request.GET) for each in error.errors]
    return refused(422, "; ".join(wrong[:20]))


def _failed(_request: HttpRequest, error: Exception | type[Exception]) -> HttpResponse:
    """Leave what nobody thought of to Django: it logs it, and the handler of 500 answers."""
    raise error


api.add_exception_handler(Exception, _failed)


def addresses() -> list[URLPattern]:
    """Give Django's patterns of all operations that were declared, each marked with its roles for the gate."""
    found = {str(each.pattern): each for each in api.urls[0] if isinstance(each, URLPattern) and each.name in ROLES}
    return [path(f"{_ROOT}{route}", _guarded(each), name=each.name) for route, each in found.items()]


_ROOT = ADDRESS.removeprefix("/")


def _guarded(pattern: URLPattern) -> Callable[..., HttpResponseBase]:
    """Let the gate know the roles; the view under it is not free of the check against forged requests."""
    roles = ROLES[pattern.name or ""]
    view: Callable[..., HttpResponseBase] = pattern.callback

    def guarded(request: HttpRequest, *arguments: object, **named: object) -> HttpResponseBase:
        unknown = _unknown(request, str(pattern.pattern))
        return unknown or _too_often(request, pattern.name) or view(request, *arguments, **named)

    lowest = min(roles.values(), key=lambda role: role.rank)
    return of_the_api(needs(lowest, by_method=roles)(guarded))


def _unknown(request: HttpRequest, route: str) -> HttpResponseBase | None:
    """Refuse a parameter that the description does not name here: what it was to change would not be so."""
    known = _parameters().get(CONVERTED.sub(r"{\1}", route), {}).get(request.method or "")
    return None if known is None else refuse_unknown(request, known)


@cache
def _parameters() -> dict[str, dict[str, frozenset[str]]]:
    """Give the parameters of each address (without the API's own beginning) and method, as they are described."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for where, methods in json.loads(description())["paths"].items():
        for method, operation in methods.items():
            names = (each["name"] for each in operation.get("parameters", ()) if each["in"] == OF_ADDRESS)
            found.setdefault(where.removeprefix(ADDRESS), {})[method.upper()] = frozenset(names)
    return found


def _too_often(request: HttpRequest, name: str | None) -> HttpResponseBase | None:
    """Refuse a change, or a trial, of somebody who made too many in the last minute."""
    is_trial = name in TRIALS
    if request.method in READING and not is_trial:
        return None
    what, most = ("dry runs", operations.TRIALS_A_MINUTE) if is_trial else ("changes", CHANGES_A_MINUTE)
    person, now = request.user.pk, now_ms()
    if is_trial:
        wait_s = operations.wait_for_trial(person=person, now=now)
    else:
        wait_s = operations.wait_for_turn(what=f"api changes of {person}", most=most, within_ms=WITHIN_MS, now=now)
    if not wait_s:
        return None
    answer = refused(429, f"those were {most} {what} within a minute, the most of one person; wait {wait_s} s")
    answer["Retry-After"] = str(wait_s)
    return answer


def of_the_api(view: Callable[..., HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """Mark a view as one that is asked with tokens too."""
    view.is_of_the_api = True  # type: ignore[attr-defined] # functions take attributes, types do not know
    return view


@cache
def description() -> bytes:
    """Write the OpenAPI document; it does not change while a process runs."""
    document = json.loads(json.dumps(api.get_openapi_schema(path_prefix=ADDRESS), default=str))
    document["components"]["securitySchemes"] = SCHEMES
    document["paths"][f"{ADDRESS.rstrip('/')}{reported.WHERE}"] = reported.described()
    return json.dumps(say_nulls(document)).encode()


@require_safe
@needs(Role.VIEWER)
def openapi(request: HttpRequest) -> HttpResponseBase:
    """Give the description of the API."""
    return refuse_unknown(request, frozenset()) or HttpResponse(description(), content_type="application/json")
