from __future__ import annotations

import pytest
from django.db import IntegrityError

from dashboard.clusters.models import Cluster
from dashboard.groups.models import LagStep
from tests.dashboard.wrong_states import make_group

RIGHT: dict[str, object] = {"broker": "east", "began_at": 20_000, "at": 21_000, "lag": 1, "most": 2}


def test_a_step_names_its_group_and_what_is_known(cluster: Cluster) -> None:
    row = LagStep(group=make_group(cluster), **RIGHT)

    assert str(row).endswith("at east: 1 behind")
    row.lag = None
    assert str(row).endswith("unknown behind")


@pytest.mark.parametrize(
    "wrong",
    [
        {"broker": ""},
        {"lag": 3},
        {"lag": -1, "most": -1},
        {"most": None},
        {"at": 30_000},
        {"at": 19_999},
        {"told_at": 30_000},
    ],
    ids=str,
)
def test_a_step_that_cannot_be_is_not_stored(cluster: Cluster, wrong: dict[str, object]) -> None:
    group = make_group(cluster)

    with pytest.raises(IntegrityError):
        LagStep.objects.create(group=group, **{**RIGHT, **wrong})
