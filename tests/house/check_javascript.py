"""Check JavaScript with Node.js: every file parses as a module, and every ``*.test.js`` passes.

All of the project's files, or those named on the command line.
"""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.house.project import IN_CI, ROOT, files, is_vendored


def main(named: list[str]) -> int:
    scripts = [Path(name) for name in named] or [path for path in files("*.js", "*.mjs") if not is_vendored(path)]
    if not scripts:
        print("JavaScript: there is none yet.")
        return 0
    if shutil.which("node") is None:
        print(f"JavaScript: {len(scripts)} files are not checked, because Node.js is missing.")
        return int(IN_CI)
    with ThreadPoolExecutor() as pool:
        faults = [fault for fault in pool.map(syntax_fault, scripts) if fault]
    print(*faults, f"JavaScript: {len(scripts)} files, {len(faults)} with faults.", sep="\n")
    return 1 if faults else run_tests([path for path in scripts if path.name.endswith(".test.js")])


def syntax_fault(script: Path) -> str | None:
    """Say what keeps a file from being a module. Node takes a file from stdin as one whatever its name is."""
    command = ["node", "--input-type=module", "--check", "-"]
    with (ROOT / script).open("rb") as text:
        check = subprocess.run(command, stdin=text, check=False, capture_output=True, text=True)
    return check.stderr.replace("[stdin]", str(script)) if check.returncode else None


def run_tests(suites: list[Path]) -> int:
    return subprocess.run(["node", "--test", *suites], cwd=ROOT, check=False).returncode if suites else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
