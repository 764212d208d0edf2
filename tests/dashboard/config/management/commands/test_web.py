import os

import pytest
from django.core.management import CommandError, call_command


def test_a_descriptor_that_is_no_socket_is_refused_with_a_clear_word() -> None:
    reading, writing = os.pipe()

    with pytest.raises(CommandError, match=f"--fd {reading} is no socket"):
        call_command("web", fd=reading)

    os.close(reading)
    os.close(writing)
