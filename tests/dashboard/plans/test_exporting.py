from __future__ import annotations

import json

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.plans.exporting import as_java, as_json
from dashboard.plans.models import ByConfig
from tests.dashboard.story import T0


def test_a_version_is_taken_away_with_each_queue_by_itself_and_as_a_class(cluster: Cluster) -> None:
    group = Group.objects.create(cluster=cluster, name="a b/c", added_at=T0)
    document = '{"A": ["orders/east/0-1"]}'
    row = ByConfig(group=group, version=3, at=T0, author="ada", reason="more room", document=document)

    said, java = as_json(group, row), as_java(group, row).content.decode()

    assert said["Content-Disposition"] == 'attachment; filename="by-config-a_b_c-3.json"'
    assert json.loads(said.content)["clients"] == {"A": [["orders", "east", 0], ["orders", "east", 1]]}
    assert "AllocateMessageQueueByConfig" in java and "VERSION = 3" in java
