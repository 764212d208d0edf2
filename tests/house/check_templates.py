"""Check Django templates with djlint: all of the project's, or those named on the command line."""

import subprocess
import sys
from pathlib import Path

from tests.house.project import ROOT, files, is_vendored


def main(named: list[str]) -> int:
    templates = named or [str(path) for path in files("*.html") if not is_vendored(path)]
    if not templates:
        print("Templates: there are none yet.")
        return 0
    djlint = str(Path(sys.executable).with_name("djlint"))
    command = [djlint, "--configuration", str(ROOT / "pyproject.toml"), "--quiet", "--lint", *templates]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
