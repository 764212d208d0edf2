"""What is read about people."""

from __future__ import annotations

from django.contrib.auth.base_user import AbstractBaseUser
from django.contrib.auth.models import AnonymousUser, User

from dashboard.people.models import Grant
from dashboard.people.roles import Access, Role, Scope, scopes_of

NOBODY = Access("", ())


def access_of(*, user: AbstractBaseUser | AnonymousUser | None) -> Access:
    """Give what a person may do. A superuser may do everything; who is not active, or not logged in, nothing."""
    if not isinstance(user, User) or not user.is_active:
        return NOBODY
    if user.is_superuser:
        return Access(user.get_username(), (Scope(Role.ADMIN),))
    rows = Grant.objects.filter(user=user).values_list("role", "clusters", "groups")
    return Access(user.get_username(), scopes_of(rows))
