from dataclasses import replace

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.events import (
    AnswerMissed,
    Departure,
    Exactness,
    Fact,
    MemberJoined,
    MemberLeft,
    MemberSeen,
    Missing,
    Origin,
    PresenceGone,
)
from rebalance_engine.model import MessageModel
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.watcher.known import Known
from rebalance_engine.network.watcher.memory import Memory
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.network.watcher.seeing import brokers, by, connected, kinds, route, running, sound, told

GONE = NoAnswer(Failure.NOT_CONNECTED, "west:1")
SAID_TO_BE_SILENT = Denied("east:1", GetConsumerRunningInfo(consumer_group="G", client_id="A"), Refused(code=207))


def test_who_is_there_at_the_first_look_did_not_join_then() -> None:
    facts = told(sound("east"), "A", 10)

    assert kinds(facts) == ["MemberListSeen", "MemberSeen", "MemberSeen", "PresenceSeen", "SubscriptionsSeen"]


def test_the_route_of_a_topic_that_nobody_consumes_is_forgotten_and_stated_when_it_is_asked_for_again() -> None:
    memory = sound("east")
    told(memory, "A", 10)
    for topic in ("orders", "payments"):
        list(memory.route_heard(topic, route(2, "east"), by(10, None)))

    memory.forget_routes()

    assert list(memory.route_heard("orders", route(2, "east"), by(20, None))) == []
    assert kinds(list(memory.route_heard("payments", route(2, "east"), by(20, None)))) == ["RouteSeen"]


def test_what_only_repeats_is_not_stated() -> None:
    memory = sound("east")
    told(memory, "A", 10)

    assert told(memory, "A", 20) == []
    assert list(memory.cluster_heard(brokers("east"), by(20, None))) == []


def test_a_member_joined_between_the_look_without_it_and_the_first_with_it() -> None:
    memory = sound("east", "west")
    told(memory, "A", 10)
    told(memory, "A", 12, "west")
    facts = told(memory, "AB", 20)
    again = told(memory, "AB", 21, "west")

    [joined] = [fact for fact in facts if isinstance(fact, MemberJoined)]
    assert (joined.client, joined.exactness) == ("B", Exactness.between(10, 20))
    assert not [fact for fact in again if isinstance(fact, MemberJoined)]


def making(*names: str, known: Known | None = None) -> Memory:
    """A memory that knows its brokers, each of which makes groups by itself."""
    memory = Memory(known=known)
    list(memory.cluster_heard(brokers(*names), by(0, None)))
    for name in names:
        memory.having.makes_heard(name, is_on=True)
    return memory


def joins(facts: list[Fact]) -> dict[str, Exactness]:
    return {fact.client: fact.exactness for fact in facts if isinstance(fact, MemberJoined)}


def test_who_is_in_a_group_that_is_new_joined_after_the_last_look_at_every_broker_without_it() -> None:
    memory = making("east", "west")
    for broker, groups, asked_at in (("east", [], 10), ("west", [], 15), ("east", ["G"], 20)):
        memory.groups_heard(broker, groups, asked_at)
    first = told(memory, "AB", 22)
    memory.groups_heard("west", ["G"], 25)
    second = told(memory, "ABC", 27, "west")

    assert joins(first) == dict.fromkeys("AB", Exactness.between(10, 22))
    assert joins(second) == {"C": Exactness.between(15, 27)}
    assert [fact.client for fact in (*first, *second) if isinstance(fact, MemberSeen)] == ["A", "B", "C"]


@pytest.mark.parametrize("why", ["first look", "never told", "missed", "no group by itself"])
def test_nobody_joined_a_new_group_where_one_broker_bounds_nothing(why: str) -> None:
    memory = making("east", "west")
    memory.groups_heard("east", [], 10)
    if why != "never told":
        memory.groups_heard("west", ["G"] if why == "first look" else [], 15)
    if why == "missed":
        memory.having.missed("west")
    if why == "no group by itself":
        memory.having.makes_heard("west", is_on=False)
    memory.groups_heard("east", ["G"], 20)

    assert joins(told(memory, "AB", 22)) == {}


