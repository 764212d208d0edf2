"""Going to a migration, and back to the last one in the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.state import StateApps

Migrate = Callable[..., StateApps]


def one_by_one() -> MigrationExecutor:
    """Take the migrations that a squashed one replaces, whatever was applied."""
    executor = MigrationExecutor(connection)
    executor.loader = MigrationLoader(connection, replace_migrations=False)
    for key, squashed in executor.loader.replacements.items():
        executor.loader.graph.remove_replacement_node(key, squashed.replaces)
    return executor


@pytest.fixture
def migrate(transactional_db: None) -> Iterator[Migrate]:  # noqa: ARG001 - it opens the database
    """Go to a migration of each app named, and give the tables as they are then; in the end to the last ones."""

    def go(*targets: tuple[str, str]) -> StateApps:
        executor = one_by_one()
        executor.migrate(list(targets))
        return executor.loader.project_state(list(targets)).apps

    yield go
    executor = MigrationExecutor(connection)
    executor.migrate(executor.loader.graph.leaf_nodes())
