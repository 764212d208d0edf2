from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine import MessageQueue
from rebalance_engine.findings import (
    MOST_ROWS,
    Finding,
    FindingKind,
    by_config_gaps,
    double_owners,
    find_faults,
    idle_consumers,
    orphan_queues,
    spell,
    strategy_mismatch,
)
from rebalance_engine.group import GroupView, Member
from rebalance_engine.model import MessageModel
from rebalance_engine.tables import ClientTable, QueueTable
from tests.rebalance_engine.generators import TOPICS, message_queues, names

ORDERS = [MessageQueue("orders", "east", i) for i in range(3)]
RETRY = MessageQueue("%RETRY%g", "east", 0)
BOTH = frozenset({"orders", "%RETRY%g"})


def member(client_id: str, *held: int, topics: frozenset[str] | None = None, strategy: str | None = None) -> Member:
    return Member(client_id=client_id, topics=topics, held=tuple(ORDERS[i] for i in held), strategy=strategy)


def view_of(*members: Member, queues: list[MessageQueue] = ORDERS) -> GroupView:
    return GroupView.of("g", queues, members)


SANE = view_of(member("A", 0, 1, strategy="AVG"), member("B", 2, strategy="AVG"))
ORPHAN = view_of(member("A", 0), member("B", 2))
DOUBLE = view_of(member("A", 0, 1), member("B", 1, 2))
IDLE = view_of(member("A", 0, 1, 2), member("B"))
MISMATCH = view_of(member("A", 0, 1, strategy="AVG"), member("B", 2, strategy="AVG_BY_CIRCLE"))


def kinds(faults: Iterable[Finding]) -> set[FindingKind]:
    return {fault.kind for fault in faults}


@pytest.mark.parametrize(
    ("view", "kind", "subject"),
    [
        (ORPHAN, FindingKind.ORPHAN_QUEUE, "orders/east/1"),
        (DOUBLE, FindingKind.DOUBLE_OWNER, "orders/east/1"),
        (IDLE, FindingKind.IDLE_CONSUMER, "B"),
        (MISMATCH, FindingKind.STRATEGY_MISMATCH, "g"),
    ],
)
def test_each_fault_is_found_and_no_other(view: GroupView, kind: FindingKind, subject: str) -> None:
    (fault,) = find_faults(view)

    assert (fault.kind, fault.group, fault.subject) == (kind, "g", subject)


def test_a_sane_group_has_no_faults() -> None:
    assert find_faults(SANE) == ()
    assert list(by_config_gaps(SANE, {"A": ORDERS[:2], "B": ORDERS[2:]})) == []


def test_an_empty_group_has_no_faults() -> None:
    assert find_faults(view_of()) == ()
    assert find_faults(view_of(queues=[])) == ()
    assert find_faults(view_of(member("A"), queues=[])) == ()


def test_faults_come_in_the_order_of_their_kinds() -> None:
    view = view_of(member("A", 0, 1, strategy="AVG"), member("B", 1), member("C", strategy="CONSISTENT_HASH"))

    kinds_found = [fault.kind for fault in find_faults(view)]
    assert kinds_found == sorted(kinds_found, key=list(FindingKind).index)
    assert len(kinds_found) == 4


def test_one_member_is_said_to_be_the_only_one() -> None:
    fault = next(orphan_queues(view_of(member("A", 0))))

    assert fault.sentence == "No member consumes orders/east/1: the only member answered, and does not hold it."


def test_proof_of_an_orphan_names_who_answered() -> None:
    (fault,) = orphan_queues(ORPHAN)

    assert fault.sentence == "No member consumes orders/east/1: all 2 members answered, and none holds it."
    assert fault.proof == ("A answered, and does not hold it", "B answered, and does not hold it")


def test_a_client_id_that_is_there_twice_is_one_member() -> None:
    alone = next(orphan_queues(view_of(member("A", 0), member("A", 0))))
    fault = next(orphan_queues(view_of(member("A", 0), member("A", 0), member("B"))))

    assert alone.sentence == "No member consumes orders/east/1: the only member answered, and does not hold it."
    assert fault.sentence == "No member consumes orders/east/1: all 2 members answered, and none holds it."
    assert fault.told_by == ("A", "B")


def test_proof_of_a_double_owner_names_both() -> None:
    (fault,) = double_owners(DOUBLE)

    assert fault.sentence == "2 members hold orders/east/1: A, B."
    assert fault.proof == ("A holds orders/east/1", "B holds orders/east/1")


def test_a_double_owner_rests_on_the_word_of_its_owners_and_is_none_where_they_told_it_one_after_the_other() -> None:
    (fault,) = double_owners(DOUBLE)

    assert fault.told_by == ("A", "B")
    assert list(double_owners(replace(DOUBLE, perhaps_twice=frozenset({1})))) == []