def test_who_is_in_a_group_that_the_one_before_did_not_know_joined_nobody_knows_when() -> None:
    known = Known(at=5, brokers={("east", 0): "east:1"}, groups=frozenset({"H"}))
    memory = making("east", known=known)
    memory.groups_heard("east", ["G", "H"], 10)
    facts = told(memory, "AB", 12)
    of_stored = list(memory.list_heard("H", ["A"], by(13)))

    assert joins(facts) == {}
    assert joins(of_stored) == {"A": Exactness.between(5, 13)}


def test_an_answer_that_was_long_under_way_is_of_no_later_time_than_its_question() -> None:
    memory = sound("east")
    told(memory, "A", 1_900, asked_at=1_000)
    facts = told(memory, "AB", 3_500, asked_at=2_000)
    facts += told(memory, "A", 4_000, asked_at=3_900)

    [joined] = [fact for fact in facts if isinstance(fact, MemberJoined)]
    [left] = [fact for fact in facts if isinstance(fact, MemberLeft)]
    assert joined.exactness == Exactness.between(1_000, 3_500)
    assert left.exactness == Exactness.between(2_000, 4_000)
    assert memory.lists_at == 3_900


def test_a_member_left_only_when_every_broker_lists_others() -> None:
    memory = sound("east", "west")
    told(memory, "AB", 10)
    told(memory, "AB", 11, "west")
    first = told(memory, "A", 20)
    second = told(memory, "A", 21, "west")

    assert not [fact for fact in first if isinstance(fact, MemberLeft)]
    [left] = [fact for fact in second if isinstance(fact, MemberLeft)]
    assert (left.client, left.departure, left.exactness) == ("B", Departure.UNKNOWN, Exactness.between(10, 21))
    assert memory.members("G") == ("A",)
    gone = [fact.broker for fact in (*first, *second) if isinstance(fact, PresenceGone)]
    assert gone == ["east", "west"]


def test_a_member_began_to_leave_when_the_first_broker_listed_it_last_unless_that_lists_it_again() -> None:
    memory = sound("east", "west")
    for at, east, west in ((1_000, "AB", "AB"), (2_000, "A", "AB"), (9_000, "A", "AB")):
        told(memory, east, at)
        told(memory, west, at + 10, "west")
    [left] = [fact for fact in told(memory, "A", 10_010, "west") if isinstance(fact, MemberLeft)]
    assert left.exactness == Exactness.between(1_000, 10_010)

    memory = sound("east", "west")
    for at, east, west in ((1_000, "AB", "AB"), (2_000, "A", "AB"), (3_000, "AB", "AB"), (9_000, "A", "AB")):
        told(memory, east, at)
        told(memory, west, at + 10, "west")
    [left] = [fact for fact in told(memory, "A", 10_010, "west") if isinstance(fact, MemberLeft)]
    assert left.exactness == Exactness.between(3_000, 10_010)


def test_while_a_broker_does_not_answer_nobody_left() -> None:
    memory = sound("east", "west")
    told(memory, "AB", 10)
    told(memory, "AB", 10, "west")
    [missed] = memory.list_missed("G", by(20, "west"), GONE)
    facts = told(memory, "A", 30)

    assert isinstance(missed, AnswerMissed)
    assert missed.missing is Missing.ERROR
    assert missed.exactness == Exactness.between(10, 20)  # whom it listed is unknown since its last answer
    assert not [fact for fact in facts if isinstance(fact, MemberLeft)]
    assert list(memory.list_missed("G", by(31, "west"), GONE)) == []
    assert memory.brokers_of("G", "A") == ("east",)


def test_a_broker_that_no_name_server_lists_any_more_counts_no_more() -> None:
    memory = sound("east", "west")
    told(memory, "A", 10)
    told(memory, "AB", 10, "west")
    list(memory.list_missed("G", by(20, "west"), GONE))

    facts = list(memory.cluster_heard(brokers("east"), by(30, None)))

    assert kinds(facts) == ["BrokerGone", "PresenceGone", "PresenceGone", "MemberLeft"]
    assert memory.members("G") == ("A",)


def test_without_any_broker_left_to_tell_members_stay() -> None:
    memory = sound("east")
    told(memory, "A", 10)

    facts = list(memory.cluster_heard(brokers(), by(30, None)))

    assert kinds(facts) == ["BrokerGone", "PresenceGone"]
    assert memory.members("G") == ("A",)
    assert memory.brokers_of("G", "A") == ()


