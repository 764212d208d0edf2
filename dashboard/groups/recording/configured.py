"""What facts about a group's configuration change: its message model, who may consume, what is given by POP.

Each change is a cause, kept once, whoever tells of it again. What is seen first is none: it may have been so for any
time. What is older than a change that was kept, or than the last look at a broker's setting, says nothing of now.
"""

from __future__ import annotations

from collections.abc import Iterator

from dashboard.common.fields import observed_at, source_columns
from dashboard.common.names import known_as
from dashboard.groups.models import Group, RoundCause
from dashboard.groups.recording.book import GroupBook
from rebalance_engine.events import Cause, ConsumptionSeen, Fact, MemberSeen, RequestModesSeen
from rebalance_engine.model import MessageModel

MODELS = {
    MessageModel.BROADCASTING: "the group is broadcasting now; it was clustering",
    MessageModel.CLUSTERING: "the group is clustering now; it was broadcasting",
}
FLAPS_MS = 120_000  # where members disagree, brokers tell what the last heartbeat said: such a change is kept once


def model_seen(book: GroupBook, group: Group, fact: MemberSeen) -> bool:
    """A broker said of a member how the group divides messages: clustering or broadcasting, which is of all members."""
    model = fact.message_model
    if model is None or model.value == group.model or _is_late(book, group, fact):
        return False
    words, is_first = MODELS[model], group.model is None
    book.groups.update(group, model=model.value)
    book.touch(group.name)
    if not is_first and not any(kept.evidence == words and fact.at - kept.at < FLAPS_MS for kept in _kept(book, group)):
        book.because(group, Cause.CONFIG_CHANGED, words, fact)
    return True


def consumption_seen(book: GroupBook, fact: ConsumptionSeen) -> bool:
    """A broker lets a group consume, or does not."""
    group, broker = book.group(fact.group), known_as(fact.broker)
    closed = sorted(set(group.closed_by) - {broker} if fact.is_enabled else {*group.closed_by, broker})
    if not _looks(book, group, fact, "consuming", broker) or closed == group.closed_by:
        return False
    book.groups.update(group, closed_by=closed)
    book.touch(group.name)
    if _is_bounded(group, fact):
        disabled, enabled = f"consuming was disabled at {broker}", f"consuming was enabled again at {broker}"
        book.because(group, Cause.CONFIG_CHANGED, enabled if fact.is_enabled else disabled, fact)
    return True


def modes_seen(book: GroupBook, fact: RequestModesSeen) -> bool:
    """A broker is set to give the group some topics by POP, or none any more. Who owns what does not follow from it."""
    group, broker, topics = book.group(fact.group), known_as(fact.broker), [known_as(topic) for topic in fact.topics]
    before = (group.popped_by or {}).get(broker, [])
    others = {name: there for name, there in (group.popped_by or {}).items() if name != broker}
    told = {**others, broker: topics} if topics else others
    if not _looks(book, group, fact, "POP", broker) or told == group.popped_by:
        return False
    book.groups.update(group, popped_by=told)
    if not before and not _is_bounded(group, fact):
        return True
    if came := ", ".join(topic for topic in topics if topic not in before):
        book.because(group, Cause.CONFIG_CHANGED, f"{broker} now gives {came} by POP", fact)
    if gone := ", ".join(topic for topic in before if topic not in topics):
        book.because(group, Cause.CONFIG_CHANGED, f"{broker} no longer gives {gone} by POP", fact)
    return True


def _is_bounded(group: Group, fact: Fact) -> bool:
    """Whether somebody looked before, and saw it otherwise: of a group that is new here nobody did."""
    return not group._state.adding and source_columns(fact)["at_low"] is not None


def _looks(book: GroupBook, group: Group, fact: Fact, setting: str, broker: str) -> bool:
    """Note when a broker's setting was looked at; False: it was looked at later, whatever came of that."""
    seen = group.settings_seen_at or {}
    of_setting, at = seen.get(setting, {}), observed_at(fact)
    if at < of_setting.get(broker, 0):
        return False
    book.groups.update(group, settings_seen_at={**seen, setting: {**of_setting, broker: at}})
    return True


def _is_late(book: GroupBook, group: Group, fact: Fact) -> bool:
    """Whether a change of the message model that was kept came after this look."""
    return any(kept.at > observed_at(fact) and kept.evidence in MODELS.values() for kept in _kept(book, group))


def _kept(book: GroupBook, group: Group) -> Iterator[RoundCause]:
    """Give the changes of a group's configuration that were kept."""
    yield from (each for each in book.causes if each.group is group and each.cause == Cause.CONFIG_CHANGED.value)
    if not group._state.adding:
        yield from RoundCause.objects.filter(group=group.pk, cause=Cause.CONFIG_CHANGED.value)
