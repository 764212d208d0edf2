from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser, User

from dashboard.people.queries import NOBODY, access_of
from dashboard.people.roles import Role, Scope
from tests.dashboard.persons import person

pytestmark = pytest.mark.django_db


def test_who_is_not_logged_in_or_not_active_has_nothing() -> None:
    retired = person(Role.ADMIN)
    retired.is_active = False

    assert access_of(user=AnonymousUser()) == access_of(user=None) == access_of(user=retired) == NOBODY


def test_grants_and_superusers_are_read() -> None:
    assert access_of(user=person(Role.OPERATOR, groups="o*")).scopes == (Scope(Role.OPERATOR, "*", "o*"),)
    assert access_of(user=User.objects.create_superuser("root")).scopes == (Scope(Role.ADMIN),)