def test_what_perhaps_is_not_there_is_nobodys_orphan_and_idle_over_it_is_nobody() -> None:
    assert list(orphan_queues(replace(ORPHAN, disputed=frozenset({1})))) == []
    assert len(list(orphan_queues(replace(ORPHAN, disputed=frozenset({2}))))) == 1
    assert list(idle_consumers(replace(IDLE, disputed=frozenset({2})))) == []
    assert len(list(double_owners(replace(DOUBLE, disputed=frozenset({1}))))) == 1


def test_proof_of_an_idle_consumer_names_its_topics() -> None:
    (fault,) = idle_consumers(IDLE)

    assert fault.sentence == "B is idle: it holds none of the 3 queues of its topics."
    assert fault.proof == (
        "B answered, and holds nothing",
        "what it subscribes to is unknown; the group consumes orders, which has 3 queues",
    )


def test_a_known_subscription_of_an_idle_consumer_is_proof() -> None:
    view = replace(IDLE, topics_of={"B": frozenset({"orders"})})

    (fault,) = idle_consumers(view)

    assert fault.proof[1] == "it subscribes to orders, which has 3 queues"


def test_where_members_are_too_many_that_is_said() -> None:
    view = view_of(member("A", 0, 1), member("B", 2), member("C"), member("D"))

    sentences = [fault.sentence for fault in idle_consumers(view)]

    assert len(sentences) == 2
    assert all(sentence.endswith("; with 4 members for 3 queues some must be.") for sentence in sentences)


def test_proof_of_a_mismatch_names_each_members_strategy() -> None:
    (fault,) = strategy_mismatch(MISMATCH)

    assert "(AVG by 1, AVG_BY_CIRCLE by 1)" in fault.sentence
    assert fault.proof == ("A uses AVG", "B uses AVG_BY_CIRCLE")


def test_while_one_member_is_silent_no_queue_is_an_orphan() -> None:
    view = view_of(member("A", 0, 1), Member(client_id="B"))

    assert find_faults(view) == ()


def test_beside_a_member_that_pops_no_queue_is_an_orphan_and_who_pops_is_not_idle() -> None:
    view = view_of(member("A", 0, 1), member("B"))

    assert kinds(find_faults(view)) == {FindingKind.ORPHAN_QUEUE, FindingKind.IDLE_CONSUMER}
    assert kinds(find_faults(replace(view, popping=frozenset({"B"})))) == set()


def test_a_silent_process_of_an_id_keeps_it_from_being_idle() -> None:
    view = view_of(member("A", 0, 1, 2), member("B"), Member(client_id="B"))

    assert find_faults(view) == ()


def test_two_owners_are_proof_whoever_is_silent() -> None:
    view = view_of(member("A", 0), member("B", 0), Member(client_id="C"))

    assert kinds(find_faults(view)) == {FindingKind.DOUBLE_OWNER}


def test_where_nobody_was_asked_nothing_is_found() -> None:
    view = GroupView("g", QueueTable.of(ORDERS), ClientTable.of("AB"))

    assert find_faults(view) == ()


def test_an_unknown_strategy_is_no_mismatch() -> None:
    assert find_faults(view_of(member("A", 0, 1, strategy="AVG"), member("B", 2))) == ()


def test_what_a_stray_queue_keeps_busy_is_not_idle() -> None:
    gone = Member(client_id="B", held=(MessageQueue("orders", "north", 0),))

    assert find_faults(view_of(member("A", 0, 1, 2), gone)) == ()


def test_a_topic_without_subscribers_has_no_orphans() -> None:
    orders = frozenset({"orders"})
    view = view_of(member("A", 0, 1, topics=orders), member("B", 2, topics=orders), queues=[*ORDERS, RETRY])

    assert find_faults(view) == ()


def test_a_member_that_subscribes_to_nothing_is_not_idle() -> None:
    nothing = Member(client_id="B", topics=frozenset(), held=())

    assert find_faults(view_of(member("A", 0, 1, 2), nothing)) == ()


def test_the_retry_topic_counts_like_any_other() -> None:
    everything = Member(client_id="A", topics=BOTH, held=tuple(ORDERS))
    retries = Member(client_id="B", topics=BOTH, held=(RETRY,))
    nothing = Member(client_id="B", topics=BOTH, held=())

    with_owner = find_faults(view_of(everything, retries, queues=[*ORDERS, RETRY]))
    without = find_faults(view_of(everything, nothing, queues=[*ORDERS, RETRY]))

    assert with_owner == ()
    assert [(fault.kind, fault.subject) for fault in without] == [
        (FindingKind.RETRY_UNOWNED, "%RETRY%g/east/0"),
        (FindingKind.IDLE_CONSUMER, "B"),
    ]
    assert without[0].sentence.endswith("none holds it, so that messages that failed there wait.")


