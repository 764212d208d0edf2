"""What facts about members and subscriptions change. Each function tells whether anything did."""

from __future__ import annotations

from dashboard.common.fields import observed_at, printable, source_columns
from dashboard.common.names import known_as
from dashboard.groups.models import Group, Member, MemberList, Presence, Subscription
from dashboard.groups.recording import configured, exactly, silences
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import (
    AnswerMissed,
    Cause,
    ConsumeType,
    MemberJoined,
    MemberLeft,
    MemberListSeen,
    MemberSeen,
    MemberStrategySeen,
    PresenceGone,
    PresenceSeen,
    SubscriptionAdded,
    SubscriptionRemoved,
    SubscriptionReplaced,
    SubscriptionsSeen,
)
from rebalance_engine.events import (
    Subscription as Subscribed,
)
from rebalance_engine.events.fact import GroupFact, MemberFact

POP = ConsumeType.POP.value
NEW_LIFE: dict[str, object] = {
    "left_at": None,
    "departure": None,
    "good_bye_at": None,
    "held_seen_at": None,
    "missing": None,
    "missing_at": None,
    "registrations": 1,
    "doubled_at": None,
}


def member_joined(book: GroupBook, fact: MemberJoined) -> bool:
    """A client came, or came back; a report of its own makes a bound exact."""
    group, row = book.group(fact.group), book.member(fact.group, fact.client)
    if row is not None and row.left_at is None:
        return exactly.joined(book, row, fact)
    if row is not None and row.left_at is not None and fact.at < row.left_at:
        return False  # it left after this
    _come(book, group, row, fact)
    book.because(group, Cause.MEMBER_JOINED, f"{fact.client} joined", fact, known_as(fact.client))
    return True


def member_left(book: GroupBook, fact: MemberLeft) -> bool:
    """A client went; as what, only a log or a report can tell."""
    row = book.member(fact.group, fact.client)
    if row is not None and row.left_at is not None:
        return exactly.left(book, row, fact)
    if row is None or fact.at < row.at:
        return False
    book.members.update(row, left_at=fact.at, departure=fact.departure.value, observed_at=observed_at(fact))
    book.because(row.group, exactly.cause_of(fact), exactly.words_of_leaving(fact), fact, row.client_id)
    return True


def member_seen(book: GroupBook, fact: MemberSeen) -> bool:
    """A member said something of itself. One that nobody saw coming is there since an unknown time.

    That is no change of the group, but where brokers listed its members before, and this one was not among them.
    """
    group, row = book.group(fact.group), book.member(fact.group, fact.client)
    if row is not None and observed_at(fact) < max(row.seen_at, row.left_at or 0):
        return False
    came = row is None or row.left_at is not None
    if row is None or came:
        row = _appear(book, group, row, fact)
    told = {
        "language": fact.language and printable(fact.language),
        "version": fact.version and printable(fact.version),
        "consume_type": fact.consume_type and fact.consume_type.value,
        "is_orderly": fact.is_orderly,
        "started_at": fact.started_at,
    }
    was = row.consume_type
    changed = book.members.update(row, **{name: value for name, value in told.items() if value is not None})
    came = came or (was != row.consume_type and POP in {was, row.consume_type})  # by POP queues have no owners
    if changed:
        book.members.update(row, seen_at=observed_at(fact))
    if configured.model_seen(book, group, fact):
        changed = came = True
    if came:
        book.touch(fact.group)
    return changed or came


def strategy_seen(book: GroupBook, fact: MemberStrategySeen) -> bool:
    """A member said by which strategy it divides."""
    row = here(book, fact)
    if row is None or observed_at(fact) < (row.at_low or 0):
        return False  # it is not there, or used it in an earlier life
    before = row.strategy
    if not book.members.update(row, strategy=printable(fact.strategy)):
        return False
    if before:
        words = f"{fact.client} uses {fact.strategy} now, not {before}"
        book.because(row.group, Cause.STRATEGY_CHANGED, words, fact, row.client_id)
    book.touch(fact.group)
    return True


