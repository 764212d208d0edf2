import gettext
import json
import sys
from pathlib import Path

import pytest
from django.conf import settings
from django.core.management import call_command
from django.db.utils import ConnectionHandler
from django.test import override_settings

from dashboard.audit.models import AuditEntry
from dashboard.clusters.leases import put_aside, take
from dashboard.clusters.models import ASIDE, Cluster
from dashboard.common import catalogues
from dashboard.config.env import read_database
from dashboard.config.supervising.children import AskedCluster
from dashboard.config.supervising.preparer import Teller, Unprepared
from dashboard.config.supervising.preparing import (
    COMPILES,
    STAMP,
    check_database,
    check_redis,
    clusters_to_watch,
    fingerprint,
    prepare_static_files,
    prepare_tables,
    prepare_words,
    put_cluster,
)
from tests.dashboard.story import T0

DEMO = AskedCluster(name="demo", namesrv="127.0.0.1:15000", is_demo=True, is_read_only=False)
SHOP = AskedCluster(name="shop", namesrv="10.0.0.1:9876", is_demo=False, is_read_only=True)
WORDS = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\nmsgid "queue"\nmsgstr "队列"\n'


class Told(Teller):
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.said: list[str] = []
        self.shown: list[tuple[str, str, int, int | None]] = []

    def say(self, text: str) -> None:
        self.said.append(text)

    def show(self, step: str, state: str, at: int = 0, of: int | None = None) -> None:
        self.shown.append((step, state, at, of))


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("url", "word"),
    [
        ("sqlite:///{home}", "the database is {home}; it needs a file that can be opened and written: unable to open"),
        ("sqlite:///{home}/letter", "the database is {home}/letter; it needs .*: file is not a database"),
        ("sqlite:///{home}/none/db", "the database is {home}/none/db; it needs .*: unable to open database file"),
        (
            "postgresql://me:s3cr3t@127.0.0.1:1/shop",
            r"DATABASE_URL is postgresql://me:\*\*\*@127.0.0.1:1/shop; it needs a PostgreSQL that answers .*refused",
        ),
    ],
)
def test_a_database_that_cannot_be_opened_is_named_without_its_password(url: str, word: str, tmp_path: Path) -> None:
    (tmp_path / "letter").write_text("Dear reader, " * 100)
    given = url.format(home=tmp_path)
    database = ConnectionHandler({"default": read_database({"DATABASE_URL": given}, "")})["default"]

    with pytest.raises(Unprepared, match=word.format(home=tmp_path)) as refused:
        check_database(database, given)

    assert "s3cr3t" not in str(refused.value)


@pytest.mark.django_db
def test_a_database_that_is_there_is_opened_and_closed_again(tmp_path: Path) -> None:
    database = ConnectionHandler({"default": read_database({}, str(tmp_path / "db"))})["default"]

    check_database(database, "")

    assert database.connection is None
    assert (tmp_path / "db").is_file()


def test_a_redis_that_does_not_answer_is_named_without_its_password() -> None:
    with pytest.raises(Unprepared, match=r"REDIS_URL is 'redis://me:\*\*\*@127.0.0.1:1/0': .*refused") as seen:
        check_redis("redis://me:s3cr3t@127.0.0.1:1/0", Told(), within_s=0)

    assert "s3cr3t" not in str(seen.value)


