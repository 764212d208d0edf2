"""What tests need to read pages in other languages: the catalogues, compiled as they stand in the project now."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest_django import Settings

from dashboard.common.catalogues import compile_into


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Compile the catalogues once."""
    folder = tmp_path_factory.mktemp("locale")
    assert list(compile_into(folder))
    return folder


@pytest.fixture
def catalogues(compiled: Path, settings: Settings) -> Path:
    """Let pages be read from the catalogues as they stand now, whatever `make install` compiled before."""
    settings.LOCALE_PATHS = [compiled]
    return compiled
