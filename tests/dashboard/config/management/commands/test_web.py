import os

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client, override_settings

from dashboard.config.management.commands.web import PATIENCE_S


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


class BeginsToServe(Exception):
    """By now the process is as it serves."""


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "sqlite", reason="elsewhere there is no one lock for all")
def test_pages_wait_less_for_the_lock_than_who_works_behind_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def begin(*_given: object, **_named: object) -> None:
        raise BeginsToServe

    before = connection.settings_dict["OPTIONS"]
    monkeypatch.setattr("uvicorn.Config", begin)
    try:
        with override_settings(ALLOWED_HOSTS=["127.0.0.1"]), pytest.raises(BeginsToServe):
            call_command("web")

        assert connection.settings_dict["OPTIONS"]["timeout"] == PATIENCE_S < before["timeout"]
    finally:
        connection.settings_dict["OPTIONS"] = before
        connection.close()
