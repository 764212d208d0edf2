"""People for tests: one of each role, over everything or over what their grants name."""

from __future__ import annotations

from django.contrib.auth.models import User

from dashboard.people.models import Grant
from dashboard.people.roles import Role

PASSWORD = "a password for tests"  # noqa: S105 - it opens nothing
ROLES = (None, Role.VIEWER, Role.OPERATOR, Role.ADMIN)


def person(role: Role | None = Role.VIEWER, *, name: str = "", clusters: str = "*", groups: str = "*") -> User:
    """Make somebody with a role, or with none."""
    user = User.objects.create_user(name or (role.value if role else "nobody"), password=PASSWORD)
    user.is_staff = role is Role.ADMIN
    user.save()
    if role is not None:
        Grant.objects.create(user=user, role=role.value, clusters=clusters, groups=groups)
    return user