def list_seen(book: GroupBook, fact: MemberListSeen) -> bool:
    """A broker listed the members; an id that it lists twice is registered over two connections."""
    group, broker, clients = book.group(fact.group), known_as(fact.broker), [known_as(name) for name in fact.clients]
    row = book.lists.get((group.name, broker))
    since = observed_at(fact) if row is None else row.observed_at
    if row is None:
        book.lists.add(MemberList(group=group, broker=broker, clients=clients, **source_columns(fact)))
        if not clients:
            book.touch(group.name)  # no member's fact does: of a group that nobody is in this is the first word
    elif observed_at(fact) < max(row.observed_at, row.missing_at or 0):
        return False
    else:
        if sorted(row.clients) == sorted(clients):
            clients = row.clients  # brokers list the same members in any order, and in another one the next time
        told = silences.of_list(row, fact)
        if not book.lists.update(row, clients=clients, missing=None, missing_at=None, **told):
            return False
        book.lists.update(row, **source_columns(fact))
        book.touch(group.name)  # brokers may list others than before, or it is known again who is there
    everywhere = [listed.clients for listed in book.lists if listed.group is group]
    for name in dict.fromkeys(clients):
        member = book.members.get((group.name, name))
        most = max(listed.count(name) for listed in everywhere)
        if member is not None and book.members.update(member, **silences.of_connections(member, most, since, fact)):
            book.touch(group.name)
    return True


def presence_seen(book: GroupBook, fact: PresenceSeen) -> bool:
    """A broker has a connection of a member."""
    member = here(book, fact)
    if member is None:
        return False
    columns: dict[str, object] = {"gone_at": None, "departure": None}
    for name in ("language", "version"):
        if (value := getattr(fact, name)) is not None:
            columns[name] = printable(value)
    key = (known_as(fact.broker), printable(fact.address))
    row = book.presences.get(((member.group.name, member.client_id), *key))
    if row is None:
        row = Presence(member=member, broker=key[0], address=key[1], **columns, **source_columns(fact))
        book.presences.add(row)
        book.touch(fact.group)
        return True
    if row.gone_at is not None and observed_at(fact) < row.gone_at:
        return False
    came_back = row.gone_at is not None
    if came_back:
        book.touch(fact.group)
    changed = book.presences.update(row, **columns)
    return (book.presences.update(row, **source_columns(fact)) if came_back else False) or changed


def presence_gone(book: GroupBook, fact: PresenceGone) -> bool:
    """A broker no longer has a connection of a member."""
    key = ((known_as(fact.group), known_as(fact.client)), known_as(fact.broker), printable(fact.address))
    row = book.presences.get(key)
    if row is None or row.gone_at is not None or fact.at < row.at:
        return False
    book.touch(fact.group)
    return book.presences.update(row, gone_at=fact.at, departure=fact.departure.value)


def answer_missed(book: GroupBook, fact: AnswerMissed) -> bool:
    """A member did not answer, or a broker did not tell who is one: that is unknown from here on."""
    if fact.group is None:
        return False
    if fact.client is None:
        return _list_missed(book, fact, fact.group)
    row = book.member(fact.group, fact.client)
    if row is None or row.left_at is not None or fact.at < max(row.held_seen_at or 0, row.at):
        return False
    if row.missing == fact.missing.value:
        return False  # it is unknown since the first answer that did not come
    book.members.update(row, missing=fact.missing.value, missing_at=row.missing_at or fact.at)
    book.touch(fact.group)
    return True


def _list_missed(book: GroupBook, fact: AnswerMissed, name: str) -> bool:
    if fact.broker is None:
        return False
    group, broker = book.group(name), known_as(fact.broker)
    row = book.lists.get((group.name, broker))
    if row is None:
        columns = {"missing": fact.missing.value, "missing_at": fact.at, "missing_low": _told_until(book, None, fact)}
        row = MemberList(group=group, broker=broker, clients=[], **columns)
        for column, value in source_columns(fact).items():
            setattr(row, column, value)
        book.lists.add(row)
    elif row.missing is not None or fact.at < row.observed_at:
        return False  # it is unknown since the first answer that did not come, or known since
    else:
        low = _told_until(book, row, fact)
        book.lists.update(row, missing=fact.missing.value, missing_at=fact.at, missing_low=low)
    book.touch(group.name)
    return True


def _told_until(book: GroupBook, row: MemberList | None, fact: AnswerMissed) -> int | None:
    """Say when a broker had told last who is a member, before its answer was missing: the watcher knows it.

    One that has just started does not: then it is when an earlier one had every list, or this list changed.
    """
    low = fact.exactness.low
    if low is not None and low < fact.at:
        return low
    changed = None if row is None else row.observed_at
    return min(fact.at, max((at for at in (book.lists_at, changed) if at is not None), default=fact.at))


# ---- subscriptions ----


