"""Files in which a broadcasting consumer keeps its offsets, written so that a crash leaves the old or the new text.

Source: ``client/.../consumer/store/LocalFileOffsetStore.java`` (``offsets.json`` and its ``.bak``).
"""

from __future__ import annotations

import logging
from pathlib import Path

logger = logging.getLogger(__name__)


class OffsetFiles:
    """Texts by name, under one directory."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def read(self, name: str) -> dict[str, str]:
        """Give what was saved under a name, as name -> text; of an unreadable file the one before, else nothing."""
        path = self._path(name)
        for candidate in (path, _backup(path)):
            try:
                return {name: candidate.read_text(encoding="utf-8")}
            except FileNotFoundError:
                continue
            except (OSError, UnicodeDecodeError) as error:
                logger.warning("the offsets in %s cannot be read: %s", candidate, error)
        return {}

    def save(self, name: str, text: str) -> None:
        """Keep a text. Where that fails the consumer goes on, as in Java, and tries again with the next offsets."""
        path = self._path(name)
        fresh = path.with_name(f"{path.name}.tmp")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            fresh.write_text(text, encoding="utf-8")
            if path.exists():
                path.replace(_backup(path))
            fresh.replace(path)
        except OSError as error:
            logger.error("the offsets cannot be written to %s: %s", path, error)  # noqa: TRY400  # the words say it all

    def _path(self, name: str) -> Path:
        """Give the file of a name, which never leaves the directory."""
        parts = [part for part in name.split("/") if part not in {"", ".", ".."}]
        return self._directory.joinpath(*parts)


def _backup(path: Path) -> Path:
    return path.with_name(f"{path.name}.bak")
