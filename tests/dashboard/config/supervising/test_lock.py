import os
import random
import socket
from pathlib import Path

import pytest

from dashboard.config.supervising.lock import LOOPBACK, PORTS, HomeLock, HomeTaken, PortTaken, free_port, listen


def test_a_home_has_one_supervisor_and_the_second_is_told_who_has_it(tmp_path: Path) -> None:
    first = HomeLock(tmp_path)
    first.take("process 7, http://127.0.0.1:8000/")

    with pytest.raises(HomeTaken, match=r"in use by process 7, http://127.0.0.1:8000/; stop that one"):
        HomeLock(tmp_path).take("process 8")

    first.release()
    again = HomeLock(tmp_path)
    again.take("process 9")
    again.release()


def test_a_home_stays_taken_while_an_heir_holds_it(tmp_path: Path) -> None:
    first = HomeLock(tmp_path)
    first.take("process 7")
    heir = os.dup(first.descriptor)
    first.release()

    with pytest.raises(HomeTaken):
        HomeLock(tmp_path).take("process 8")
    os.close(heir)


def test_a_port_that_is_taken_is_refused_with_a_clear_word() -> None:
    with listen(LOOPBACK, 0) as taken:
        port = taken.getsockname()[1]

        with pytest.raises(PortTaken, match=f"port {port} of 127.0.0.1 is taken"):
            listen(LOOPBACK, port)


def test_the_port_of_the_last_run_is_taken_where_it_is_free() -> None:
    luck = random.Random(1)
    with socket.create_server((LOOPBACK, 0)) as taken:
        other = free_port([taken.getsockname()[1]], luck)

    assert other in PORTS
    assert free_port([other], luck) == other
