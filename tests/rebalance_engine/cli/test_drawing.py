from collections.abc import Sequence
from dataclasses import replace

import pytest

from rebalance_engine.cli.drawing import Drawing
from rebalance_engine.cli.judging import judge_look
from rebalance_engine.cli.terminal import ENDLESS, Paper, width_of
from rebalance_engine.model import MessageModel, MessageQueue
from rebalance_engine.network.admin import Denied
from rebalance_engine.network.looking import GroupLook, MemberLook
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.cli.looks import AT, look, member, queues

Q = queues(4)


def drawn(seen: GroupLook, width: int = 80, *, has_colour: bool = False) -> list[str]:
    return list(Drawing(seen, judge_look(seen), Paper(width, has_colour), {}).lines())


def test_a_sound_group_is_drawn_with_a_letter_for_each_member() -> None:
    lag: dict[MessageQueue, int | None] = {Q[0]: 1000, Q[1]: 0, Q[2]: 5, Q[3]: None}
    lines = drawn(look(Q, [member("10.0.0.1@7", Q[:2]), member("10.0.0.2@8", Q[2:])], lag=lag))

    assert lines == [
        "billing on shop, 22:13:20 UTC, looked for 0.4 s",
        "clustering, AVG, 2 members, 4 queues of 1 topic, 1,005+? waiting",
        "Held as the target says.",
        "",
        "   MEMBER      CLIENT      HELD  TARGET  WAITING  ANSWERED",
        "A  10.0.0.1@7  JAVA 4.9.7     2       2    1,000  0.2 s ago",
        "B  10.0.0.2@8  JAVA 4.9.7     2       2      5+?  0.2 s ago",
        "",
        "orders  4 queues",
        "  east              0  A A B B",
    ]


def test_orphans_and_double_owners_stand_out_without_colour() -> None:
    text = "\n".join(drawn(look(Q, [member("A", Q[:2]), member("B", [Q[1], Q[2]])])))

    assert "  east              0  A # B -" in text
    assert "               target  . A . B" in text
    assert "orders/east/3: held by nobody, target B" in text
    assert "double owner (suspected): 2 members hold orders/east/1: A, B." in text
    assert "1 queue without a holder, 1 held twice" in text


def test_what_a_second_connection_of_one_id_holds_is_unknown_and_such_ids_are_found() -> None:
    seen = look(Q, [member("A", Q[:2], times=2)], lag=dict.fromkeys(Q, 5))
    text = "\n".join(drawn(seen, ENDLESS))

    assert "Unknown: A has 2 connections, of which only one can be asked." in text
    assert "A (2 connections)  JAVA 4.9.7   2+?       2     10+?" in text
    assert "clustering, AVG, 1 member, 4 queues" in text
    assert "0  A A ? ?" in text
    assert "duplicate client id (suspected): 2 connections call themselves A: " in text
    assert "Held as the target says" not in text
    assert "orphan" not in text


def test_a_group_that_comes_through_a_proxy_has_no_queues_to_divide() -> None:
    lines = drawn(look(Q, [member("web-1@1@0@d1o2m9xh3k", None), member("web-2@9@13@lxk2p0aa", None)]))
    text = "\n".join(lines)

    assert "clustering, nothing to divide, 2 members" in text
    assert "No queues that members own: all come through a proxy." in text
    assert "A  web-1@1@0@d1o2m9xh3k  JAVA       -       -        ?  no: through a proxy" in lines
    assert not any(words in text for words in ("target ", "Findings", "Unknown", "assumed"))


def test_who_comes_through_a_proxy_beside_others_is_to_have_nothing() -> None:
    seen = look(Q, [member("A", Q[:2]), member("web-1@1@0@d1o2m9xh3k", None)])
    text = "\n".join(drawn(seen, ENDLESS))

    assert "Unknown: 1 of 2 members comes through a proxy, and cannot be asked." in text
    assert "web-1@1@0@d1o2m9xh3k  JAVA           -       -        ?  no: through a proxy" in text
    outcome = judge_look(seen).outcome
    assert outcome is not None
    assert outcome.target.loads().tolist() == [2, 0]


def test_a_sound_look_finds_no_id_that_is_there_twice() -> None:
    assert "duplicate" not in "\n".join(drawn(look(Q, [member("A", Q[:2]), member("B", Q[2:])])))


def test_a_new_retry_topic_is_pending_and_no_alarm_for_so_long() -> None:
    retry = MessageQueue("%RETRY%billing", "east", 0)
    young = member("A", Q, "orders", retry.topic, started_at=AT - 1_000)
    lines = drawn(look([*Q, retry], [young]), has_colour=True)
    text = "\n".join(lines)

    assert max(map(width_of, lines)) <= 80
    assert "but for 1 queue of a new retry topic: pending until" in text
    assert "22:14:14 UTC" in text
    assert "Pending: 1" in text and "%RETRY%billing/east/0: held by nobody, target A" in text
    assert "Not " not in text and "Findings" not in text and "\x1b[31" not in text


