from __future__ import annotations

import pytest
from django.test import Client

from dashboard.people import forms
from tests.dashboard.persons import PASSWORD, person

pytestmark = pytest.mark.django_db


def log_in(client: Client, password: str, name: str = "viewer", address: str = "10.0.0.1") -> bool:
    return client.post("/login/", {"username": name, "password": password}, REMOTE_ADDR=address).status_code == 302


def test_who_guesses_too_often_waits_even_with_the_right_password(client: Client) -> None:
    person()

    guesses = [log_in(client, "wrong") for _ in range(forms.MOST_FOR_A_NAME)]

    assert not any(guesses)
    assert not log_in(client, PASSWORD)
    assert (
        "Too many attempts"
        in client.post("/login/", {"username": "viewer", "password": PASSWORD}, REMOTE_ADDR="10.0.0.1").content.decode()
    )
    assert log_in(client, PASSWORD, address="10.0.0.2")


def test_programs_are_told_in_numbers_that_these_were_too_many_attempts(client: Client) -> None:
    wrong = {"username": "viewer", "password": "wrong"}
    statuses = [client.post("/login/", wrong).status_code for _ in range(forms.MOST_FOR_A_NAME)]
    refused = client.post("/login/", wrong)

    assert set(statuses) == {200}
    assert (refused.status_code, refused["Retry-After"]) == (429, "300")
    assert "Too many attempts" in refused.content.decode()


def test_the_right_password_takes_the_count_back(client: Client) -> None:
    person()

    for _ in range(3):
        for _ in range(forms.MOST_FOR_A_NAME - 1):
            log_in(client, "wrong")
        assert log_in(client, PASSWORD)
        client.logout()


def test_one_address_cannot_try_many_names(client: Client) -> None:
    person()

    for number in range(forms.MOST_FROM_AN_ADDRESS):
        log_in(client, "wrong", name=f"name {number}")

    assert not log_in(client, PASSWORD)


def test_upper_case_does_not_make_another_name(client: Client) -> None:
    person()

    for number in range(forms.MOST_FOR_A_NAME):
        log_in(client, "wrong", name="VIEWER" if number % 2 else "viewer")

    assert not log_in(client, PASSWORD)
