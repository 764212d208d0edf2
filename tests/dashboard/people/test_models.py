from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from dashboard.people.models import Attempt, Grant
from dashboard.people.roles import Role
from tests.dashboard.persons import person

pytestmark = pytest.mark.django_db


def test_a_grant_is_there_once_with_a_role_that_exists() -> None:
    user = person(Role.VIEWER)
    same = {"user": user, "role": "viewer", "clusters": "*", "groups": "*"}

    for wrong in (same, {**same, "role": "king"}, {**same, "clusters": ""}, {**same, "groups": ""}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Grant.objects.create(**wrong)
    assert str(Grant.objects.get()) == "viewer: viewer of * / *"


def test_an_attempt_has_a_key() -> None:
    assert str(Attempt.objects.create(key="0123456789", at=1)) == "01234567"
    with pytest.raises(IntegrityError):
        Attempt.objects.create(key="", at=1)
