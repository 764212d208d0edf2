"""The gate in the small; test_access.py holds all addresses to it."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.contrib import admin
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory

from dashboard.people.gate import RoleMiddleware, is_of_djangos_admin, is_open, needed_role, needs, open_to_all
from dashboard.people.roles import Role
from tests.dashboard.persons import person

pytestmark = pytest.mark.django_db


def view(_request: HttpRequest) -> HttpResponse:
    return HttpResponse("in")


def another_view() -> Callable[[HttpRequest], HttpResponse]:
    """Give a view of its own, because a mark stays."""

    def fresh(_request: HttpRequest) -> HttpResponse:
        return HttpResponse("in")

    return fresh


def knock(user: User, marked: object) -> HttpRequest:
    request = RequestFactory().get("/")
    request.user = user
    gate = RoleMiddleware(view)
    assert gate.process_view(request, marked, (), {}) is None  # type: ignore[arg-type] # any object, as Django gives
    assert gate(request).status_code == 200
    return request


def test_a_view_is_marked_with_its_role() -> None:
    marked = needs(Role.OPERATOR)(another_view())

    assert needed_role(marked) is Role.OPERATOR
    assert not is_open(marked)
    assert needed_role(view) is None


def test_who_has_the_role_comes_in_with_what_it_may_do() -> None:
    request = knock(person(Role.OPERATOR), needs(Role.VIEWER)(another_view()))

    assert request.access.highest() is Role.OPERATOR  # type: ignore[attr-defined] # set by the gate


def test_who_has_not_is_told_what_it_needs() -> None:
    with pytest.raises(PermissionDenied, match="needs the role operator; you have viewer"):
        knock(person(Role.VIEWER), needs(Role.OPERATOR)(another_view()))
    with pytest.raises(PermissionDenied, match="you have none"):
        knock(person(None), needs(Role.VIEWER)(another_view()))


def test_a_view_without_a_mark_is_closed_and_an_open_one_is_open() -> None:
    with pytest.raises(PermissionDenied, match="says of no role"):
        knock(person(Role.ADMIN), view)
    knock(person(None), open_to_all(another_view()))


def test_djangos_admin_is_known_by_its_views() -> None:
    assert is_of_djangos_admin(admin.site.index)
    assert not is_of_djangos_admin(view)


def test_a_view_may_need_another_role_by_method() -> None:
    marked = needs(Role.VIEWER, by_method={"POST": Role.ADMIN})(another_view())

    assert [needed_role(marked, method) for method in (None, "GET", "POST")] == [Role.VIEWER, Role.VIEWER, Role.ADMIN]
