"""``python -m rebalance_engine`` is the ``evenkeel`` command."""

from __future__ import annotations

import sys

from rebalance_engine.cli import main

if __name__ == "__main__":
    sys.exit(main())
