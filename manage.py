#!/usr/bin/env python
"""Django's command line: ``manage.py help`` lists what there is."""

import os
import sys

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "dashboard.config.settings")
    if sys.argv[1:2] == ["up"]:  # its port answers before Django is loaded
        from dashboard.config.supervising.start import main

        main(sys.argv[2:])
    else:
        from django.core.management import execute_from_command_line

        execute_from_command_line(sys.argv)
