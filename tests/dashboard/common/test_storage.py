from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.test import override_settings

from dashboard.common.storage import ModuleStorage
from dashboard.config.home import ROOT


@pytest.fixture
def collected(tmp_path: Path) -> Iterator[Path]:
    backend = {"staticfiles": {"BACKEND": "dashboard.common.storage.ModuleStorage"}}
    with override_settings(STATIC_ROOT=tmp_path, STORAGES={**settings.STORAGES, **backend}):
        call_command("collectstatic", interactive=False, verbosity=0)
        yield tmp_path


def test_modules_import_each_other_by_the_names_that_hold_their_digest(collected: Path) -> None:
    manifest = json.loads((collected / "staticfiles.json").read_text())["paths"]
    app = (collected / manifest["js/app.js"]).read_text()

    imported = [line.split('"')[1] for line in app.splitlines() if line.startswith("import")]
    assert imported
    assert all((collected / "js" / name).is_file() and len(Path(name).name.split(".")) == 3 for name in imported)


def test_modules_that_import_each_other_in_a_long_row_are_renamed() -> None:
    root = ROOT / "static" / "js"
    imports = {
        file: {(file.parent / name).resolve() for name in re.findall(r'from "(\.[^"]+)"', file.read_text())}
        for file in root.rglob("*.js")
    }

    @cache
    def depth(file: Path) -> int:
        return 1 + max((depth(each) for each in imports[file]), default=0)

    longest = max(map(depth, imports))

    assert 5 < longest < ModuleStorage.max_post_process_passes
