import subprocess
import sys
from pathlib import Path

import pytest

from dashboard.config.home import ROOT
from tests.dashboard.config.supervising.processes import LONG_S

# Its thread is waited for and its goodbye is said; taking it apart would say more, and end with another status.
PROGRAM = """
import atexit, os, sys, threading, time

class Heavy:
    def __del__(self):
        os.write(1, b"taken apart\\n")
        os._exit(99)

heavy = Heavy()
go = threading.Event()

def main():
    atexit.register(print, "goodbye")
    threading.Thread(target=lambda: (go.wait(), print("all is done"))).start()
    print("at work", sys.argv[1:])
    threading.Timer(0, go.set).start()
    END

if __name__ == "__main__":
    main()
"""


def run(*words: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words],
        capture_output=True,
        text=True,
        timeout=LONG_S,
        check=False,
        env={"PYTHONPATH": f"{ROOT}:{folder}"},
    )


@pytest.mark.parametrize(
    ("end", "status"),
    [("return", 0), ("sys.exit(3)", 3), ("sys.exit('why')", 1), ("sys.exit()", 0), ("raise ValueError('why')", 1)],
)
def test_a_process_ends_in_order_and_leaves_without_being_taken_apart(end: str, status: int, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("END", end))

    done = run("-m", "dashboard.config.leaving", "program", "a", "--b", folder=tmp_path)

    assert done.returncode == status
    assert done.stdout.splitlines() == ["at work ['a', '--b']", "all is done", "goodbye"]
    assert ("why" in done.stderr) == ("why" in end)


def test_by_itself_python_takes_everything_apart(tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM.replace("END", "return"))

    done = run("-m", "program", folder=tmp_path)

    assert (done.returncode, done.stdout.splitlines()[-1]) == (99, "taken apart")
