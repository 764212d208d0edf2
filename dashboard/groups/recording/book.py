"""The rows of the groups that a batch of facts is about, and what the batch changed for each."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from django.db.models import Max, Q

from dashboard.clusters.models import Cluster, Watch
from dashboard.common.fields import printable, source_columns
from dashboard.common.names import known_as
from dashboard.common.rows import Rows
from dashboard.groups.models import Group, Member, MemberList, Presence, Round, RoundCause, Subscription
from rebalance_engine.events import Cause, Fact, GroupFact

GroupAndClient = tuple[str, str]
CHANGED_HERE = ["model", "closed_by", "popped_by", "settings_seen_at", "gone_at"]  # of a group


@dataclass
class GroupBook:
    """The rows of groups and members; ``touched`` are the groups whose next rebalance has other inputs.

    ``listed`` is whom brokers listed as members before this batch, of the groups of which all lists are known.
    ``sharper`` are stored causes of which a closer time is known now, each with the time that it had.
    """

    cluster: Cluster
    now: int
    groups: Rows[str, Group]
    members: Rows[GroupAndClient, Member]
    presences: Rows[tuple[GroupAndClient, str, str], Presence]
    subscriptions: Rows[tuple[str, str | None, str], Subscription]
    lists: Rows[tuple[str, str], MemberList]
    listed: dict[str, frozenset[str]]
    causes: list[RoundCause] = field(default_factory=list)
    touched: dict[str, Cause] = field(default_factory=dict)
    sharper: list[tuple[RoundCause, int]] = field(default_factory=list)

    @classmethod
    def open(cls, cluster: Cluster, facts: Sequence[Fact], now: int) -> GroupBook:
        """Read the rows that these facts are about."""
        names, clients = _named(facts)
        groups = list(Group.objects.filter(cluster=cluster, name__in=names).order_by("pk")) if names else []
        of_groups = {row.pk: row for row in groups}
        members = list(Member.objects.filter(group__in=groups, client_id__in=clients)) if groups else []
        of_members = {row.pk: row for row in members}
        presences = list(Presence.objects.filter(member__in=members)) if members else []
        subscriptions = list(Subscription.objects.filter(group__in=groups)) if groups else []
        lists = list(MemberList.objects.filter(group__in=groups)) if groups else []
        for member in members:
            member.group = of_groups[member.group_id]
        for subscription in subscriptions:
            subscription.group = of_groups[subscription.group_id]
        for listed in lists:
            listed.group = of_groups[listed.group_id]
        for presence in presences:
            presence.member = of_members[presence.member_id]
        clients_of: dict[str, set[str]] = {}
        for listing in lists:
            clients_of.setdefault(listing.group.name, set()).update(listing.clients)
        for listing in lists:
            if listing.missing is not None:  # who is new may have been there all the time
                clients_of.pop(listing.group.name, None)
        others = {row.member_id for row in subscriptions if row.member_id is not None} - of_members.keys()
        strangers = Member.objects.in_bulk(others) if others else {}
        for subscription in subscriptions:
            if subscription.member_id is not None:
                subscription.member = (of_members | strangers)[subscription.member_id]
        return cls(
            cluster,
            now,
            groups=Rows(Group, lambda row: row.name, groups, columns=CHANGED_HERE),
            members=Rows(Member, member_key, members),
            presences=Rows(Presence, lambda row: (member_key(row.member), row.broker, row.address), presences),
            subscriptions=Rows(Subscription, subscription_key, subscriptions),
            lists=Rows(MemberList, lambda row: (row.group.name, row.broker), lists),
            listed={name: frozenset(told) for name, told in clients_of.items()},
        )

    def group(self, name: str) -> Group:
        """Find a group, or make it."""
        name = known_as(name)
        return self.groups.get(name) or self.groups.add(Group(cluster=self.cluster, name=name, added_at=self.now))

    def member(self, group: str, client: str) -> Member | None:
        """Find somebody who is, or was, a member."""
        return self.members.get((known_as(group), known_as(client)))

    @cached_property
    def lists_at(self) -> int | None:
        """When a watcher had every member list of the cluster told and stored, or later; None: nobody knows."""
        return Watch.objects.filter(cluster=self.cluster).values_list("lists_at", flat=True).first()

    def touch(self, group: str, cause: Cause = Cause.UNKNOWN) -> None:
        """Note that the next rebalance of a group has other inputs."""
        name = known_as(group)
        if self.touched.get(name, Cause.UNKNOWN) is Cause.UNKNOWN:
            self.touched[name] = cause

    def because(self, group: Group, cause: Cause, evidence: str, fact: Fact, client: str | None = None) -> None:
        """Keep a change of a group with what proves it, for the round that it belongs to."""
        self.causes.append(
            RoundCause(
                group=group,
                cause=cause.value,
                client_id=client,
                evidence=printable(evidence),
                **source_columns(fact),
            )
        )
        self.touch(group.name, cause)

    def cause_of(self, row: Member, kinds: Collection[str], at: int) -> RoundCause | None:
        """Find the change of a group that a member's coming or going at that time was kept as."""
        for kept in reversed(self.causes):
            if (kept.group, kept.client_id, kept.at) == (row.group, row.client_id, at) and kept.cause in kinds:
                return kept
        if row.pk is None:
            return None
        stored = RoundCause.objects.filter(group=row.group_id, client_id=row.client_id, cause__in=kinds, at=at)
        return stored.order_by("-pk").first()

    def sharpen(self, kept: RoundCause, cause: Cause, evidence: str, columns: Mapping[str, object]) -> None:
        """Let a change of a group have the closer time, and the words, of a fact that tells of it again."""
        before, kept.cause, kept.evidence = kept.at, cause.value, printable(evidence)
        for name, value in columns.items():
            setattr(kept, name, value)
        if kept.pk is not None:
            self.sharper.append((kept, before))

    def write(self) -> None:
        """Write what changed, parents first."""
        for rows in (self.groups, self.members, self.presences, self.subscriptions, self.lists):
            rows.write()
        for kept, before in self.sharper:
            Group.objects.select_for_update(no_key=True).get(pk=kept.group_id)  # no rebalance writes it meanwhile
            kept.refresh_from_db(fields=["round"])  # it may have got its round since it was read
            kept.save()
            _begin_with(kept, before)
        RoundCause.objects.bulk_create(self.causes, batch_size=2_000)