@pytest.mark.parametrize("view", [ORPHAN, DOUBLE, IDLE, MISMATCH])
def test_a_broadcasting_group_has_none_of_these_faults(view: GroupView) -> None:
    members = [
        Member(client_id=name, held=tuple(held), strategy=view.strategies.get(name))
        for name, held in (view.held.as_lists() if view.held else {}).items()
    ]

    assert find_faults(GroupView.of("g", ORDERS, members, MessageModel.BROADCASTING)) == ()


def test_each_gap_of_a_config_is_found() -> None:
    foreign = MessageQueue("orders", "north", 0)
    config = {"A": [ORDERS[0], foreign, foreign], "B": [ORDERS[0]], "gone": [ORDERS[1], ORDERS[2]]}

    faults = list(by_config_gaps(SANE, config))

    assert kinds(faults) == {FindingKind.BY_CONFIG_GAP}
    assert [(fault.subject, fault.sentence) for fault in faults] == [
        ("orders/east/1", "No member's list names orders/east/1."),
        ("orders/east/2", "No member's list names orders/east/2."),
        ("orders/east/0", "2 lists name orders/east/0."),
        ("gone", "There is a list for gone, which is not a member."),
        ("orders/north/0", "The group has no queue orders/north/0."),
    ]
    assert faults[0].proof == ("A is given 3 queues", "B is given 1 queues")
    assert faults[2].proof == ("A is given it", "B is given it")
    assert faults[3].proof == ("gone is given 2 queues",)
    assert faults[4].proof == ("A is given orders/north/0",)


def test_lists_may_be_read_only_once() -> None:
    assert list(by_config_gaps(SANE, {"A": iter(ORDERS[:2]), "B": iter(ORDERS[2:])})) == []


def test_without_a_config_every_queue_is_a_gap() -> None:
    assert [fault.subject for fault in by_config_gaps(SANE, {})] == [spell(queue) for queue in ORDERS]


def test_a_queue_that_nobody_wants_is_no_gap() -> None:
    nothing = view_of(member("A", topics=frozenset()))

    assert list(by_config_gaps(nothing, {})) == []


def test_proof_is_kept_to_what_a_person_reads() -> None:
    crowd = [member(f"{i:04}", strategy="AVG" if i else "AVG_BY_CIRCLE") for i in range(MOST_ROWS + 7)]

    faults = find_faults(view_of(*crowd))

    assert {FindingKind.ORPHAN_QUEUE, FindingKind.STRATEGY_MISMATCH} <= kinds(faults)
    for fault in faults:
        if fault.kind is not FindingKind.IDLE_CONSUMER:
            assert len(fault.proof) == MOST_ROWS + 1
            assert fault.proof[-1] == "and 7 more alike"


def test_just_as_many_rows_as_fit_are_all_shown() -> None:
    crowd = [member(f"{i:04}") for i in range(MOST_ROWS)]

    (fault, *_) = orphan_queues(view_of(*crowd))

    assert len(fault.proof) == MOST_ROWS
    assert fault.proof[-1] == f"{MOST_ROWS - 1:04} answered, and does not hold it"


def orphan(queue: MessageQueue) -> FindingKind:
    return FindingKind.RETRY_UNOWNED if queue.topic == "%RETRY%g" else FindingKind.ORPHAN_QUEUE


@given(
    st.lists(message_queues, max_size=8),
    st.lists(
        st.builds(
            Member,
            client_id=names,
            topics=st.none() | st.frozensets(st.sampled_from(TOPICS)),
            held=st.none() | st.lists(message_queues, max_size=4).map(tuple),
            strategy=st.sampled_from([None, "AVG", "CONFIG"]),
        ),
        max_size=5,
    ),
)
def test_faults_are_those_that_a_plain_search_finds(queues: list[MessageQueue], members: list[Member]) -> None:
    view = GroupView.of("g", queues, members)
    holders = {queue: {m.client_id for m in members if queue in (m.held or ())} for queue in set(queues)}
    silent = {m.client_id for m in members if m.held is None}
    wanted = {queue for queue in holders if any(view.subscribes(m.client_id, queue.topic) for m in members)}

    faults = find_faults(view)

    found = {(fault.kind, fault.subject) for fault in faults}
    expected = {(FindingKind.DOUBLE_OWNER, spell(queue)) for queue, owners in holders.items() if len(owners) > 1}
    if not silent:
        expected |= {(orphan(queue), spell(queue)) for queue in wanted if not holders[queue]}
    for m in members:
        holds_any = any(other.held for other in members if other.client_id == m.client_id)
        has_queues = any(view.subscribes(m.client_id, queue.topic) for queue in holders)
        if m.client_id not in silent and not holds_any and has_queues:
            expected.add((FindingKind.IDLE_CONSUMER, m.client_id))
    if len(set(view.strategies.values())) > 1:
        expected.add((FindingKind.STRATEGY_MISMATCH, "g"))
    assert found == expected
    assert len(found) == len(faults)
    assert all(fault.proof for fault in faults)
