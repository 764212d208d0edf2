"""What must be there before pages can be served: tables, static files, the first admin, the clusters."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from django.contrib.staticfiles.finders import get_finders
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor

from dashboard.clusters.models import Cluster
from dashboard.config.supervising.children import DEMO_CLUSTER

Say = Callable[[str], None]
STAMP = ".made-from"


def prepare_tables(say: Say) -> None:
    """Bring the tables up to date."""
    executor = MigrationExecutor(connection)
    plan = executor.migration_plan(executor.loader.graph.leaf_nodes())
    if plan:
        say(f"preparing the database: {len(plan)} steps")
        call_command("migrate", interactive=False, verbosity=0)


def prepare_static_files(folder: Path, say: Say) -> None:
    """Collect the static files, unless those that are there were made of the same."""
    stamp = folder / STAMP
    made_of = fingerprint(_sources())
    if stamp.is_file() and stamp.read_text() == made_of:
        return
    say("collecting static files")
    stamp.unlink(missing_ok=True)
    call_command("collectstatic", interactive=False, verbosity=0, clear=folder.is_dir())
    stamp.write_text(made_of)


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """The cluster that was asked for at the start."""

    name: str
    namesrv: str
    is_demo: bool
    is_read_only: bool


def put_cluster(asked: Asked, now: int) -> None:
    """Let there be the cluster that was asked for, at the address that it has now.

    Raises:
        ValueError: a cluster of this name is another one: a demo, or none.
    """
    with transaction.atomic():
        there = Cluster.objects.select_for_update().filter(name=asked.name).first()
        if there is None:
            Cluster.objects.create(
                name=asked.name,
                namesrv=asked.namesrv,
                is_demo=asked.is_demo,
                is_read_only=asked.is_read_only,
                added_at=now,
            )
            return
        if there.is_demo != asked.is_demo:
            kind = "the demo" if there.is_demo else "a real cluster"
            raise ValueError(f"the cluster {asked.name!r} of this home is {kind}; give the new one another name")
        Cluster.objects.filter(pk=there.pk).update(namesrv=asked.namesrv, is_read_only=asked.is_read_only)


def clusters_to_watch(*, has_demo: bool) -> dict[str, bool]:
    """Give the names of the clusters that need a watcher here, and whether each is the demo."""
    rows = Cluster.objects.values_list("name", "is_demo").order_by("pk")
    return {name: is_demo for name, is_demo in rows if not is_demo or (has_demo and name == DEMO_CLUSTER)}
