import os

import pytest
from django.core.management import CommandError, call_command
from django.test import Client, override_settings


def test_a_descriptor_that_is_no_socket_is_refused_with_a_clear_word() -> None:
    reading, writing = os.pipe()

    with pytest.raises(CommandError, match=f"--fd {reading} is no socket"):
        call_command("web", fd=reading)

    os.close(reading)
    os.close(writing)


@pytest.mark.django_db
@pytest.mark.parametrize(("host", "named"), [("fd00::5", "[fd00::5]:8000"), ("10.0.0.5", "10.0.0.5:8000")])
def test_the_address_at_which_it_listens_may_be_asked_for(host: str, named: str) -> None:
    reading, writing = os.pipe()
    with override_settings(ALLOWED_HOSTS=["127.0.0.1"]):
        assert Client(headers={"host": named}).get("/login/").status_code == 400

        with pytest.raises(CommandError, match="is no socket"):  # by then it knows where
            call_command("web", host=host, fd=reading)

        assert Client(headers={"host": named}).get("/login/").status_code == 200
    os.close(reading)
    os.close(writing)
