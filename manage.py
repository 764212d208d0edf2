#!/usr/bin/env python
"""Django's command line: ``manage.py help`` lists what there is."""

import os
import sys

from dashboard.config.garbage import put_off
from dashboard.config.leaving import leave_after

RUNS_ON = {"up", "web", "watch_cluster"}  # until it is told to end


def main() -> None:
    """Carry out what the first word says."""
    if sys.argv[1:2] == ["up"]:  # its port answers before Django is loaded
        from dashboard.config.supervising.start import main as up  # noqa: PLC0415 - as said

        up(sys.argv[2:])
    else:
        from django.core.management import execute_from_command_line  # noqa: PLC0415 - likewise

        execute_from_command_line(sys.argv)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    if sys.argv[1:2] == ["web"]:
        put_off()
    if RUNS_ON & set(sys.argv[1:2]):
        leave_after(main)
    else:
        main()
