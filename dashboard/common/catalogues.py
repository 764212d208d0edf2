"""Compile the catalogues: ``python -m dashboard.common.catalogues``, as `make install` and `manage.py up` do.

No program of the machine is needed for it, and nothing is compiled when pages run. ``pybabel compile`` would do, but it
takes a plural that names its number for wrong where the singular does not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

FOLDER = Path(__file__).resolve().parents[1] / "locale"


def compile_into(folder: Path, *, source: Path = FOLDER) -> Iterator[Path]:
    """Compile each ``LANGUAGE/LC_MESSAGES/DOMAIN.po`` of ``source`` into its place in ``folder``; give the files."""
    for path in sorted(source.glob("*/LC_MESSAGES/*.po")):
        compiled = folder / path.relative_to(source).with_suffix(".mo")
        compiled.parent.mkdir(parents=True, exist_ok=True)
        with path.open("rb") as words:
            catalog = read_po(words, locale=path.parents[1].name)
        draft = compiled.with_suffix(f".draft{os.getpid()}")  # another process may compile as well
        with draft.open("wb") as file:
            write_mo(file, catalog)
        draft.replace(compiled)  # whoever reads it meanwhile has the whole old one
        yield compiled


if __name__ == "__main__":
    for _path in compile_into(FOLDER):
        pass
