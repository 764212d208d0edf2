"""A version of a by-config assignment as a file that can be taken away."""

from __future__ import annotations

import re

from django.http import HttpResponse, JsonResponse

from dashboard.groups.models import Group
from dashboard.plans.java import Naming, write_java
from dashboard.plans.models import ByConfig
from dashboard.plans.queries import assignment_of


def as_json(group: Group, row: ByConfig) -> HttpResponse:
    """Give a version as JSON: each client's queues one by one, and which version it is."""
    clients = {client: [list(queue) for queue in sorted(set(queues))] for client, queues in assignment_of(row).items()}
    name = re.sub(r"[^A-Za-z0-9._-]", "_", group.name)[:80]
    return JsonResponse(
        {
            "v": 1,
            "cluster": group.cluster.name,
            "group": group.name,
            "version": row.version,
            "at": row.at,
            "author": row.author,
            "reason": row.reason,
            "clients": clients,
        },
        headers={"Content-Disposition": f'attachment; filename="by-config-{name}-{row.version}.json"'},
    )


def as_java(group: Group, row: ByConfig) -> HttpResponse:
    """Give a version as a Java class: an ``AllocateMessageQueueByConfig`` for each member."""
    text = write_java(assignment_of(row), Naming(group.cluster.name, group.name, row.version))
    headers = {"Content-Disposition": 'attachment; filename="ByConfigAssignment.java"'}
    return HttpResponse(text, content_type="text/x-java; charset=us-ascii", headers=headers)
