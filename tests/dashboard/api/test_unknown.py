from __future__ import annotations

from dataclasses import replace

from dashboard.api.unknown import NOT_ALL, NOT_SINCE, NOT_YET, NOTHING, why_no_owner, why_of_row
from dashboard.push.messages import Cell, GroupState, Head, Row
from dashboard.push.runs import Runs

ROW = Row(
    id=1,
    group="g",
    model="CLUSTERING",
    members=2,
    queues=4,
    silent=0,
    orphans=0,
    doubles=0,
    is_converged=True,
    strategy="AVG",
    round=None,
    round_opened_at=None,
    round_closed_at=None,
    round_cause=None,
    round_moves=None,
    rebalanced_at=7,
)
HEAD = Head(
    cluster="shop",
    group="g",
    model="CLUSTERING",
    strategy="AVG",
    is_strategy_assumed=False,
    is_target_known=True,
    is_converged=True,
    orphans=None,
    doubles=None,
    fault_count=0,
    round=None,
)


def test_what_is_known_needs_no_reason() -> None:
    assert why_of_row(ROW) == {}


def test_each_figure_that_is_unknown_has_its_reason() -> None:
    silent = replace(ROW, silent=1, orphans=None, is_converged=None)

    assert why_of_row(silent) == dict.fromkeys(("orphans", "is_converged"), "1 of 2 members do not tell what they hold")
    assert why_of_row(replace(ROW, orphans=None, untold=2))["orphans"] == "2 brokers did not tell who is a member"
    assert why_of_row(replace(ROW, members=None))["members"] == "no broker has told who is a member"
    assert why_of_row(replace(ROW, queues=None, rebalanced_at=None))["queues"] == NOT_YET
    assert "not all of what is held" in why_of_row(replace(ROW, is_converged=None))["is_converged"]
    assert why_of_row(replace(ROW, members=0, queues=0, is_converged=None)) == {"is_converged": NOTHING}
    assert "strategy" in why_of_row(replace(ROW, strategy=""))


def test_who_told_before_the_last_change_alone_has_not_told_since() -> None:
    assert why_of_row(replace(ROW, orphans=None, doubles=None))["orphans"] == NOT_SINCE


def test_a_strategy_that_is_not_known_here_is_why_nobody_knows_whether_held_is_target() -> None:
    own = replace(ROW, strategy="com.shop.Mine", is_converged=None)
    why = {"is_converged": "the strategy com.shop.Mine is not known here"}

    assert why_of_row(own) == why_of_row(replace(own, strategy="mixed: AVG, com.shop.Mine")) == why
    assert why_of_row(replace(own, strategy="mixed: AVG, CONSISTENT_HASH"))["is_converged"] == NOT_ALL
    assert why_of_row(replace(ROW, strategy=""))["strategy"].startswith("not every member has told")


def test_a_queue_without_known_owner_says_who_may_have_it() -> None:
    silent = GroupState(HEAD, (), (cell("A", None), cell("B", (0, 4))), (), ())

    assert why_no_owner(silent) == "1 of 2 members do not tell what they hold"
    assert "east" in why_no_owner(replace(silent, head=replace(HEAD, untold=("east",))))
    assert why_no_owner(GroupState(replace(HEAD, are_members_known=False), (), (), (), ())) == (
        "nobody has told who is a member"
    )
    assert why_no_owner(GroupState(HEAD, (), (cell("A", (0, 4)),), (), ())) == ""


def test_who_has_several_connections_has_not_told_all_that_it_holds() -> None:
    why = "1 of 2 members have several connections each, of which only one can be asked"
    twice = GroupState(HEAD, (), (cell("A", (0, 4), registrations=2), cell("B", ())), (), ())

    assert why_no_owner(twice) == why
    assert why_of_row(replace(ROW, partial=1, orphans=None, doubles=None)) == {"orphans": why, "doubles": why}


def cell(client: str, held: Runs | None, *, registrations: int = 1) -> Cell:
    return Cell(client, registrations, "JAVA", "", "AVG", False, 5, None, None, (), held)
