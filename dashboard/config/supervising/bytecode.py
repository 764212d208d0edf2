"""Where Python keeps what it has compiled, if it is told to keep nothing or may not beside the code: in the home.

Images of containers often set ``PYTHONDONTWRITEBYTECODE``, or have code that nobody may write. Then each of seven
processes compiles 1,600 modules whenever it starts, which is more than half of what a start takes.
"""

from __future__ import annotations

import os
import sys
from importlib.util import cache_from_source
from pathlib import Path

from dashboard.config.home import ROOT

FOLDER = "bytecode"


def keep_bytecode(home: Path, *, code: Path = ROOT / "dashboard" / "config" / "urls.py") -> None:
    """Let this process and those it starts keep compiled modules in the home, where they are kept nowhere else.

    Args:
        code: one of our files that few programs load; where it was compiled beforehand, all were.
    """
    if sys.pycache_prefix is not None or Path(cache_from_source(str(code))).exists():
        return
    if not sys.dont_write_bytecode and os.access(code.parent, os.W_OK):
        return
    sys.pycache_prefix = os.environ["PYTHONPYCACHEPREFIX"] = str(home / FOLDER)
    sys.dont_write_bytecode = False
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
