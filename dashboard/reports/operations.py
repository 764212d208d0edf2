"""Taking a report: once, whole or not at all."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from django.db import transaction

from dashboard.audit.operations import append
from dashboard.clusters.models import Cluster, Command, CommandReceipt
from dashboard.common.fields import printable
from dashboard.common.names import known_as
from dashboard.groups.ending import tell_again
from dashboard.groups.operations import Recorded, record
from dashboard.reports.models import Report, ReportToken
from dashboard.reports.reading import BEHIND_MS, Said, Unacceptable, admit, read
from dashboard.reports.standing import check_standing
from dashboard.reports.tokens import note_use
from rebalance_engine.events import CommandFinished, CommandOrdered, MemberLeft, QueueDropped, QueuePulled, QueueTaken
from rebalance_engine.events import CommandReceipt as ReceiptFact

LONGEST_VERB = 40


class Conflict(Unacceptable):
    """The id is that of another report."""

    status = 409


@dataclass(frozen=True, slots=True)
class Taken:
    """What came of a report: its facts, those that said something new, and whether it was there before."""

    report: str
    facts: int
    stored: int
    was_there: bool


def take(*, token: ReportToken, body: bytes, now: int) -> Taken:
    """Take a report: its facts are recorded as those of a watcher are; exact ones replace bounds.

    Raises:
        Unacceptable: with the status of the answer; nothing was stored.
    """
    said = admit(read(body), cluster=token.cluster.name, group=token.group_name, now=now)
    digest = hashlib.sha256(body).hexdigest()
    with transaction.atomic():
        cluster = Cluster.objects.select_for_update(no_key=True).get(pk=token.cluster_id)  # one of two comes second
        mine = Report.objects.filter(cluster=cluster, group_name=token.group_name, report_id=said.report)
        before = mine.first()
        if before is not None:
            if before.digest != digest:
                raise Conflict(f"report {said.report!r} was taken before with another content; needed is a new id")
            return Taken(said.report, before.facts, before.stored, was_there=True)
        check_standing(cluster=cluster, said=said, now=now)
        recorded = record(cluster=cluster.name, facts=said.facts, now=now)
        if isinstance(said.facts[0], CommandOrdered):
            _keep_command(cluster, said, now)
        _tell_again(said, recorded, now)
        note_use(token=token, now=now)
        Report.objects.filter(at__lt=now - 2 * BEHIND_MS).delete()  # their facts are too old by now
        Report.objects.create(
            cluster=cluster,
            group_name=token.group_name,
            report_id=said.report,
            digest=digest,
            reporter=known_as(said.reporter),
            facts=len(said.facts),
            stored=recorded.facts,
            at=now,
        )
    return Taken(said.report, len(said.facts), recorded.facts, was_there=False)


def _tell_again(said: Said, recorded: Recorded, now: int) -> None:
    """Let rounds that ended lately be told anew: what was a bound may be exact now."""
    times = [fact.at for fact in said.facts if isinstance(fact, QueueTaken | QueueDropped | QueuePulled | MemberLeft)]
    if times:
        for group in recorded.groups:
            tell_again(group=group, since=min(times), until=max(times), now=now)


def _keep_command(cluster: Cluster, said: Said, now: int) -> None:
    """Keep a command that was carried out elsewhere beside those that were ordered here, and audit it."""
    ordered = said.facts[0]
    assert isinstance(ordered, CommandOrdered)
    finished = next(fact for fact in said.facts if isinstance(fact, CommandFinished))
    if Command.objects.filter(cluster=cluster, reported_as=ordered.command).exists():
        raise Conflict(f"command {ordered.command!r} was reported before; needed is one report for each")
    author = f"{ordered.author} (reported)"
    command = Command.objects.create(
        cluster=cluster,
        verb=printable(ordered.verb)[:LONGEST_VERB],
        group_name=known_as(said.group),
        target=printable(ordered.target or ""),
        author_name=printable(author),
        reason=printable(ordered.reason or ""),
        ordered_at=ordered.at,
        deadline=ordered.deadline,
        finished_at=max(finished.at, ordered.at),
        outcome=finished.outcome.value,
        detail=printable(finished.detail or ""),
        reported_as=known_as(ordered.command),
    )
    receipts = {known_as(fact.client): fact for fact in said.facts if isinstance(fact, ReceiptFact)}
    CommandReceipt.objects.bulk_create(
        CommandReceipt(command=command, client_id=client, answer=fact.answer.value, at=fact.at)
        for client, fact in receipts.items()
    )
    detail = {"command": command.pk, "report": said.report, "reason": ordered.reason, "outcome": finished.outcome.value}
    append(at=now, author=author, verb=ordered.verb, subject=f"{cluster.name} {said.group}", detail=detail)
