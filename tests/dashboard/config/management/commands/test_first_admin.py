from __future__ import annotations

from io import StringIO

import pytest
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


def run(*words: str) -> str:
    answer = StringIO()
    call_command("first_admin", *words, stdout=answer)
    return answer.getvalue()


def password_in(text: str) -> str:
    return text.split("password: ")[1].split(maxsplit=1)[0]


def test_the_password_is_shown_once_and_opens() -> None:
    first, second = run(), run()

    assert authenticate(username="admin", password=password_in(first)) is not None
    assert "password: " not in second.replace("A new password: manage.py", "")


def test_a_lost_password_is_replaced() -> None:
    run()

    assert authenticate(username="admin", password=password_in(run("--reset", "admin"))) is not None
    with pytest.raises(CommandError, match="nobody is called 'bob'"):
        run("--reset", "bob")
