from __future__ import annotations

import pytest

from dashboard.groups.models import Group
from dashboard.groups.rebalancing import rebalance_once
from dashboard.plans.models import ByConfig
from dashboard.plans.queries import (
    assignment_of,
    former_members,
    latest,
    read_group,
    told,
    version,
    versions,
)
from tests.dashboard import story
from tests.dashboard.story import T0, held, left, missed, queue, route, seen

pytestmark = pytest.mark.usefixtures("cluster")


@pytest.fixture
def group() -> Group:
    story.told(route(4), *seen("A"), *seen("B"), held("A", 10, [0, 1]), held("B", 10, [2, 3]))
    row = Group.objects.get()
    rebalance_once(group=row.pk, now=T0 + 20)
    return row


def keep(group: Group, number: int, document: str = '{"A": ["orders/east/0-1"]}') -> ByConfig:
    return ByConfig.objects.create(
        group=group,
        version=number,
        at=T0 + number,
        author="ada",
        reason="because",
        document=document,
        client_count=1,
        queue_count=2,
    )


def test_a_group_is_read_with_what_a_dry_run_must_know(group: Group) -> None:
    keep(group, 1)

    view, known = read_group(group=group)

    assert view.clients.ids == ("A", "B")
    assert known.languages == {"A": "JAVA", "B": "JAVA"}
    assert known.told is not None and known.told.version == 1
    assert known.shown is not None and known.shown.loads().tolist() == [2, 2]


def test_a_group_that_was_never_rebalanced_has_no_target_that_was_shown() -> None:
    story.told(*seen("A"))

    view, known = read_group(group=Group.objects.get())

    assert (known.told, known.shown, view.clients.ids) == (None, None, ("A",))


def test_the_latest_version_is_what_members_were_told(group: Group) -> None:
    assert told(group.pk) is None
    keep(group, 1)
    newest = keep(group, 2, '{"B": ["orders/east/3"]}')

    found = told(group.pk)

    assert found is not None
    assert (found.version, found.author, found.reason) == (2, "ada", "because")
    assert found.lists == {"B": (queue(3),)} == assignment_of(newest)
    assert latest(group=group.pk) == newest
    assert [row.version for row in versions(group=group.pk)] == [2, 1]
    first = version(group=group.pk, number=1)
    assert first is not None and first.document.startswith('{"A"')
    assert version(group=group.pk, number=3) is None


def test_who_left_is_a_former_member_and_who_is_silent_is_not(group: Group) -> None:
    story.told(left("A", 5_000), missed("B", 5_000))

    assert former_members(group=group) == {"A"}
