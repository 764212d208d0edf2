from dataclasses import replace

from rebalance_engine.cli.judging import judge_look
from rebalance_engine.cli.unknown import APART
from rebalance_engine.effects import Failure
from rebalance_engine.network.asked import Heard
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.looking import GroupLook
from rebalance_engine.remoting.bodies.settings import SubscriptionGroupConfig, SubscriptionGroupWrapper
from tests.rebalance_engine.cli.looks import look, member, queues

Q = queues(4)
SOUND = look(Q, [member("A", Q[:2]), member("B", Q[2:])])
SILENCE = NoAnswer(Failure.TIMEOUT, "west:1")


def judged(seen: GroupLook) -> tuple[bool | None, str]:
    judgement = judge_look(seen)
    return judgement.converged, judgement.unknown.sentence if judgement.unknown else ""


def test_where_everybody_told_it_is_known_whether_held_equals_target() -> None:
    assert judged(SOUND) == (True, "")
    assert judged(look(Q, [member("A", Q[:2]), member("B", Q[2:3])])) == (False, "")


def test_where_nobody_is_online_nothing_can_be_held_as_a_target_says() -> None:
    by = SOUND.lists["east"].by
    nobody = replace(look([], []), configs={"east": Heard(by, SubscriptionGroupWrapper())})
    configured = SubscriptionGroupWrapper(
        subscription_group_table={"billing": SubscriptionGroupConfig(group_name="billing")}
    )
    known = replace(nobody, configs={"east": Heard(by, configured)})
    partly = replace(known, lists={**known.lists, "west": Heard(by, trouble=SILENCE)})

    assert judged(replace(nobody, configs={})) == (None, "Unknown: not everybody who could know this group answered.")
    assert judged(nobody) == (None, "No broker knows this group.")
    assert judged(known) == (
        None,
        f"Nobody is online; {APART}.",
    )
    assert judged(partly) == (None, f"Nobody is online at the brokers that answered; {APART}.")


def test_who_did_not_say_what_it_holds_leaves_it_unknown() -> None:
    silent = judged(look(Q, [member("A", Q[:2]), member("B", None)]))
    twice = judged(look(Q, [member("A", Q[:2], times=2), member("B", Q[2:], times=3)]))

    assert silent == (None, "Unknown: 1 member did not say what it holds.")
    told = "A has 2 connections, and so with 1 more id, of which only one can be asked."
    assert twice == (None, f"Unknown: {told}")


def test_where_all_come_through_a_proxy_nobody_is_to_have_anything_and_nobody_has() -> None:
    proxied = member("web-1@1@0@d1o2m9xh3k", None)

    assert judged(look(Q, [proxied])) == (True, "No queues that members own: all come through a proxy.")
    assert judged(look(Q, [proxied, member("B", None)])) == (None, "Unknown: 1 member did not say what it holds.")


def test_a_broker_that_does_not_tell_its_members_may_know_more() -> None:
    by = SOUND.lists["east"].by
    less = look(Q, [member("A", Q[:2]), member("B", Q[2:3])])
    lacking, differing = (
        replace(each, lists={**each.lists, "west": Heard(by, trouble=SILENCE)}) for each in (SOUND, less)
    )

    assert judged(lacking) == (None, "Held as the target says, if west knows no further member.")
    assert judged(differing) == (None, "Not held as the target says, if west knows no further member.")


def test_a_topic_of_which_no_name_server_tells_leaves_it_unknown() -> None:
    by, sound = SOUND.lists["east"].by, look([], [member("A", [])])
    unrouted = replace(sound, routes={("orders", "n:1"): Heard(by, trouble=SILENCE)})
    routed = replace(unrouted, routes={**unrouted.routes, ("orders", "n:2"): Heard(by, None)})

    assert judged(unrouted) == (None, "Unknown: no name server told which queues orders has.")
    assert judged(routed) == (True, "")