def _begin_with(kept: RoundCause, before: int) -> None:
    """Let the round that a cause opened begin at the closer time; also one that was only seen by what it did."""
    if kept.round_id is None:
        return
    for row in Round.objects.filter(Q(opened_at=before) | Q(opened_at__gt=kept.at), pk=kept.round_id):
        earlier = Round.objects.filter(group=kept.group_id, number__lt=row.number).aggregate(end=Max("closed_at"))
        row.opened_at = max(kept.at, min(earlier["end"] or 0, row.opened_at))
        row.opened_low = min(row.opened_at, kept.at_low) if kept.at_low is not None else None
        if row.cause in {Cause.MEMBER_LEFT.value, Cause.HEARTBEAT_EXPIRED.value}:
            row.cause = kept.cause
        row.save(update_fields=["opened_at", "opened_low", "cause"])


def _named(facts: Sequence[Fact]) -> tuple[set[str], set[str]]:
    """Name the groups and the clients that facts are about."""
    names, clients = set[str](), set[str]()
    for fact in facts:
        if isinstance(group := getattr(fact, "group", None), str):
            names.add(known_as(group))
        if isinstance(client := getattr(fact, "client", None), str):
            clients.add(known_as(client))
        if isinstance(fact, GroupFact):
            clients.update(map(known_as, getattr(fact, "clients", ())))
    return names, clients


def member_key(row: Member) -> GroupAndClient:
    """Give the names of a member and its group."""
    return row.group.name, row.client_id


def subscription_key(row: Subscription) -> tuple[str, str | None, str]:
    """Give the names of a subscription."""
    return row.group.name, None if row.member is None else row.member.client_id, row.topic
