from __future__ import annotations

import pytest
from django.db import IntegrityError

from dashboard.live.models import Follow


@pytest.mark.django_db
def test_a_stream_has_one_row_with_a_name() -> None:
    assert str(Follow.objects.create(stream="group-1", until=1)) == "group-1"
    with pytest.raises(IntegrityError):
        Follow.objects.create(stream="", until=1)
