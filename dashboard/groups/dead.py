"""How many messages of a group were given up: put into its dead-letter topic, broker by broker, and of when that is."""

from __future__ import annotations

from dataclasses import dataclass

from dashboard.groups.models import Flow, Group, MemberList, Progress


@dataclass(frozen=True, slots=True)
class BrokerDead:
    """One broker: messages that were put there so far, those of them that are kept still, and when it said so."""

    broker: str
    put: int
    kept: int
    observed_at: int


@dataclass(frozen=True, slots=True)
class DeadLetters:
    """All brokers that told, and those that know the group and did not tell, or were not asked yet."""

    brokers: tuple[BrokerDead, ...]
    untold: tuple[str, ...]

    @property
    def put(self) -> int | None:
        """Add all up; None while anything is unknown."""
        return sum(each.put for each in self.brokers) if self.brokers and not self.untold else None

    @property
    def kept(self) -> int | None:
        """Count those that can still be read; None while anything is unknown."""
        return sum(each.kept for each in self.brokers) if self.brokers and not self.untold else None

    @property
    def observed_at(self) -> int | None:
        """Give when the oldest part of it was told."""
        return min((each.observed_at for each in self.brokers), default=None)


def dead_letters_of(*, group: Group) -> DeadLetters:
    """Give what is known of the messages that a group gave up, sorted by broker."""
    flows = list(Flow.objects.filter(group=group))
    looks = {row.broker: row.dead[-1] for row in flows if row.dead}
    told = tuple(BrokerDead(broker, put, kept, at) for broker, (at, put, kept) in sorted(looks.items()))
    lists, offsets = (
        model._default_manager.filter(group=group).values_list("broker", flat=True) for model in (MemberList, Progress)
    )
    known = {*lists.union(offsets), *(row.broker for row in flows)}
    return DeadLetters(told, tuple(sorted(known - looks.keys())))