def test_a_redis_that_starts_later_is_waited_for(redis_server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    troubles, told = ["refused", ""], Told()
    monkeypatch.setattr("dashboard.config.supervising.preparing._trouble_of", lambda _: troubles.pop(0))
    monkeypatch.setattr("time.sleep", lambda _: None)

    check_redis(redis_server, told)

    assert troubles == []
    assert told.said == [f"waiting for Redis at {redis_server}"]


def test_a_redis_that_is_there_and_one_of_its_own_are_not_waited_for(redis_server: str) -> None:
    told = Told()

    check_redis(redis_server, told, within_s=0)
    check_redis("", told, within_s=0)

    assert told.said == []


def test_words_of_a_clone_are_compiled_once(tmp_path: Path) -> None:
    words = tmp_path / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
    words.parent.mkdir(parents=True)
    words.write_text(WORDS)
    compiles = "import sys; from pathlib import Path; from dashboard.common.catalogues import compile_into\n"
    compiles += "folder = Path(sys.argv[1]); list(compile_into(folder, source=folder))"
    told = Told()

    for _start in range(2):
        prepare_words(tmp_path / "locale", told, program=(sys.executable, "-c", compiles, str(tmp_path / "locale")))

    with words.with_suffix(".mo").open("rb") as file:
        assert gettext.GNUTranslations(file).gettext("queue") == "队列"
    assert told.said == ["compiling the words of pages in other languages"]


@pytest.mark.parametrize("program", [("/bin/false",), ("/not/there",)], ids=["fails", "not there"])
def test_words_that_cannot_be_compiled_are_told_of_and_hold_nothing_up(tmp_path: Path, program: tuple[str]) -> None:
    words = tmp_path / "zh_Hans" / "LC_MESSAGES" / "django.po"
    words.parent.mkdir(parents=True)
    words.write_text(WORDS)
    told = Told()

    prepare_words(tmp_path, told, program=program)

    assert "they could not be compiled" in told.said[-1]


def test_what_is_started_compiles_the_words_of_the_pages() -> None:
    assert [*COMPILES[1:]] == ["-m", catalogues.__name__]
    assert Path(settings.LOCALE_PATHS[0]) == catalogues.FOLDER


@pytest.mark.django_db
def test_tables_that_are_up_to_date_are_left_alone() -> None:
    told = Told()

    prepare_tables(told)

    assert (told.said, told.shown) == ([], [("tables", "done", 0, None)])


@pytest.mark.django_db(transaction=True)
def test_each_step_of_the_tables_is_shown() -> None:
    call_command("migrate", "audit", "0001", verbosity=0)
    told = Told()

    prepare_tables(told)

    assert told.said == [f"preparing the database: {len(told.shown) - 1} steps"]
    of = len(told.shown) - 1
    assert told.shown == [*(("tables", "doing", at + 1, of) for at in range(of)), ("tables", "done", 0, None)]


def test_static_files_are_collected_once(tmp_path: Path) -> None:
    told = Told()
    with override_settings(STATIC_ROOT=tmp_path / "static"):
        for _ in range(2):
            prepare_static_files(tmp_path / "static", told)

        assert told.said == ["collecting static files"]
        assert (tmp_path / "static" / "admin").is_dir()

        (tmp_path / "static" / STAMP).write_text("made of something else")
        prepare_static_files(tmp_path / "static", told)
        assert len(told.said) == 2


def test_a_file_that_changed_changes_the_fingerprint(tmp_path: Path) -> None:
    file = tmp_path / "a.css"
    file.write_text("a {}")
    before = fingerprint([("a.css", file)])

    assert fingerprint([("a.css", file)]) == before
    file.write_text("a { color: red }")
    assert fingerprint([("a.css", file)]) != before


@pytest.mark.django_db
def test_a_cluster_is_added_once_and_found_again_at_its_new_address() -> None:
    put_cluster(DEMO, T0)
    put_cluster(AskedCluster(name="demo", namesrv="127.0.0.1:16000", is_demo=True, is_read_only=False), T0 + 1)

    row = Cluster.objects.get()
    assert (row.namesrv, row.is_demo, row.is_read_only, row.added_at) == ("127.0.0.1:16000", True, False, T0)


@pytest.mark.django_db
def test_what_an_option_changes_of_a_cluster_is_in_the_audit_log_once() -> None:
    moved = AskedCluster(name="shop", namesrv="10.0.0.2:9876", is_demo=False, is_read_only=False)
    for at, asked in enumerate((SHOP, SHOP, moved, moved)):
        put_cluster(asked, T0 + at)

    row = Cluster.objects.get()
    assert (row.namesrv, row.is_read_only, row.added_at) == ("10.0.0.2:9876", False, T0)
    added, changed = AuditEntry.objects.order_by("number")
    assert (added.author, added.verb, added.subject, added.at) == ("manage.py up", "add a cluster", "shop", T0)
    assert json.loads(added.detail)["reason"] == "started with --namesrv 10.0.0.1:9876, without --writable"
    assert (changed.author, changed.verb, changed.subject, changed.at) == (
        *(added.author, "change a cluster"),
        "shop",
        T0 + 2,
    )
    assert json.loads(changed.detail) == {
        "reason": "started with --namesrv 10.0.0.2:9876 --writable",
        "namesrv": {"before": "10.0.0.1:9876", "after": "10.0.0.2:9876"},
        "read only": {"before": True, "after": False},
    }


@pytest.mark.django_db
def test_where_the_demo_is_this_time_is_nobodys_order() -> None:
    put_cluster(DEMO, T0)
    put_cluster(AskedCluster(name="demo", namesrv="127.0.0.1:16000", is_demo=True, is_read_only=False), T0 + 1)

    assert not AuditEntry.objects.exists()


@pytest.mark.django_db
def test_a_cluster_that_nobody_named_is_called_by_its_first_name_server_or_as_it_is_called_here_already() -> None:
    def put(namesrv: str, name: str | None = None) -> list[tuple[str, str]]:
        called = name or namesrv.partition(";")[0]
        asked = AskedCluster(name=called, namesrv=namesrv, is_demo=False, is_read_only=True, is_named=name is not None)
        put_cluster(asked, T0)
        return list(Cluster.objects.order_by("pk").values_list("name", "namesrv"))

    one = put("a:9876")
    assert one == [("a:9876", "a:9876")]
    assert put("a:9876;b:9876") == [("a:9876", "a:9876;b:9876")]  # the same one has another NameServer
    assert put("b:9876;a:9876") == [("a:9876", "b:9876;a:9876")]
    put("c:1;d:1", "c:1;d:1")  # as it was called before
    put("e:1", "shop")
    assert put("d:1;c:1") == [("a:9876", "b:9876;a:9876"), ("c:1;d:1", "d:1;c:1"), ("shop", "e:1")]
    assert put("e:1")[2:] == [("shop", "e:1")]
    assert put("f:1;g:1")[3:] == [("f:1", "f:1;g:1")]


@pytest.mark.django_db
def test_a_real_cluster_cannot_take_the_place_of_the_demo() -> None:
    put_cluster(DEMO, T0)

    with pytest.raises(Unprepared, match="'demo' of this home is the demo; give the new one another name"):
        put_cluster(AskedCluster(name="demo", namesrv="10.0.0.1:9876", is_demo=False, is_read_only=True), T0)


@pytest.mark.django_db
def test_a_demo_that_does_not_run_is_put_aside_until_it_does_again() -> None:
    put_cluster(DEMO, T0)
    take(cluster="demo", holder="a:1", now=T0)

    put_cluster(SHOP, T0 + 1)
    assert [each.name for each in Cluster.objects.filter(ASIDE)] == ["demo"]

    put_cluster(DEMO, T0 + 2)
    assert not Cluster.objects.filter(ASIDE).exists()  # and the shop is watched still


@pytest.mark.django_db
def test_the_demo_is_watched_only_where_it_runs() -> None:
    put_cluster(DEMO, T0)
    put_cluster(SHOP, T0)

    assert clusters_to_watch(has_demo=True) == {"demo": True, "shop": False}
    assert clusters_to_watch(has_demo=False) == {"shop": False}
    put_aside(clusters=Cluster.objects.filter(name="shop"))
    assert clusters_to_watch(has_demo=False) == {}
