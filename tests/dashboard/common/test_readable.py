"""Every address of the routing tables is asked with a NUL: which databases take one differs, the answer does not."""

import pytest
from django.test import Client

from dashboard.common.readable import NUL_IN_ADDRESS
from dashboard.people.roles import Role
from tests.dashboard.persons import person
from tests.dashboard.test_access import ALL, OF_THE_API

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("asked", ["q=a%00b", "page=1&%00=x", "q=\0"])
def test_a_nul_in_what_is_asked_for_is_refused_everywhere(client: Client, asked: str) -> None:
    client.force_login(person(Role.ADMIN))

    answers = {address: client.get(address, QUERY_STRING=asked).status_code for address, _each in ALL}

    assert {address: status for address, status in answers.items() if status != 400} == {}


def test_a_nul_in_an_address_is_refused_in_the_way_of_api_and_pages(client: Client) -> None:
    client.force_login(person(Role.ADMIN))

    told = client.get(f"{OF_THE_API[0]}?q=%00")
    page = client.get("/no%00page/")
    in_chinese = client.get("/no%00page/", headers={"Accept-Language": "zh-hans"}).content.decode()

    assert told.json() == {"problem": NUL_IN_ADDRESS}
    assert page.status_code == 400
    assert NUL_IN_ADDRESS in page.content.decode() and "To the overview" in page.content.decode()
    assert NUL_IN_ADDRESS not in in_chinese and "(%00)" in in_chinese.replace("\uff08", "(").replace("\uff09", ")")
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]


def test_what_only_looks_like_a_nul_is_text(client: Client) -> None:
    client.force_login(person(Role.ADMIN))

    assert [client.get("/", {"q": text}).status_code for text in ("%00", r"\u0000", "a b", "é")] == [200] * 4