def test_one_name_server_alone_does_not_make_a_broker_gone() -> None:
    memory = Memory(2, Known(at=5, brokers={("east", 0): "east:1"}))

    assert list(memory.cluster_heard(brokers(), by(10, None))) == []


def test_what_is_held_is_stated_at_every_look_and_the_rest_once() -> None:
    memory = sound("east")
    told(memory, "A", 10)
    first = list(memory.held_heard("G", "A", running([0]), by(20, client="A")))
    second = list(memory.held_heard("G", "A", running([0], sub_version=2), by(30, client="A")))

    assert kinds(first) == ["SubscriptionsSeen", "MemberStrategySeen", "HeldSeen"]
    assert kinds(second) == ["HeldSeen"]
    assert memory.held_at("G", "A") == 30
    assert memory.topics_of("G") == {"orders"}


def hung(asked_at: int) -> Memory:
    """A memory in which A and B are listed by both brokers; A answered at 10 s, and was asked in vain then."""
    memory = sound("east", "west")
    for broker in ("east", "west"):
        told(memory, "AB", 0, broker)
    list(memory.held_heard("G", "A", running([0]), by(10_000, client="A")))
    question = replace(by(asked_at + 10_000, client="A"), asked_at=asked_at)
    list(memory.held_missed("G", "A", question, SAID_TO_BE_SILENT))
    return memory


def last_seen(memory: Memory, east: int, west: int) -> MemberLeft:
    """Let both brokers list A until then, and B alone a second later; give how A left."""
    facts = []
    for broker, at in sorted({"east": east, "west": west}.items(), key=lambda each: each[1]):
        facts += told(memory, "AB", at, broker) + told(memory, "B", at + 1_000, broker)
    [left] = [fact for fact in facts if isinstance(fact, MemberLeft)]
    return left


def test_who_hung_and_was_listed_as_long_as_brokers_wait_let_his_heartbeat_expire() -> None:
    left = last_seen(hung(12_000), 134_000, 139_000)

    assert (left.departure, left.source.origin) == (Departure.HEARTBEAT_EXPIRED, Origin.DERIVED)
    assert left.source.detail == "it had answered nothing for 130 s, and was listed all the time"
    assert left.exactness == Exactness.between(134_000, 140_000)


@pytest.mark.parametrize(("east", "west"), [(107_000, 107_000), (130_000, 139_000), (60_000, 139_000)])
def test_who_hung_and_went_sooner_from_any_broker_may_have_been_killed(east: int, west: int) -> None:
    left = last_seen(hung(12_000), east, west)

    assert (left.departure, left.source.origin) == (Departure.UNKNOWN, Origin.DERIVED)
    assert left.source.detail == f"it had answered nothing for {(west - 9_000) // 1_000} s"


def test_who_was_listed_anew_after_it_hung_has_sent_a_heartbeat_and_time_tells_nothing() -> None:
    memory = hung(12_000)
    told(memory, "B", 100_000, "west")
    told(memory, "AB", 101_000, "west")

    left = last_seen(memory, 134_000, 139_000)

    assert (left.departure, left.source.origin) == (Departure.UNKNOWN, Origin.ADMIN_ANSWER)


@pytest.mark.parametrize("why", [NoAnswer(Failure.TIMEOUT, "east:1"), None])
def test_who_answered_or_was_asked_through_a_broker_that_said_nothing_left_nobody_knows_how(
    why: NoAnswer | None,
) -> None:
    memory = sound("east", "west")
    for broker in ("east", "west"):
        told(memory, "AB", 0, broker)
    list(memory.held_heard("G", "A", running([0]), by(10_000, client="A")))
    if why is not None:
        list(memory.held_missed("G", "A", by(12_000, client="A"), why))

    left = last_seen(memory, 134_000, 139_000)

    assert (left.departure, left.source.origin) == (Departure.UNKNOWN, Origin.ADMIN_ANSWER)


def test_a_list_that_comes_again_after_it_was_missing_is_stated_though_it_is_the_same() -> None:
    memory = sound("east")
    told(memory, "A", 10)
    list(memory.list_missed("G", by(20), GONE))

    assert kinds(told(memory, "A", 30)) == ["MemberListSeen"]