def test_queues_that_members_assign_themselves_are_held_against_no_target() -> None:
    some, none = assigning("A", Q[:2]), assigning("C", [])
    lag: dict[MessageQueue, int | None] = {Q[0]: 1, Q[1]: 2, Q[2]: 3}
    lines = drawn(look(Q, [some, assigning("B", Q[1:2]), none], lag=lag), has_colour=True)
    text = "\n".join(lines)

    assert lines[2:4] == ["There is no target: its members assign their queues themselves.", ""]
    assert "     2       -        3" in text
    assert any(line.startswith("  east              0  ") and " # - -" in line for line in lines)
    assert "Not " not in text and "Findings" not in text and "route" not in text and "\x1b[31" not in text


def test_queues_of_nobodys_subscription_whose_routes_are_unknown_are_listed() -> None:
    lines = drawn(look([], [assigning("A", Q[:2])]))

    assert "Assigned by members themselves, without a subscription: 2" in lines
    assert "  orders/east/1: held by A" in lines


def test_one_that_is_silent_may_subscribe_if_brokers_know_of_a_subscription() -> None:
    seen = look(Q, [assigning("A", Q[:2]), member("B", None)])
    told = seen.lists["east"].value
    assert told is not None
    subscribed = replace(told, subscription_table={"orders": SubscriptionData(topic="orders")})
    known = replace(seen, lists={"east": replace(seen.lists["east"], value=subscribed)})

    assert (seen.assigns_itself, known.assigns_itself) == (True, False)
    assert "Unknown: 1 member did not say what it holds." in drawn(seen)


def test_one_that_assigns_its_queues_itself_among_others_is_told_from_one_that_holds_what_is_in_no_route() -> None:
    gone = MessageQueue("bills", "east", 0)
    lines = drawn(look(Q, [member("A", [*Q, gone]), assigning("B", [MessageQueue("audit", "east", 0)])]))

    assert "  bills/east/0: held by A, and in no route" in lines
    assert "  audit/east/0: held by B" in lines


def assigning(client: str, held: Sequence[MessageQueue]) -> MemberLook:
    seen = member(client, held)
    assert seen.running.value is not None
    return replace(seen, running=replace(seen.running, value=replace(seen.running.value, subscription_set=())))


def test_what_a_silent_member_may_hold_is_unknown() -> None:
    text = "\n".join(drawn(look(Q, [member("A", Q[:2]), member("B", None)])))

    assert "Unknown: 1 member did not say what it holds." in text
    assert "  east              0  A A ? ?" in text
    assert "east:1: no answer in time" in text
    assert "Findings" not in text


def test_what_a_broker_says_of_a_member_is_said_once_and_stretches_no_table() -> None:
    words = "the consumer is not online, " * 40
    silent = member("B", None)
    refused = Denied(
        "east:1", GetConsumerRunningInfo(consumer_group="billing", client_id="B"), Refused(code=206, remark=words)
    )
    silent = replace(silent, running=replace(silent.running, trouble=refused))
    lines = drawn(look(Q, [member("A", Q[:2]), silent]), ENDLESS)

    (row,) = [line for line in lines if line.startswith("B  B ")]
    assert "no: not online" in row and len(row) < 80
    (below,) = [line for line in lines if words[:20] in line]
    assert below.startswith("  B: east:1 refused GetConsumerRunningInfo with code 206 (CONSUMER_NOT_ONLINE): the con")
    assert below.endswith("...") and len(below) < 320


def test_hostile_names_and_many_queues_stay_within_the_width() -> None:
    wide = queues(200, topic="t" * 300, broker="b" * 300)
    evil = "\x1b[2J\u202e" + "x" * 1000

    for width in (80, 120, 200):
        lines = drawn(look(wide, [member(evil, wide, "t" * 300), member("消" * 50, [], "t" * 300)]), width)

        assert not any("\x1b" in line or "\u202e" in line for line in lines)
        end = next(number for number, line in enumerate(lines) if line.startswith("Not as the target says"))
        assert max(map(width_of, lines[:end])) <= width  # below, names are told whole


def test_many_members_are_numbered() -> None:
    many = queues(60)
    lines = drawn(look(many, [member(f"m{number:02}", [queue]) for number, queue in enumerate(many)]))

    assert any(line.startswith("60  m59") for line in lines)
    assert any(" 1  2  3" in line for line in lines)


def test_colour_changes_no_word() -> None:
    seen = look(Q, [member("A", Q[:2]), member("B", [Q[1]])])
    coloured = "\n".join(drawn(seen, has_colour=True))

    assert "\x1b[31;1m#\x1b[0m" in coloured


@pytest.mark.parametrize(("model", "said"), [(MessageModel.BROADCASTING, "Every member has every queue.")])
def test_a_broadcasting_group_has_no_owners(model: MessageModel, said: str) -> None:
    text = "\n".join(drawn(look(Q, [member("A", Q), member("B", Q)], model=model)))

    assert said in text
    assert "* * * *" in text
    assert "Not as the target says" not in text


def test_nobody_online_is_said() -> None:
    assert drawn(look([], []))[1] == "Unknown: not everybody who could know this group answered."
