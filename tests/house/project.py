"""Where the project is, and which files belong to it."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IN_CI = os.environ.get("CI") == "true"


def files(*patterns: str) -> list[Path]:
    """List the files that git tracks or would add, relative to the root; ``patterns`` are git's."""
    command = ["git", "-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--"]
    listed = subprocess.run([*command, *patterns], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return sorted({Path(name) for name in listed.split("\0") if name and (ROOT / name).is_file()})


def is_vendored(path: Path) -> bool:
    """Ask whether the file was written by others and is kept here as it is."""
    return path.is_relative_to("static/vendor")
