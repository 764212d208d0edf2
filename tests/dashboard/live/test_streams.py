from __future__ import annotations

import pytest

from dashboard.clusters.models import Cluster
from dashboard.groups.models import Group
from dashboard.live.streams import bring_up_to_date, find_stream, for_person, overview_snapshot, pulse_of
from dashboard.people.roles import Access, Role, Scope
from dashboard.push.messages import OverviewSnapshot, Pulse, decode, encode
from dashboard.push.publish import pulse
from tests.dashboard.story import T0, seen, told

EVERYTHING = Access("all", (Scope(Role.VIEWER),))
LIMITED = Access("few", (Scope(Role.VIEWER, "shop", "orders-*"),))


@pytest.fixture
def groups(cluster: Cluster) -> dict[str, Group]:
    names = ("orders-1", "pay")
    return {name: Group.objects.create(cluster=cluster, name=name, added_at=T0) for name in names}


def test_streams_are_found_by_their_names(groups: dict[str, Group], cluster: Cluster) -> None:
    group = find_stream(name=f"group-{groups['pay'].pk}", access=EVERYTHING)
    overview = find_stream(name=f"overview-{cluster.pk}", access=EVERYTHING)

    assert group is not None
    assert not group.is_overview
    assert overview is not None
    assert (overview.is_overview, overview.cluster) == (True, None)


def test_a_scope_closes_other_groups_and_filters_the_overview(groups: dict[str, Group], cluster: Cluster) -> None:
    overview = find_stream(name=f"overview-{cluster.pk}", access=LIMITED)
    assert overview is not None

    whole = encode(overview_snapshot(cluster=cluster.pk))
    own = decode(for_person(whole, stream=overview, access=LIMITED))

    assert isinstance(own, OverviewSnapshot)
    assert [row.group for row in own.rows] == ["orders-1"]
    assert find_stream(name=f"group-{groups['pay'].pk}", access=LIMITED) is None
    assert find_stream(name=f"group-{groups['orders-1'].pk}", access=LIMITED) is not None


def test_a_group_that_was_never_rebalanced_has_nothing_to_catch_up(groups: dict[str, Group]) -> None:
    stream = find_stream(name=f"group-{groups['pay'].pk}", access=EVERYTHING)
    assert stream is not None

    assert bring_up_to_date(stream=stream, last_seq=None, access=EVERYTHING).bodies == ()


@pytest.mark.usefixtures("cluster")
def test_a_pulse_says_when_members_were_looked_at() -> None:
    told(*seen("A"))
    stream = find_stream(name=f"group-{Group.objects.get().pk}", access=EVERYTHING)
    assert stream is not None

    message = decode(pulse_of(stream=stream, at=T0 + 5, access=EVERYTHING))

    assert isinstance(message, Pulse)
    assert (message.at, message.watched_at, [look.client for look in message.seen]) == (T0 + 5, None, ["A"])
    pulse(stream=stream.name, seen=(), at=T0, watched_at=T0)  # nobody follows: nothing happens


def test_a_pulse_says_that_a_cluster_is_put_aside_or_what_it_shows_is_gone(
    groups: dict[str, Group], cluster: Cluster
) -> None:
    names = (f"group-{groups['pay'].pk}", f"overview-{cluster.pk}")
    streams = [stream for name in names if (stream := find_stream(name=name, access=EVERYTHING)) is not None]

    def standings() -> list[object]:
        pulses = [decode(pulse_of(stream=each, at=T0 + 5, access=EVERYTHING)) for each in streams]
        return [each.standing for each in pulses if isinstance(each, Pulse)]

    assert standings() == ["watched", "watched"]
    Cluster.objects.update(lease_epoch=1, lease_holder="")
    assert standings() == ["aside", "aside"]
    Group.objects.all().delete()
    assert standings() == ["gone", "aside"]
    Cluster.objects.all().delete()
    assert standings() == ["gone", "gone"]


def test_a_pulse_names_the_groups_that_no_rebalance_has_seen_since_they_changed(groups: dict[str, Group]) -> None:
    Group.objects.filter(pk=groups["pay"].pk).update(inputs_version=1)
    overview = f"overview-{groups['pay'].cluster_id}"

    behind = {}
    for who, access in (("all", EVERYTHING), ("limited", LIMITED)):
        stream = find_stream(name=overview, access=access)
        assert stream is not None
        message = decode(pulse_of(stream=stream, at=T0 + 20, access=access))
        assert isinstance(message, Pulse)
        behind[who] = message.behind

    assert behind == {"all": (groups["pay"].pk,), "limited": ()}
