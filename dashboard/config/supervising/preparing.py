"""What must be there before pages can be served: tables, static files, the first admin, the clusters.

The supervisor itself never loads Django before the first page: this is imported in the process that prepares.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path

from django.conf import settings
from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.core.management.commands import migrate
from django.db import DatabaseError, connection, connections, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.migrations.executor import MigrationExecutor
from redis import Redis
from redis.exceptions import RedisError

from dashboard.clusters import changing, leases
from dashboard.clusters.models import ASIDE, Cluster
from dashboard.common.clock import now_ms
from dashboard.config.env import without_password
from dashboard.config.home import ROOT
from dashboard.config.opening import unopened
from dashboard.config.supervising.children import DEMO_CLUSTER, AskedCluster
from dashboard.config.supervising.preparer import Teller, Unprepared
from dashboard.people.operations import FIRST_ADMIN, make_first_admin

STAMP = ".made-from"
BEGINNING = "apply_start"
AUTHOR = "manage.py up"  # in the audit log
COMPILES = (sys.executable, "-m", "dashboard.common.catalogues")  # a process of its own: what reads words stays there
COMPILES_WITHIN_S = 60
REDIS_WITHIN_S = 10.0  # one that starts with the machine, or beside this in a container, takes some seconds
ANSWERS_WITHIN_S = 2.0


def prepare(asked: AskedCluster, told: Teller) -> dict[str, bool]:
    """Prepare everything, static files beside the tables; give the clusters to watch, as ``clusters_to_watch`` does."""
    prepare_words(Path(settings.LOCALE_PATHS[0]), told)
    check_database(connection, os.environ.get("DATABASE_URL", "").strip())
    check_redis(os.environ.get("REDIS_URL", "").strip(), told)
    static = multiprocessing.get_context("fork").Process(
        target=prepare_static_files, args=(Path(settings.STATIC_ROOT), told)
    )
    static.start()
    prepare_tables(told)
    told.show("entries", "doing")
    put_cluster(asked, now_ms())
    password = make_first_admin(now=now_ms())
    if password is not None:
        told.say(f"log in as {FIRST_ADMIN} with the password {password}  (shown this once)")
    told.show("entries", "done")
    static.join()
    if static.exitcode:
        raise RuntimeError("the static files could not be collected; why stands above")
    return clusters_to_watch(has_demo=asked.is_demo)


def prepare_words(folder: Path, told: Teller, *, program: Sequence[str] = COMPILES) -> None:
    """Compile the words of pages in other languages where that was not done since they changed: a clone has none.

    Before anything else: nothing has read them yet. Where it cannot be done pages are in English, and it says so.
    """
    if not any(_is_older(path.with_suffix(".mo"), path) for path in folder.glob("*/LC_MESSAGES/*.po")):
        return
    told.say("compiling the words of pages in other languages")
    try:
        done = subprocess.run(program, capture_output=True, text=True, timeout=COMPILES_WITHIN_S, cwd=ROOT, check=False)
        trouble = (
            "" if done.returncode == 0 else (done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1]
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        trouble = str(error)
    if trouble:
        told.say(f"they could not be compiled, so that pages in other languages are partly English: {trouble[:300]}")


def _is_older(compiled: Path, words: Path) -> bool:
    return not compiled.is_file() or compiled.stat().st_mtime_ns < words.stat().st_mtime_ns


def check_database(database: BaseDatabaseWrapper, url: str) -> None:
    """Open the database as Django does, which refuses old servers; it is closed again: a process is forked off next.

    Args:
        url: as it was given; empty for the file in the home.

    Raises:
        Unprepared: that cannot be done; it says what was seen and what is needed, without a password.
    """
    try:
        with database.cursor() as cursor:
            cursor.execute("BEGIN IMMEDIATE" if database.vendor == "sqlite" else "BEGIN")
            cursor.execute("ROLLBACK")
    except DatabaseError as error:
        raise Unprepared(unopened(database.settings_dict, url, error)) from None
    finally:
        database.close()


def check_redis(url: str, told: Teller, *, within_s: float = REDIS_WITHIN_S) -> None:
    """Ask a Redis that somebody else starts whether it is there; it may be starting, too.

    Args:
        url: as it was given; empty for one of the installation's own.
        within_s: after so long it is not.

    Raises:
        Unprepared: it does not answer; it says what was seen and what is needed, without a password.
    """
    if not url:
        return
    gives_up_at = time.monotonic() + within_s
    timeouts = {"socket_timeout": ANSWERS_WITHIN_S, "socket_connect_timeout": ANSWERS_WITHIN_S}
    with Redis.from_url(url, **timeouts, retry=None) as there:
        while trouble := _trouble_of(there):
            if time.monotonic() >= gives_up_at:
                raise Unprepared(f"REDIS_URL is {without_password(url)!r}: {trouble}; a Redis needs to answer there")
            told.say(f"waiting for Redis at {without_password(url)}")
            time.sleep(1)


def _trouble_of(redis: Redis) -> str:
    try:
        redis.ping()
    except RedisError as error:
        return str(error) or type(error).__name__
    return ""


def prepare_tables(told: Teller) -> None:
    """Bring the tables up to date."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        told.say(f"preparing the database: {len(plan)} steps")
        call_command(_Migrate(told, len(plan)), interactive=False, verbosity=0)
    told.show("tables", "done")