def test_groups_are_told_once_every_master_that_is_known_has_said_which_it_has() -> None:
    memory = Memory(1, Known(at=5, brokers={("east", 0): "east:1", ("west", 0): "west:1"}))
    told_by = [Memory().are_groups_told, memory.are_groups_told]
    for broker in ("east", "west"):
        memory.groups_heard(broker, [])
        told_by.append(memory.are_groups_told)

    assert told_by == [False, False, False, True]


def test_a_silent_member_is_unknown_until_it_answers() -> None:
    memory = sound("east")
    told(memory, "A", 10)
    list(memory.held_heard("G", "A", running([0]), by(20, client="A")))
    late = NoAnswer(Failure.TIMEOUT, "east:1")

    first = list(memory.held_missed("G", "A", by(30, client="A"), late))
    second = list(memory.held_missed("G", "A", by(40, client="A"), late))
    silent = memory.held("G", "A")
    list(memory.held_heard("G", "A", running([0]), by(50, client="A")))

    assert kinds(first) == ["AnswerMissed"]
    assert second == []
    assert silent is None
    assert memory.held("G", "A") is not None


def test_an_answer_of_who_left_meanwhile_says_nothing() -> None:
    assert list(sound("east").held_heard("G", "A", running([0]), by(20, client="A"))) == []


def test_routes_are_stated_for_each_name_server_when_they_change() -> None:
    memory = sound("east")
    told(memory, "A", 5)

    first = list(memory.route_heard("orders", route(2, "east"), by(10, None)))
    same = list(memory.route_heard("orders", route(2, "east"), by(20, None)))
    more = list(memory.route_heard("orders", route(3, "east"), by(30, None)))
    gone = list(memory.route_heard("orders", None, by(40, None)))

    assert [kinds(facts) for facts in (first, same, more, gone)] == [["RouteSeen"], [], ["RouteSeen"], ["RouteMissing"]]
    assert memory.changed_at("G") == 40


def test_a_broker_in_the_route_is_asked_for_members_too() -> None:
    memory = sound("east")
    list(memory.cluster_heard(brokers("east", "west"), by(1, None)))
    memory.groups_heard("west", [])
    told(memory, "A", 5)
    before = memory.hosts("G")
    list(memory.route_heard("orders", route(2, "east", "west"), by(10, None)))

    assert before == {"east"}
    assert memory.hosts("G") == {"east", "west"}


def test_who_begins_anew_knows_what_the_one_before_it_left() -> None:
    members = {"G": {"A": {("east", "10.0.0.1:1")}, "B": {("east", "10.0.0.1:1")}}}
    memory = Memory(1, Known(at=5, brokers={("east", 0): "east:1"}, members=members))
    list(memory.cluster_heard(brokers("east"), by(8, None)))
    memory.groups_heard("east", ["G"])

    facts = told(memory, "AC", 10)

    [joined] = [fact for fact in facts if isinstance(fact, MemberJoined)]
    [left] = [fact for fact in facts if isinstance(fact, MemberLeft)]
    assert (joined.client, joined.exactness) == ("C", Exactness.between(5, 10))
    assert (left.client, left.exactness) == ("B", Exactness.between(5, 10))
    assert not [fact for fact in facts if type(fact).__name__ == "PresenceSeen" and getattr(fact, "client", "") == "A"]
    assert [fact.client for fact in facts if isinstance(fact, MemberSeen)] == ["A", "C"]


def test_a_group_is_broadcasting_since_the_last_look_that_said_otherwise_as_each_member_is_told_to_be() -> None:
    memory, found = sound("east"), list[Fact]()
    for at, model in ((10, MessageModel.CLUSTERING), (20, MessageModel.CLUSTERING), (30, MessageModel.BROADCASTING)):
        list(memory.list_heard("G", tuple("AB"), by(at)))
        found += memory.members_heard("G", replace(connected("AB"), message_model=model), by(at))

    said = [(fact.client, fact.exactness) for fact in found if isinstance(fact, MemberSeen)]
    changed = Exactness.between(20, 30)
    assert said == [*((client, Exactness.at_most(10)) for client in "AB"), ("A", changed), ("B", changed)]


def test_the_version_of_a_broker_is_stated_once() -> None:
    memory = sound("east")

    first = list(memory.version_heard("east", "east:1", "5.5.0", by(10)))
    again = list(memory.version_heard("east", "east:1", "5.5.0", by(20)))

    assert (kinds(first), again) == (["BrokerSeen"], [])
