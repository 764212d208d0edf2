"""The last runs as a page shows them: only those that this person may see, each with how it ended."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dashboard.clusters.exporting import file_name
from dashboard.history.jobs import LOGS, SOMETHING_MISSED
from dashboard.people.roles import Access, Role

SPARK_OFF = 3
ENDS: dict[int | None, str] = {
    0: "done",
    SOMETHING_MISSED: "missed",
    SPARK_OFF: "off",
}  # all others did not come to their end


@dataclass(frozen=True, slots=True)
class Run:
    """How the last run of one report ended.

    Attributes:
        name: of its folder; title: the cluster's name, empty for RocketMQ's own logs.
        end: done; missed: something was not read, or refused; off: there is no Spark; failed: anything else.
        at, finished_at: in ms; finished_at of the last run that came to its end, None where none has.
        summary: of this run; None where it has none.
        said: what it said at its end.
        has_page: whether there is a page to open, perhaps of an earlier run.
    """

    name: str
    title: str
    end: str
    at: int | None
    finished_at: int | None
    summary: str | None
    said: str
    has_page: bool


def runs_of(
    kept: Mapping[str, Mapping[str, object]], *, clusters: Iterable[str], access: Access, pages: Iterable[str]
) -> list[Run]:
    """Give the runs that a person may see, RocketMQ's own logs last.

    A report tells all groups: it is for those who may see all of its cluster. Of which cluster logs are nobody knows;
    they are for those who may see everything, as is what is left of a cluster that is there no more.

    Args:
        kept: as ``jobs.last_runs`` gives it.
        clusters: the names of those that there are.
        pages: the names of the folders that have one.
    """
    titles, with_page = {file_name(name): name for name in clusters}, {*pages}
    return [
        _run(name, titles.get(name, "" if name == LOGS else name), kept[name], has_page=name in with_page)
        for name in sorted(kept, key=lambda name: (name == LOGS, name))
        if _may_see(access, titles.get(name))
    ]


def may_see(access: Access, name: str | None, *, clusters: Iterable[str]) -> bool:
    """Ask whether a person may see the report of this name, as its folder is called; None is all of them."""
    return _may_see(access, {file_name(cluster): cluster for cluster in clusters}.get(name or ""))


def _may_see(access: Access, cluster: str | None) -> bool:
    return access.may_see_everything() or (cluster is not None and access.may_everywhere(Role.VIEWER, cluster=cluster))


def _run(name: str, title: str, one: Mapping[str, object], *, has_page: bool) -> Run:
    summary = one.get("summary")
    return Run(
        name=name,
        title=title,
        end=end_of(one),
        at=_number(one.get("at")),
        finished_at=_number(one.get("finished_at")),
        summary=None if summary is None else str(summary),
        said=str(one.get("said") or "").strip(),
        has_page=has_page,
    )


def end_of(one: Mapping[str, object]) -> str:
    """Say in a word of ``ENDS`` how a run ended, of what ``jobs.run_jobs`` keeps of it."""
    end = ENDS.get(_number(one.get("status")), "failed")
    is_finished = one.get("at") is not None and one.get("at") == one.get("finished_at")
    return "failed" if end == "missed" and not is_finished else end


def _number(value: object) -> int | None:
    return value if isinstance(value, int) else None
