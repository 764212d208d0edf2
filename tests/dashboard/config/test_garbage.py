"""What is loaded at the start is left out of collections."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
TELL = "import gc; print(gc.get_freeze_count() > 10_000)"
WORKER = (
    "from celery.signals import worker_process_init; import dashboard.config.celery; worker_process_init.send(None)"
)


@pytest.mark.parametrize("start", [WORKER, "import dashboard.config.asgi"], ids=["worker", "web"])
def test_what_a_process_has_loaded_is_never_looked_at_again(start: str) -> None:
    program = [sys.executable, "-c", f"{start}; {TELL}"]
    said = subprocess.run(program, capture_output=True, text=True, timeout=120, check=True, cwd=ROOT)
    assert said.stdout.split() == ["True"]


def test_nothing_is_collected_while_the_web_process_is_loaded_and_afterwards_it_is() -> None:
    program = (
        "import gc; from dashboard.config.garbage import put_off; put_off(); before = gc.get_stats();"
        "import dashboard.config.asgi; print(gc.get_stats() == before, gc.isenabled())"
    )
    said = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=120, check=True, cwd=ROOT
    )
    assert said.stdout.split() == ["True", "True"]
