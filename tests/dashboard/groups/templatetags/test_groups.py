from __future__ import annotations

import re
from dataclasses import replace

from django.template.loader import render_to_string
from django.test import RequestFactory

from dashboard.config.home import ROOT
from dashboard.groups.pictured import Load
from dashboard.groups.templatetags.groups import (
    beyond,
    cause,
    causes_legend,
    dumbbells,
    lanes_room,
    of_a_kind,
    paged,
    round_state,
    round_when,
    tails,
    verb,
)
from dashboard.push.messages import Fault, Row
from rebalance_engine.events import Cause

ROW = Row(
    1,
    "g",
    None,
    1,
    1,
    0,
    0,
    0,
    is_converged=True,
    strategy="",
    round=1,
    round_opened_at=1_000,
    round_closed_at=None,
    round_cause="manual",
    round_moves=3,
    rebalanced_at=1,
)


def test_values_become_words() -> None:
    assert cause("member joined") == "member joined"
    assert round_state("open") == "open"
    assert (verb("group.recompute"), verb("grant a role")) == ("Recompute now", "grant a role")


def test_a_row_says_how_its_latest_round_stands() -> None:
    assert round_when(ROW, 5_500) == "open for 4.5\u00a0s"
    assert round_when(ROW, 121_000) == "not converged, open for 2\u00a0min\u00a000\u00a0s"
    assert round_when(replace(ROW, round_closed_at=4_500), 5_500) == "1.0\u00a0s ago, 3 moved"
    assert round_when(replace(ROW, round_closed_at=4_500, members=0), 5_500) == "1.0\u00a0s ago"
    assert round_when(replace(ROW, round_opened_at=None), 5_500) == ""


def test_faults_of_a_kind_stand_together() -> None:
    def fault(kind: str, subject: str) -> Fault:
        return Fault(kind, subject, "s", (), 1, None, None)

    one, two, three = fault("a", "1"), fault("b", "2"), fault("a", "3")

    assert of_a_kind([one, two, three]) == [(one, [three]), (two, [])]


def test_loads_stand_on_one_axis_and_unknown_ones_nowhere() -> None:
    found = dumbbells([Load("A", 11, 0), Load("B", None, 22)])
    long = [Load(f"127.0.0.1@{'warehouse-' * 5}{n}", 1, 1) for n in "21"]

    assert [(each["before"], each["after"]) for each in found] == [(50, 4), (None, 96)]
    assert dumbbells([Load("A", 0, None)])[0]["before"] == 4
    assert [each["name"] for each in dumbbells(long)] == [("127.0.0.1@warehouse-…rehouse-warehouse-", n) for n in "21"]


def test_names_are_parted_as_in_the_map() -> None:
    assert tails(["192.0.2.2@c1", "192.0.2.2@c2"]) == [("192.0.2.2@", "c1"), ("192.0.2.2@", "c2")]
    assert tails(["192.0.2.2@c1"]) == [("192.0.2.2@", "c1")]
    assert tails(["beta", "alpha", "beta"]) == [("", "beta"), ("", "alpha"), ("", "beta")]
    assert tails(["a@x-1", "b@y", "a@x-22"]) == [("a@x-", "1"), ("", "b@y"), ("a@x-", "22")]
    assert tails([]) == []


def test_members_come_in_pages_and_none_is_left_out() -> None:
    members, request = list(range(60)), RequestFactory().get("/groups/1/", {"queue": "a/b/0", "part": "side"})

    first = paged(members, request)

    assert (first.rows, first.first, first.last, first.count) == (members[:25], 1, 25, 60)
    assert (first.before, first.after) == (None, "/groups/1/?queue=a%2Fb%2F0&members=2")
    last = paged(members, RequestFactory().get("/groups/1/", {"members": "99"}))
    assert (last.rows, last.last, last.after) == (members[50:], 60, None)
    assert paged([], RequestFactory().get("/", {"members": "x"})).count == 0


def test_the_signs_of_causes_have_their_words() -> None:
    legend = render_to_string("groups/_causes.html", causes_legend())

    for each in (kind.value for kind in Cause):
        assert f'data-glyph="{each}" viewBox="-6 -6 12 12"></svg>{cause(each)}<' in legend


def test_the_bands_of_the_time_bar_have_their_words_where_there_are_any() -> None:
    divided, shared = (
        render_to_string("groups/_causes.html", causes_legend(model)) for model in ("CLUSTERING", "BROADCASTING")
    )

    for look, words in (
        ("band-perhaps", "perhaps no owner"),
        ("band-unknown", "owners unknown"),
        ("band-later", "not looked at yet"),
    ):
        assert re.search(rf'class="{look}"[^>]*></rect></svg>{words}<', divided)
        assert look not in shared


def test_the_map_of_a_broadcasting_group_has_no_marks_of_a_second_owner_or_of_moves() -> None:
    divided, shared = (
        render_to_string("groups/_legend.html", {"group": {"model": model}}) for model in ("CLUSTERING", "BROADCASTING")
    )

    for words in ("held, should let go", "two owners", "perhaps two owners", "moved"):
        assert words in divided and words not in shared
    assert "held and wanted" in shared


def test_loads_say_how_many_queues_changed_hands_where_each_has_as_many_as_before() -> None:
    facts = {"loads": [Load("A", 4, 4), Load("B", 4, 4)], "moved_so_far": 2}

    over = render_to_string("groups/_loads.html", {**facts, "round": {"closed_at": 1, "changed_count": 6}})
    is_open = render_to_string("groups/_loads.html", {**facts, "round": {"closed_at": None, "changed_count": None}})
    unknown = render_to_string("groups/_loads.html", {**facts, "round": {"closed_at": 1, "changed_count": None}})

    assert "<small>6 queues changed hands</small>" in over
    assert "<small>2 queues changed hands so far</small>" in is_open
    assert "changed hands" not in unknown


def test_the_end_of_an_id_beside_its_load_says_how_many_letters_are_never_cut() -> None:
    loads = [Load("10.0.0.1@billing-7", 1, 2), Load("10.0.0.1@billing-12", 1, 2)]

    page = render_to_string("groups/_loads.html", {"loads": loads})

    assert re.findall(r'data-end="(\d+)"', page) == ["1", "2"]
    assert '.id.parted[data-end="12"]' in (ROOT / "static" / "css" / "map.css").read_text()


def test_lanes_on_a_phone_have_room_for_their_words_above_the_bars() -> None:
    assert lanes_room([{}, {}]).count('height="142"') == 1


def test_what_is_left_out_of_a_proof_is_counted_too() -> None:
    rows = [f"c{number} answered" for number in range(50)]

    assert beyond(rows, 4) == 46
    assert beyond([*rows, "and 70 more alike"], 4) == 116
    page = " ".join(render_to_string("groups/_proof.html", {"proof": [*rows, "and 70 more alike"]}).split())
    assert "<summary>and 116 more</summary>" in page
