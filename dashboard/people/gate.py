"""The gate: every address says which role it needs, and one that does not say is closed.

``OneDoorMiddleware`` sends everybody without log-in to ``/login/``, except for views marked as open to all.
``RoleMiddleware`` then compares the role that a view was marked with (``needs``) with the highest one that the person
has anywhere. Where a view is about one cluster or group, it asks again for that one: ``request.access.may(...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.contrib.admin import AdminSite, ModelAdmin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.middleware import LoginRequiredMiddleware
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.shortcuts import resolve_url
from django.utils.translation import gettext as _

from dashboard.people.queries import access_of
from dashboard.people.roles import Access, Role

P = ParamSpec("P")
R = TypeVar("R", bound=HttpResponseBase)
View = Callable[..., HttpResponseBase]


class Request(HttpRequest):
    """A request behind the gate. Only its name is new: the middleware sets the attribute."""

    access: Access


def needs(role: Role, *, by_method: Mapping[str, Role] | None = None) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Mark a view with the lowest role that may call it; ``by_method`` has those of methods that need another one."""

    def mark(view: Callable[P, R]) -> Callable[P, R]:
        view.needs_role = role  # type: ignore[attr-defined] # functions take attributes, types do not know
        view.needs_role_by_method = dict(by_method or {})  # type: ignore[attr-defined] # likewise
        return view

    return mark


def open_to_all(view: Callable[P, R]) -> Callable[P, R]:
    """Mark a view that needs no log-in."""
    view.is_open_to_all = True  # type: ignore[attr-defined] # likewise
    return login_not_required(view)


def needed_role(view: object, method: str | None = None) -> Role | None:
    """Give the role that a view was marked with; Django's own admin needs an admin; None is not marked."""
    role = getattr(view, "needs_role", None)
    if isinstance(role, Role):
        special = getattr(view, "needs_role_by_method", {}).get(method)
        return special if isinstance(special, Role) else role
    return Role.ADMIN if is_of_djangos_admin(view) else None


def is_of_djangos_admin(view: object) -> bool:
    """Ask whether a view is one of Django's admin, which shows all clusters: it needs staff besides."""
    if hasattr(view, "admin_site") or hasattr(view, "model_admin"):
        return True
    while view is not None:  # some are wrapped methods, without these marks
        if isinstance(getattr(view, "__self__", None), ModelAdmin | AdminSite):
            return True
        view = getattr(view, "__wrapped__", None)
    return False


def is_open(view: object) -> bool:
    """Ask whether a view is marked as open to all."""
    return bool(getattr(view, "is_open_to_all", False))


class OneDoorMiddleware(LoginRequiredMiddleware):
    """Sends who has not logged in to the one log-in page, from Django's admin too, which names a page of its own."""

    def get_login_url(self, view_func: object) -> str:  # noqa: ARG002 - Django names its page by the view
        """Give the log-in page, whatever a view says."""
        return resolve_url(settings.LOGIN_URL)


class RoleMiddleware:
    """Compares the role that a view needs with what the person has; a view without a mark is closed to everybody."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Pass on; what somebody gets who is logged in stays in no cache, so that "back" shows it to nobody else."""
        response = self.get_response(request)
        if hasattr(request, "access"):
            response.headers.setdefault("Cache-Control", "no-store")
        return response

    def process_view(
        self, request: HttpRequest, view: View, _arguments: tuple[object, ...], _named: dict[str, object]
    ) -> HttpResponseBase | None:
        """Refuse who has not the role.

        Raises:
            PermissionDenied: with the reason in words.
        """
        if is_open(view):
            return None
        access = access_of(user=request.user)
        request.access = access  # type: ignore[attr-defined] # see Request
        role, has = needed_role(view, request.method), access.highest()
        if role is None:
            raise PermissionDenied(_("This address says of no role that it may come in."))
        if has is None or not has.includes(role):
            raise PermissionDenied(
                _("This needs the role %(needed)s; you have %(has)s.")
                % {"needed": role.value, "has": has.value if has else _("none")}
            )
        if is_of_djangos_admin(view) and not getattr(request.user, "is_staff", False):
            raise PermissionDenied(_("The database pages are for staff."))
        return None