class _Migrate(migrate.Command):
    """Django's own command, which tells each step."""

    def __init__(self, told: Teller, steps: int) -> None:
        super().__init__()
        self._told = told
        self._steps = steps
        self._begun = 0

    def migration_progress_callback(self, action: str, *_of_django: object) -> None:
        """Hear from Django that a step begins, or ends."""
        if action == BEGINNING:
            self._begun += 1
            self._told.show("tables", "doing", self._begun, self._steps)


def prepare_static_files(folder: Path, told: Teller) -> None:
    """Collect the static files, unless those that are there were made of the same."""
    stamp = folder / STAMP
    made_of = fingerprint(_sources())
    if not stamp.is_file() or stamp.read_text() != made_of:
        told.say("collecting static files")
        told.show("static", "doing")
        stamp.unlink(missing_ok=True)
        call_command("collectstatic", interactive=False, verbosity=0, clear=folder.is_dir())
        stamp.write_text(made_of)
    told.show("static", "done")


def _sources() -> Iterable[tuple[str, Path]]:
    for finder in get_finders():
        for name, storage in finder.list(["CVS", ".*", "*~"]):
            yield name, Path(storage.path(name))


def fingerprint(files: Iterable[tuple[str, Path]]) -> str:
    """Make one word of files' names, sizes and times of change."""
    digest = hashlib.sha256()
    for name, path in sorted(files):
        seen = path.stat()
        digest.update(f"{name}\0{path}\0{seen.st_size}\0{seen.st_mtime_ns}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def put_cluster(asked: AskedCluster, now: int) -> None:
    """Let there be the cluster that was asked for, at the address that it has now.

    What that changes of a real cluster is a person's order, and so in the audit log. A demo of an earlier start that
    does not run now is put aside: nothing of it is true any more.

    Raises:
        Unprepared: a cluster of this name is another one: a demo, or none.
    """
    with transaction.atomic():
        name = asked.name if asked.is_named else known_name(asked)
        mine = Cluster.objects.filter(name=name)
        leases.put_aside(clusters=Cluster.objects.filter(is_demo=True).exclude(name=name))
        leases.expect(clusters=mine)
        there = mine.select_for_update().first()
        if there is not None and there.is_demo != asked.is_demo:
            kind = "the demo" if there.is_demo else "a real cluster"
            raise Unprepared(f"the cluster {name!r} of this home is {kind}; give the new one another name")
        namesrv, is_read_only = asked.namesrv, asked.is_read_only
        if asked.is_demo:
            place = {"namesrv": namesrv, "is_read_only": is_read_only}
            new = {**place, "is_demo": True, "added_at": now}
            Cluster.objects.update_or_create(name=name, defaults=place, create_defaults=new)
        elif there is None:
            cluster = Cluster(name=name, namesrv=namesrv, is_read_only=is_read_only)
            changing.add(cluster=cluster, by=_author(asked, now))
        else:
            by = _author(asked, now)
            changing.change(cluster=there.pk, namesrv=namesrv, is_read_only=is_read_only, by=by)


def known_name(asked: AskedCluster) -> str:
    """Name a cluster that nobody named: as the one with these addresses, in any order, is called here already.

    Any other is called by its first NameServer: whoever adds one to the list after that looks at the same cluster.
    """
    rows = Cluster.objects.filter(is_demo=False).order_by("pk").values_list("name", "namesrv")
    return next((name for name, namesrv in rows if _addresses(namesrv) == _addresses(asked.namesrv)), asked.name)


def _addresses(namesrv: str) -> set[str]:
    return {address.strip() for address in namesrv.split(";")} - {""}


def _author(asked: AskedCluster, now: int) -> changing.Author:
    writable = ", without --writable" if asked.is_read_only else " --writable"
    return changing.Author(name=AUTHOR, reason=f"started with --namesrv {asked.namesrv}{writable}", now=now)


def clusters_to_watch(*, has_demo: bool) -> dict[str, bool]:
    """Give the names of the clusters that need a watcher here, and whether each is the demo.

    A real one that was put aside needs none.
    """
    rows = Cluster.objects.exclude(ASIDE, is_demo=False).values_list("name", "is_demo").order_by("pk")
    return {name: is_demo for name, is_demo in rows if not is_demo or (has_demo and name == DEMO_CLUSTER)}


def clusters_now(*, has_demo: bool) -> dict[str, bool] | None:
    """Give them from any thread; None where the database does not answer now."""
    try:
        return clusters_to_watch(has_demo=has_demo)
    except DatabaseError:
        return None
    finally:
        connections.close_all()
