"""Going to a migration, and back to the last one in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.state import StateApps

Migrate = Callable[..., StateApps]


@pytest.fixture
def migrate(transactional_db: None) -> Iterator[Migrate]:  # noqa: ARG001 - it opens the database
    """Go to a migration of each app named, and give the tables as they are then; in the end to the last ones."""

    def go(*targets: tuple[str, str]) -> StateApps:
        executor = MigrationExecutor(connection)
        executor.migrate(list(targets))
        return executor.loader.project_state(list(targets)).apps

    yield go
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
