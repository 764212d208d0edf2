"""Dry runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from ninja import Query, Schema
from pydantic import Field

from dashboard.api.errors import Problem
from dashboard.api.site import reads
from dashboard.common.clock import now_ms
from dashboard.common.tables import attached
from dashboard.groups.views import find_group
from dashboard.plans import answers
from dashboard.plans.costs import expected_costs
from dashboard.plans.earlier import earlier_of
from dashboard.plans.queries import read_group
from dashboard.plans.questions import BadQuestion, read_question
from dashboard.plans.tables import MOVES, TABLES, file_name, only
from dashboard.plans.trying import try_out


class DryRunAsked(Schema):
    """What would be otherwise; each may be there several times. ``docs/plans.md`` has examples."""

    add: list[str] = []
    remove: list[str] = []
    rename: list[str] = []
    queues: list[str] = []
    broker: list[str] = []
    strategy: str = ""
    params: str = ""
    format: str = Field(default="json", pattern="^(json|csv)$")
    table: str = Field(default="", pattern=f"^({'|'.join(TABLES)})?$", description="this one alone; as CSV: moves")


@reads("/groups/{int:pk}/plan", name="api plan", answer=dict[str, object], is_table=True, is_trial=True)
def plan(request: HttpRequest, pk: int, asked: Query[DryRunAsked]) -> dict[str, object] | HttpResponse:
    """Try out what would be; nothing is written. The answer is that of ``manage.py whatif`` and of the page."""
    found = find_group(request, pk)
    values = asked.model_dump(exclude={"format", "table"})
    try:
        question = read_question(lambda name: [values[name]] if isinstance(values[name], str) else values[name])
        view, known = read_group(group=found)
        trial = try_out(view, question, known)
    except BadQuestion as bad:
        raise Problem(422, str(bad), problems=list(bad.problems)) from bad
    if asked.format == "csv":
        return attached(TABLES[asked.table or MOVES](trial), file_name(found.name, asked.table))
    answer = answers.describe(
        trial,
        cluster=found.cluster.name,
        at=now_ms(),
        expected=expected_costs(group=found),
        earlier=earlier_of(group=found),
    )
    return only(answer, asked.table)
