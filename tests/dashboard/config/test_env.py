import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.env import read_bool, read_database, read_int, read_list, read_redis_url


def test_a_switch_is_yes_or_no_and_nothing_else() -> None:
    assert read_bool({"X": " Yes "}, "X", default=False)
    assert not read_bool({"X": "0"}, "X", default=True)
    assert read_bool({"X": ""}, "X", default=True)
    with pytest.raises(ImproperlyConfigured, match="X is 'perhaps'"):
        read_bool({"X": "perhaps"}, "X", default=True)


@pytest.mark.parametrize("value", ["0", "11", "-1", "1.5", "ten", "٣"])
def test_a_number_outside_of_its_limits_stops_the_start(value: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="it needs a number from 1 to 10"):
        read_int({"X": value}, "X", default=3, low=1, high=10)


def test_what_is_not_given_is_the_default() -> None:
    assert read_int({}, "X", default=3, low=1) == 3
    assert read_int({"X": "7"}, "X", default=3, low=1) == 7
    assert read_list({"X": "a, b,,"}, "X") == ["a", "b"]
    assert read_list({}, "X", default=("c",)) == ["c"]


def test_the_database_is_a_file_unless_an_address_is_given() -> None:
    file = read_database({}, "/var/lib/evenkeel.sqlite3")
    server = read_database({"DATABASE_URL": "postgresql://me:p%40ss@db:5433/shop?sslmode=require"}, "")

    assert (file["ENGINE"], file["NAME"]) == ("django.db.backends.sqlite3", "/var/lib/evenkeel.sqlite3")
    assert server["ENGINE"] == "django.db.backends.postgresql"
    assert (server["NAME"], server["USER"], server["PASSWORD"], server["HOST"], server["PORT"]) == (
        *("shop", "me", "p@ss"),
        *("db", "5433"),
    )
    assert server["OPTIONS"] == {"connect_timeout": 10, "sslmode": "require"}


def test_a_file_can_be_named() -> None:
    assert read_database({"DATABASE_URL": "sqlite:///data/my%20file"}, "")["NAME"] == "/data/my file"


@pytest.mark.parametrize("url", ["mysql://db/shop", "shop", "postgresql://db/shop?color=red"])
def test_an_address_of_no_database_stops_the_start(url: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="DATABASE_URL"):
        read_database({"DATABASE_URL": url}, "")


def test_redis_is_on_this_machine_unless_an_address_is_given() -> None:
    assert read_redis_url({}) == "redis://127.0.0.1:6379/0"
    assert read_redis_url({"REDIS_URL": "rediss://r:1/2"}) == "rediss://r:1/2"
    with pytest.raises(ImproperlyConfigured, match="REDIS_URL must begin with"):
        read_redis_url({"REDIS_URL": "http://r"})
