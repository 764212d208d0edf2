from __future__ import annotations

import pytest
from django.db import IntegrityError, transaction

from dashboard.api.models import ApiToken
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.story import T0

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("wrong", [{"expires_at": T0}, {"revoked_at": T0 - 1}, {"made_at": -1}], ids=str)
def test_times_of_a_token_are_in_order(wrong: dict[str, int]) -> None:
    columns = {"user": person(Role.VIEWER), "digest": "d", "hint": "eka_", "made_at": T0, "expires_at": T0 + 1}

    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.create(**{**columns, **wrong})

    assert str(ApiToken.objects.create(**columns)) == "eka_… of viewer"
