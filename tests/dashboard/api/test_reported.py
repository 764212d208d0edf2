from __future__ import annotations

import json

from dashboard.api.site import description


def test_the_door_of_reports_is_described_with_its_own_token() -> None:
    document = json.loads(description())

    door = document["paths"]["/api/v1/reports"]["post"]

    assert door["security"] == [{"group_token": []}]
    assert document["components"]["securitySchemes"].keys() == {"token", "group_token"}
    assert {"201", "401", "422", "503"} <= door["responses"].keys()