def subscriptions_seen(book: GroupBook, fact: SubscriptionsSeen) -> bool:
    """All topics of a member, or of the group's table on a broker."""
    group, member = _subscriber(book, fact, fact.client)
    if group is None:
        return False
    name = None if member is None else member.client_id
    mine = {row.topic: row for row in book.subscriptions if row.group is group and _client_of(row) == name}
    if any(observed_at(fact) < row.observed_at for row in mine.values()):
        return False
    first, changed, other = not mine, False, []
    for subscribed in fact.subscriptions:
        outcome = _subscribe(book, group, member, subscribed, fact)
        mine.pop(known_as(subscribed.topic), None)
        changed |= outcome is not None
        other += [subscribed.topic] if outcome == "new" else []
    for row in mine.values():
        book.subscriptions.remove(row)
        other.append(f"no longer {row.topic}")
    if other:
        _note(book, group, member, f"subscribes to {', '.join(other)}", fact, is_first=first)
    return changed or bool(mine)


def subscription_put(book: GroupBook, fact: SubscriptionAdded | SubscriptionReplaced) -> bool:
    """One topic came, or its expression or version changed; the version alone changes nobody's queues."""
    group, member = _subscriber(book, fact, fact.client)
    if group is None:
        return False
    outcome = _subscribe(book, group, member, fact.subscription, fact)
    if outcome == "new":
        _note(book, group, member, f"subscribes to {fact.subscription.topic}", fact, is_first=False)
    return outcome is not None


def subscription_removed(book: GroupBook, fact: SubscriptionRemoved) -> bool:
    """One topic went."""
    group, member = _subscriber(book, fact, fact.client)
    if group is None:
        return False
    key = (group.name, None if member is None else member.client_id, known_as(fact.topic))
    row = book.subscriptions.get(key)
    if row is None or observed_at(fact) < row.observed_at:
        return False
    book.subscriptions.remove(row)
    _note(book, group, member, f"no longer subscribes to {fact.topic}", fact, is_first=False)
    return True


def _subscriber(book: GroupBook, fact: GroupFact, client: str | None) -> tuple[Group | None, Member | None]:
    if client is None:
        return book.group(fact.group), None
    member = book.member(fact.group, client)
    return (None, None) if member is None else (member.group, member)


def _client_of(row: Subscription) -> str | None:
    return None if row.member is None else row.member.client_id


def _subscribe(book: GroupBook, group: Group, member: Member | None, told: Subscribed, fact: GroupFact) -> str | None:
    """Store one topic; tell whether it is new, changed, or (None) the same or late."""
    columns = {
        "expression": printable(told.expression),
        "expression_type": printable(told.expression_type),
        "sub_version": told.sub_version,
    }
    topic = known_as(told.topic)
    row = book.subscriptions.get((group.name, None if member is None else member.client_id, topic))
    if row is None:
        row = Subscription(group=group, member=member, topic=topic, **columns, **source_columns(fact))
        book.subscriptions.add(row)
        return "new"
    says_other = (row.expression, row.expression_type) != (columns["expression"], columns["expression_type"])
    if observed_at(fact) < row.observed_at or not book.subscriptions.update(row, **columns):
        return None
    if member is not None and says_other:
        book.touch(group.name)  # the version alone changes nothing
    book.subscriptions.update(row, **source_columns(fact))
    return "changed"


def _note(book: GroupBook, group: Group, member: Member | None, words: str, fact: GroupFact, *, is_first: bool) -> None:
    """A topic that came or went changes who divides what; the first that is known of a member is no change."""
    if member is not None and not is_first:
        evidence = f"{member.client_id} {words}"
        book.because(group, Cause.SUBSCRIPTION_CHANGED, evidence, fact, member.client_id)
    book.touch(group.name)


# ---- coming ----


def here(book: GroupBook, fact: MemberFact) -> Member | None:
    """Find the member that a fact is about, or make it; one that left is not there."""
    row = book.member(fact.group, fact.client)
    if row is None:
        return _appear(book, book.group(fact.group), None, fact)
    return row if row.left_at is None else None


def _appear(book: GroupBook, group: Group, row: Member | None, fact: MemberFact) -> Member:
    """Take in somebody who is there, and whom nobody saw coming: news where the members were known before."""
    row = _come(book, group, row, fact, is_exact=False)
    if row.client_id not in book.listed.get(group.name, {row.client_id}):
        words = f"{fact.client} is a member now, {exactly.UNKNOWN_SINCE}"
        book.because(group, Cause.MEMBER_JOINED, words, fact, row.client_id)
        book.causes[-1].at_low = None
    return row


def _come(book: GroupBook, group: Group, row: Member | None, fact: MemberFact, *, is_exact: bool = True) -> Member:
    columns = source_columns(fact)
    if not is_exact:
        columns["at_low"] = None  # it may have been there long before
    book.touch(fact.group)
    book.groups.update(group, gone_at=None)
    if row is None:
        return book.members.add(Member(group=group, client_id=known_as(fact.client), **columns))
    book.members.update(row, **silences.of_life(row), **NEW_LIFE, **columns)
    return row
