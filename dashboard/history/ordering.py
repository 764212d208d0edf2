"""A run on demand: who may ask for one, of which reports, and why not; it goes into the queue of the worker for jobs.

Runs bring a report up to date with all days there are: only what is new is read, so there are no days to choose.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from django.db import transaction
from django.utils.translation import gettext as _
from kombu.exceptions import OperationalError

from dashboard.audit.operations import append
from dashboard.clusters.exporting import file_name
from dashboard.common.fields import printable
from dashboard.history import asked
from dashboard.history.asked import Asked, Standing
from dashboard.history.jobs import LOGS, clusters_in
from dashboard.history.tasks import run_history_jobs
from dashboard.people.roles import Access, Role
from rebalance_engine.pipeline import java

ALL = ""  # reports, as a form says it
VERB = "order a report"
LONGEST_REASON = 500


class Refused(Exception):
    """It is not ordered; the message says why, for people, and ``status`` of HTTP for programs."""

    def __init__(self, why: str, *, status: int = 409) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where reports come from, and where they lie."""

    history: Path
    reports: Path
    has_logs: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What somebody wants: the report of this name, as its folder is called, or all."""

    name: str = ALL
    reason: str


@dataclass(frozen=True, slots=True)
class Choice:
    """One report, or all of them, that a person may order; ``title`` is the cluster's name, empty for the others."""

    name: str
    title: str


def choices(*, access: Access, clusters: Iterable[str], sources: Sources) -> list[Choice]:
    """Give what a person may order: of clusters that have history, and of logs where some are to be read.

    A report tells all groups of its cluster: who orders it is an operator of all of them, and of all clusters for the
    logs, as nobody knows of which cluster they are.
    """
    titles, there = {file_name(name): name for name in clusters}, clusters_in(sources.history)
    everything = _may_everything(access)
    mine = [
        Choice(name, titles.get(name, name))
        for name in there
        if everything or (name in titles and access.may_everywhere(Role.OPERATOR, cluster=titles[name]))
    ]
    if not everything:
        return mine
    logs = [Choice(LOGS, "")] if sources.has_logs else []
    several = [Choice(ALL, "")] if len(mine) + len(logs) > 1 else []
    return [*several, *mine, *logs]


def obstacle_to_ordering(*, access: Access, clusters: Iterable[str]) -> str:
    """Say why a person may order no report at all; empty: may."""
    if _may_everything(access) or any(access.may_everywhere(Role.OPERATOR, cluster=name) for name in clusters):
        return ""
    has = access.highest()
    values = {"where": _("for all groups of a cluster"), "has": has.value if has else _("none")}
    return _("This needs the role operator %(where)s; you have %(has)s.") % values


def obstacle_to_running(*, sources: Sources, offered: Sequence[Choice], now: int) -> str:
    """Say why no run can be ordered now, whoever wants it; empty: one can."""
    trouble = spark_trouble()
    if trouble:
        return _("Spark is off: %(why)s.") % {"why": trouble}
    if not offered:
        return _("There is nothing to read yet: no history, and no folder of RocketMQ's logs.")
    found = asked.standing(sources.reports, now=now)
    return "" if found.is_idle else _what_is_under_way(found)


def order(*, wish: Wish, access: Access, clusters: Sequence[str], sources: Sources, now: int) -> Asked:
    """Put a run into the queue, for the worker that carries out one at a time; the audit log has it.

    Raises:
        Refused: not by this person, not without a reason, or not now.
    """
    obstacle = obstacle_to_ordering(access=access, clusters=clusters)
    if obstacle:
        raise Refused(obstacle, status=403)
    reason = _reason(wish.reason)
    offered = choices(access=access, clusters=clusters, sources=sources)
    obstacle = obstacle_to_running(sources=sources, offered=offered, now=now)
    if obstacle:
        raise Refused(obstacle)
    if wish.name not in {choice.name for choice in offered} and (wish.name != ALL or not _may_everything(access)):
        names = ", ".join(choice.name for choice in offered if choice.name != ALL)
        if not wish.name:
            raise Refused(
                _("You may not order all reports at once; there is: %(names)s.") % {"names": names}, status=422
            )
        values = {"name": wish.name[:200], "names": names}
        raise Refused(_("There is no report %(name)s that you may order; there is: %(names)s.") % values, status=422)
    return put_into_queue(
        only=wish.name or None, reason=reason, author=printable(access.name), sources=sources, now=now
    )


def put_into_queue(*, only: str | None, reason: str, author: str, sources: Sources, now: int) -> Asked:
    """Keep it, write it down in the audit log, and put it into the queue: all of it or nothing.

    Raises:
        Refused: one is under way, or the queue does not answer.
    """
    wanted = Asked(number=uuid.uuid4().hex, only=only, author=author, reason=reason, asked_at=now)
    found = asked.keep(sources.reports, wanted)
    if found is not None:
        raise Refused(_what_is_under_way(found))
    try:
        with transaction.atomic():
            append(at=now, author=author, verb=VERB, subject=only or "all reports", detail={"reason": reason})
            run_history_jobs.apply_async(kwargs={"number": wanted.number}, expires=asked.GOOD_FOR_S, retry=False)
    except BaseException as error:
        asked.end(sources.reports, wanted.number)
        if isinstance(error, OperationalError):
            raise Refused(_("The queue of jobs does not answer; nothing was ordered.")) from error
        raise
    return wanted


@cache
def spark_trouble() -> str | None:
    """Say why Spark cannot run on this machine; None where it can. As ``manage.py up``, asked once in a process."""
    return java.spark_trouble()


def _may_everything(access: Access) -> bool:
    return any(
        scope.clusters == "*" and scope.groups == "*" and scope.role.includes(Role.OPERATOR) for scope in access.scopes
    )


def _reason(words: str) -> str:
    reason = printable(words).strip()
    if not reason:
        raise Refused(_("It needs a reason: whoever reads the audit log wants to know why."), status=422)
    if len(reason) > LONGEST_REASON:
        values = {"n": len(reason), "most": LONGEST_REASON}
        raise Refused(_("The reason has %(n)s characters; it may have %(most)s.") % values, status=422)
    return reason


def _what_is_under_way(found: Standing) -> str:
    if found.asked is None:
        return _("A run is at work; one at a time.")
    words = (
        _("The run that %(who)s ordered is at work; one at a time.")
        if found.asked.begun_at is not None
        else _("The run that %(who)s ordered waits for the worker for jobs; one at a time.")
    )
    return words % {"who": found.asked.author}
