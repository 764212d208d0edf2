"""In processes of their own: what Python keeps is a matter of a whole process, and of those that it starts."""

import os
import py_compile
import subprocess
import sys
from pathlib import Path

from dashboard.config.home import ROOT

STARTS = """
import os, subprocess, sys
from pathlib import Path
from dashboard.config.supervising.bytecode import keep_bytecode
home, code = map(Path, sys.argv[1:3])
if "keeps" in sys.argv:
    sys.dont_write_bytecode = False
    del os.environ["PYTHONDONTWRITEBYTECODE"]
keep_bytecode(home, code=code / "shop.py")
subprocess.run([sys.executable, "-c", "import shop"], check=True, timeout=60, cwd=code)
"""


def start(home: Path, code: Path, *words: str, **env: str) -> set[str]:
    """Start a program that is to keep nothing, unless told so, and starts another; give where that one's was kept."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    program = [sys.executable, "-c", STARTS, str(home), str(code), *words]
    told = {**clean, "PYTHONDONTWRITEBYTECODE": "1", **env}
    subprocess.run(program, check=True, timeout=60, cwd=ROOT, env=told)
    return {str(path.relative_to(code.parent)) for path in code.parent.rglob("shop.*.pyc")}


def put_code(folder: Path) -> Path:
    code = folder / "code"
    code.mkdir()
    (code / "shop.py").write_text("OPEN = True\n")
    return code


def test_where_python_is_to_keep_nothing_it_is_kept_in_the_home(tmp_path: Path) -> None:
    code = put_code(tmp_path)

    [kept] = start(tmp_path / "home", code)

    assert kept.startswith(f"home/bytecode{code}/shop.")


def test_what_is_kept_beside_the_code_stays_there(tmp_path: Path) -> None:
    code = put_code(tmp_path)
    assert start(tmp_path / "home", code, "keeps") == {f"code/__pycache__/shop.{sys.implementation.cache_tag}.pyc"}


def test_who_says_where_it_is_kept_is_left_alone(tmp_path: Path) -> None:
    assert start(tmp_path / "home", put_code(tmp_path), PYTHONPYCACHEPREFIX=str(tmp_path / "theirs")) == set()


def test_code_that_was_compiled_beforehand_is_not_compiled_again(tmp_path: Path) -> None:
    code = put_code(tmp_path)
    beside = code / "__pycache__" / f"shop.{sys.implementation.cache_tag}.pyc"
    py_compile.compile(str(code / "shop.py"), cfile=str(beside))

    [kept] = start(tmp_path / "home", code)

    assert kept.startswith("code/")
