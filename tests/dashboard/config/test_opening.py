import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured
from django.db import connection

from dashboard.config.env import read_database
from dashboard.config.opening import try_database

SSL_REQUEST = 80_877_103  # what libpq asks first, in the place of a protocol's version


@contextmanager
def refusing(code: str, message: str) -> Iterator[int]:
    """A PostgreSQL that lets nobody in; give its port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        thread = threading.Thread(target=_refuse, args=(server, f"SFATAL\0VFATAL\0C{code}\0M{message}\0\0".encode()))
        thread.start()
        yield server.getsockname()[1]
        thread.join(10)


def _refuse(server: socket.socket, why: bytes) -> None:
    caller, _ = server.accept()
    with caller, caller.makefile("rwb") as stream:
        while True:
            length, word = struct.unpack("!ii", stream.read(8))
            stream.read(length - 8)
            if word >> 16 == 3:
                break
            stream.write(b"N")
            stream.flush()
        stream.write(b"E" + struct.pack("!i", 4 + len(why)) + why)


def tried(url: str) -> str:
    """Try a database that cannot be opened; give what is said."""
    with pytest.raises(ImproperlyConfigured) as refused:
        try_database(read_database({"DATABASE_URL": url}, ""), url)
    assert "s3cr" not in str(refused.value)
    return str(refused.value)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("28P01", 'password authentication failed for user "me"'),
        ("28P01", 'the word "s3cr:t" does not let in'),
        ("3D000", 'database "shop" does not exist'),
    ],
)
def test_what_a_postgresql_says_is_told_without_the_password(code: str, message: str) -> None:
    with refusing(code, message) as port:
        said = tried(f"postgresql://me:s3cr%3At@127.0.0.1:{port}/shop?sslmode=prefer&gssencmode=disable")

    shown = f"postgresql://me:***@127.0.0.1:{port}/shop?"
    assert said.startswith(f"DATABASE_URL is {shown}")
    assert "; it needs a PostgreSQL that answers there and lets us in: " in said
    assert said.endswith(message.replace("s3cr:t", "***"))


def test_nobody_at_the_address_of_a_postgresql_is_told_at_once() -> None:
    assert "refused" in tried("postgresql://me:s3cret@127.0.0.1:1/shop")


def test_a_file_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear reader, " * 100)
    needed = "it needs a file that can be opened and written: "

    assert tried(f"sqlite:///{tmp_path}") == f"the database is {tmp_path}; {needed}unable to open database file"
    assert tried(f"sqlite:///{tmp_path}/no/db").endswith(f"/no/db; {needed}unable to open database file")
    assert tried(f"sqlite:///{tmp_path}/letter").endswith(f"/letter; {needed}file is not a database")


@pytest.mark.django_db
def test_a_database_that_lets_us_in_is_opened_and_a_file_made(tmp_path: Path) -> None:
    is_file = connection.vendor == "sqlite"
    for _ in range(2):
        try_database(read_database({}, str(tmp_path / "db")) if is_file else connection.settings_dict, "")

    assert (tmp_path / "db").is_file() is is_file
