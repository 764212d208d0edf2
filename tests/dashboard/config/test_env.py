from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from dashboard.config.env import (
    read_bool,
    read_database,
    read_folder,
    read_hosts,
    read_int,
    read_list,
    read_redis_url,
    read_zones,
)


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
    assert read_database({"DATABASE_URL": "sqlite:////data/file"}, "")["NAME"] == "/data/file"


@pytest.mark.parametrize(
    ("url", "seen", "needed"),
    [
        ("mysql://me:s3cr3t@db/shop", "mysql://me:***@db/shop", "it needs to begin with postgresql:// or sqlite:///"),
        ("shop", "shop", "it needs to begin with"),
        ("sqlite://shop.db", "sqlite://shop.db", "with three slashes"),
        ("postgresql://db/shop?color=red", "postgresql://db/shop?color=red", 'invalid URI query parameter: "color"'),
        ("postgresql://me:s3/cr3t@db/shop", "postgresql://me:***@db/shop", "a / in a password is written %2F"),
        ("postgresql://me:s3%00cr3t@db/shop", "postgresql://me:***@db/shop", "forbidden value %00"),
        ("postgresql://db:70000/shop", "postgresql://db:70000/shop", "user:password@host:port/name"),
        ("postgresql://[", "postgresql://[", "IPv6"),
    ],
)
def test_an_address_of_no_database_stops_the_start_and_shows_no_password(url: str, seen: str, needed: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        read_database({"DATABASE_URL": url}, "")

    assert str(refused.value).startswith(f"DATABASE_URL is {seen!r}; ")
    assert needed in str(refused.value)
    assert "cr3t" not in str(refused.value)


def test_several_servers_of_one_database_can_be_named() -> None:
    assert read_database({"DATABASE_URL": "postgresql://east:1,west:2/shop"}, "")["PORT"] == "1,2"


def test_hosts_are_names_and_addresses_as_browsers_name_them() -> None:
    given = "shop.example, .shop.example,10.0.0.1,[::1],keel_1,*"

    assert read_hosts({"X": given}, "X") == ["shop.example", ".shop.example", "10.0.0.1", "[::1]", "keel_1", "*"]


@pytest.mark.parametrize("host", ["https://shop.example", "shop.example:8000", "shop.example/", "a b", "käse.example"])
def test_a_host_that_is_no_name_stops_the_start(host: str) -> None:
    with pytest.raises(
        ImproperlyConfigured, match=r"X has .*; it needs names of hosts as shop.example, without https://"
    ):
        read_hosts({"X": f"east.example,{host}"}, "X")


def test_redis_is_on_this_machine_unless_an_address_is_given() -> None:
    assert read_redis_url({}) == "redis://127.0.0.1:6379/0"
    assert read_redis_url({"REDIS_URL": "rediss://r:1/2"}) == "rediss://r:1/2"


@pytest.mark.parametrize(
    ("url", "seen", "needed"),
    [
        ("http://me:s3cr3t@r", "http://me:***@r", "it needs to begin with redis://, rediss:// or unix://"),
        ("redis://:s3cr3t@r:port/0", "redis://:***@r:port/0", "redis://host:port/number"),
        ("redis://:s3/cr3t@r:1/0", "redis://:***@r:1/0", "a / in a password is written %2F"),
        ("redis://r:1/shop", "redis://r:1/shop", "the number of a database"),
    ],
)
def test_an_address_of_no_redis_stops_the_start_and_shows_no_password(url: str, seen: str, needed: str) -> None:
    with pytest.raises(ImproperlyConfigured) as refused:
        read_redis_url({"REDIS_URL": url})

    assert str(refused.value).startswith(f"REDIS_URL is {seen!r}; ")
    assert needed in str(refused.value)
    assert "cr3t" not in str(refused.value)


def test_a_folder_is_a_whole_path_and_needs_not_be_there() -> None:
    assert read_folder({"F": " /var/logs/rocketmq "}, "F") == Path("/var/logs/rocketmq")
    assert read_folder({"F": ""}, "F") is None
    with pytest.raises(ImproperlyConfigured, match="F is 'logs'; it needs a whole path"):
        read_folder({"F": "logs"}, "F")


def test_zones_are_names_or_offsets_by_host() -> None:
    given = {"Z": "web1=Asia/Shanghai, web2=-05:30"}

    assert read_zones(given, "Z") == {"web1": "Asia/Shanghai", "web2": "-05:30"}
    assert read_zones({}, "Z") == {}


@pytest.mark.parametrize("zones", ["web1", "=UTC", "web1=Mars/Olympus", "web1=../etc/passwd", "web1=+8", "web1="])
def test_a_zone_that_is_none_stops_the_start(zones: str) -> None:
    with pytest.raises(ImproperlyConfigured, match="it needs HOST=ZONE"):
        read_zones({"Z": zones}, "Z")
