"""What a watcher begins with: what the one before it has left; and the rows of what it learns itself."""

from __future__ import annotations

from collections.abc import Mapping, Set
from dataclasses import dataclass, field

from rebalance_engine.effects import Address
from rebalance_engine.events import Exactness, Fact, MemberSeen, SubscriptionsSeen
from rebalance_engine.model import MessageModel, MessageQueue

BrokerKey = tuple[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What whoever watched before has left: so that nothing is stated twice, and nobody is forgotten.

    Attributes:
        at: every member list was told at this time or later, and whom it named is in ``members``: who is new now was
            not there then. None is unknown.
        brokers: (name, id) -> address, of those that were there.
        members: group -> client id -> its (broker, address) pairs.
        groups: those that were known, also without members. Of any other nobody looked who is a member: ``at`` says
            nothing of it.
        closed: group -> the brokers that let nobody of it consume.
        popped: group -> broker -> the topics that it is set to give by POP.
    """

    at: int | None = None
    brokers: Mapping[BrokerKey, Address] = field(default_factory=dict)
    members: Mapping[str, Mapping[str, Set[tuple[str, Address]]]] = field(default_factory=dict)
    groups: frozenset[str] = frozenset()
    closed: Mapping[str, Set[str]] = field(default_factory=dict)
    popped: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)


@dataclass(slots=True)
class KnownList:
    """The member list of one broker: its last answer, and when that was asked for; ``is_missing``: none came since.

    An answer that was long under way is of no later time for sure.
    """

    ids: tuple[str, ...]
    at: int | None
    is_missing: bool = False


@dataclass(frozen=True, slots=True)
class Beat:
    """The last heartbeat of a client at one broker, as that told it (328), by our clock, in ms since 1970.

    Attributes:
        earliest, latest: between which it came; None: nobody knows how far the broker's clock is ahead at most.
        told_at: when the last answer that had it was asked for.
        gone_at: when the first answer without this client came; None: it is there.
    """

    earliest: int | None
    latest: int
    told_at: int
    gone_at: int | None = None


@dataclass(slots=True)
class KnownMember:
    """A member: when who listed it last was asked, and what it said last; ``held_at`` is when it told what it holds.

    ``asked_at`` is when it was asked for that: what it told is not older. ``hung_at`` is when it was first asked
    in vain since it last answered, as its broker said. ``lost`` has the brokers that listed it and do not any more:
    each with its last list that had it, and its first that had not.
    """

    seen_at: int | None
    presence: set[tuple[str, Address]] = field(default_factory=set)
    said: dict[type[Fact], Fact] = field(default_factory=dict)
    held: tuple[MessageQueue, ...] | None = None
    held_at: int | None = None
    asked_at: int | None = None
    is_silent: bool = False
    hung_at: int | None = None
    topics: frozenset[str] = frozenset()
    lost: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(slots=True)
class KnownGroup:
    """A group: its lists by broker, its members, what each broker says that it subscribes to."""

    lists: dict[str, KnownList] = field(default_factory=dict)
    members: dict[str, KnownMember] = field(default_factory=dict)
    subscriptions: dict[str, SubscriptionsSeen] = field(default_factory=dict)
    changed_at: int | None = None
    topics: frozenset[str] | None = None  # kept until a subscription changes
    models: dict[MessageModel, int] = field(default_factory=dict)  # when brokers were last asked that told it

    def all_topics(self) -> frozenset[str]:
        """Name what it consumes, by its brokers and its members."""
        if self.topics is None:
            by_brokers = {one.topic for fact in self.subscriptions.values() for one in fact.subscriptions}
            self.topics = frozenset(by_brokers.union(*(member.topics for member in self.members.values())))
        return self.topics

    def since_told(self, fact: MemberSeen, asked_at: int) -> Exactness:
        """Note which message model a broker told of a member, and say within which time the group came to have it.

        That is since the last look that told another one. Only brokers tell it, as one of the group.
        """
        if fact.message_model is None:
            return fact.exactness
        self.models[fact.message_model] = asked_at
        low = max((at for model, at in self.models.items() if model is not fact.message_model), default=None)
        return Exactness.at_most(fact.at) if low is None else Exactness.between(min(low, fact.at), fact.at)
