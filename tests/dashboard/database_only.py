"""A plugin of pytest that leaves out tests which open no database: on another one they would show nothing new.

Given as ``-p tests.dashboard.database_only``; who uses a database is asked of fixtures and marks, so that no new
test can be forgotten.
"""

from __future__ import annotations

import pytest

OPENERS = frozenset({"db", "transactional_db", "live_server"})


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep those that may open the database that the settings name."""
    kept = [item for item in items if opens_a_database(item)]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
    items[:] = kept


def opens_a_database(item: pytest.Item) -> bool:
    """Tell whether a test is marked so, or asks for a fixture that opens it, itself or by another one."""
    return item.get_closest_marker("django_db") is not None or bool(OPENERS & set(getattr(item, "fixturenames", ())))
