import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from rebalance_engine.pipeline import reports
from rebalance_engine.pipeline.notes import read_notes
from rebalance_engine.pipeline.page import page
from rebalance_engine.pipeline.reports import read_report
from rebalance_engine.pipeline.summary import NONE_REPLAYED, summary
from tests.rebalance_engine.pipeline.test_reports import BROKER, COST, LOOKED, folder, note, put

__all__ = ["folder"]


class Seen(HTMLParser):
    """What a browser would fetch, and the headings."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.fetched += [str(value) for name, value in attrs if name in ("src", "href")]


def test_the_page_needs_nothing_besides(folder: Path) -> None:
    seen = Seen()

    seen.feed(page(read_report(folder)))

    assert [address for address in seen.fetched if not address.startswith("#")] == []
    assert "table" in seen.open


def test_texts_of_logs_are_escaped(folder: Path) -> None:
    tables = re.sub(r"<script.*?</script>", "", page(read_report(folder)), flags=re.DOTALL)

    assert "&lt;b&gt;quick" in tables
    assert "<b>quick" not in tables


def figures(told: str) -> dict[str, dict[str, list[dict[str, Any]]]]:
    found = re.search(r"<script type='application/json' id='figures'>(.*?)</script>", told, flags=re.DOTALL)
    assert found is not None
    drawn: dict[str, dict[str, list[dict[str, Any]]]] = json.loads(found.group(1))
    return drawn


def test_charts_and_tables_tell_the_groups(folder: Path) -> None:
    told = page(read_report(folder))

    costs = figures(told)["costs"]["traces"]
    assert [(bar["y"], bar["x"]) for bar in costs if "paused" in bar["name"]] == [
        (["slow", "&lt;b&gt;quick"], [3.0, 10 / 60_000])
    ]
    assert ">3.0 min</td>" in told
    assert "Back-test</h2><p>No back-test was run yet." in told


def test_a_back_test_that_found_nothing_is_not_said_to_be_missing(folder: Path) -> None:
    notes = read_notes(folder)
    notes.of("default").tested = notes.record_of("default")
    notes.save(folder)

    told = page(read_report(folder))

    assert f"Back-test</h2><p>{NONE_REPLAYED}" in told
    assert "No back-test was run yet" not in told


def test_what_the_back_test_estimates_has_another_name_than_what_logs_tell(folder: Path) -> None:
    of = {"strategy": "AVG", "handoffs": 4, "mean_skew": 1.0, "idle": 0.0, "says": None, "is_best": True}
    put(folder, "backtest", {"group": "slow", "pause_ms": 9_000.0, **of})

    told = page(read_report(folder))

    assert re.findall(r"<th[^>]*>(paused[^<]*)<", told) == [*["paused (at least)"] * 2, "paused (estimate)"]
    assert "Paused (estimate): the handoffs times the mean pause" in told


def test_the_page_says_of_the_worst_groups_pause_and_of_bars_that_they_are_bounds(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "unowned_most_ms": 9_000})

    told = page(read_report(tmp_path))

    assert "<dd>g<small>paused at least 90.0 s</small>" in told
    assert "<p class='note'>A bar is what is known at least; the line beyond it ends at" in told


def test_what_has_no_share_in_the_figures_is_a_list_with_the_files_below_their_sentence(tmp_path: Path) -> None:
    note(
        tmp_path, troubles={"web1/<a>.log": "empty"}, refused=["refused: 2 lines of web2; give it, as --zone web2=UTC"]
    )
    put(tmp_path, "costs", {**COST, "group": "g", "duplicates_least": None, "duplicates_most": None})

    told = page(read_report(tmp_path))

    assert (
        "<ul class='wrong'><li>1 file was read in part, or not:</li><li class=below>web1/&lt;a&gt;.log: empty</li>"
        "<li>refused: 2 lines of web2; give it, as <span class='option'>--zone</span> web2=UTC</li></ul>"
    ) in told
    assert "<dd>unknown<small>messages</small>" in told


def test_the_page_names_hosts_whose_layout_is_not_verified_on_real_logs(tmp_path: Path) -> None:
    note(tmp_path, files={"web2/rocketmq.log": {"host": "web2", "layout": "go"}})

    told = page(read_report(tmp_path))

    assert "layout that is not verified on real logs" in told
    assert "<li class=below>web2 (go)</li>" in told


def test_no_text_of_a_log_ends_the_script(folder: Path) -> None:
    hostile = {"group": "</script><script>alert(1)", "pause_ms": 5, "taken_ms": 0, "topic": "t", "broker": "b"}
    put(folder, "handoffs", {**hostile, "queue_id": 0, "from_client": "A", "to_client": "B"})
    put(folder, "costs", {**COST, "group": hostile["group"]}, day="2026-11-23")

    told = page(read_report(folder))

    assert "<script>alert(1)" not in told
    assert [row["name"] for row in figures(told)["handoffs"]["traces"]] == ["&lt;/script&gt;&lt;script&gt;alert(1)"]


def test_of_many_handoffs_the_longest_are_drawn_and_it_says_so(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MOST_HANDOFFS", 2)
    of = {"group": "slow", "topic": "t", "broker": "b", "queue_id": 0, "from_client": "A", "to_client": "B"}
    put(folder, "handoffs", *({**of, "taken_ms": at_ms, "pause_ms": at_ms} for at_ms in (3_000, 1_000, 2_000)))

    report = read_report(folder)
    told = page(report)

    assert [row["pause_ms"] for row in report.handoffs] == [2_000, 3_000]
    assert "The 2 longest of 3 handoffs." in told
    assert "3 handoffs" in told


def test_only_a_rate_that_rose_is_a_burst_and_the_strongest_comes_first(folder: Path) -> None:
    put(folder, "looked", {**LOOKED, "offsets": 1})
    of = {"group": "slow", "at_ms": 0, "before_per_s": 10.0, "peak_per_s": 1.0, "recovered_ms": 0}
    put(folder, "spikes", {**of, "factor": 0.34}, {**of, "factor": 2.5}, {**of, "factor": 7.25})

    told = page(read_report(folder))

    assert "0.34</td>" not in told
    assert told.index("7.25</td>") < told.index("2.50</td>")


def test_what_nobody_would_have_told_is_unknown_and_not_none(folder: Path) -> None:
    before = page(read_report(folder))
    put(folder, "looked", {**LOOKED, "offsets": 1})

    told = page(read_report(folder))

    assert "Bursts after rounds</h2><p>Unknown: no offsets were read." in before
    assert "Bursts after rounds</h2><p>None was seen." in told  # no round is there
    assert "Heartbeats lost</h2><p>Unknown: " in told
    assert "backed away from</h2><p>Unknown: no log was read of a producer that tells it" in told


def test_files_that_were_not_read_are_named(folder: Path) -> None:
    note(folder, troubles={"web1/<x>.log": "empty"}, refused=["refused: 2 lines of web2 (java4)"])

    told = page(read_report(folder))

    assert "web1/&lt;x&gt;.log: empty" in told
    assert "refused: 2 lines of web2" in told


def test_only_the_recommended_strategy_has_a_verdict_and_that_of_the_others_is_not_unknown(folder: Path) -> None:
    row = {"group": "g", "handoffs": 1, "pause_ms": 2_000, "mean_skew": 1.0, "idle": 0.0}
    best = {**row, "strategy": "STICKY", "is_best": True, "says": "2 handoffs less"}
    put(folder, "backtest", best, {**row, "strategy": "AVG", "is_best": False, "says": None})

    table = page(read_report(folder)).split("Back-test</h2>")[1].split("</table>")[0]

    assert ">2 handoffs less</td>" in table
    assert "unknown" not in table


def test_groups_without_owners_have_a_table_only_where_there_are_any(folder: Path) -> None:
    before = page(read_report(folder))
    put(folder, "models", {"group": "<news>", "model": "broadcasting"})

    told = page(read_report(folder))

    assert "Broadcasting and POP groups" not in before
    assert "&lt;news&gt;</td><td class='long' data-name=" in told
    assert ">broadcasting: every member holds every queue" in told


def test_waiting_for_locks_silence_and_idle_time_are_told(tmp_path: Path) -> None:
    note(tmp_path)
    waited = {"pause_locked_ms": 60_000, "silence_most_ms": 12_000, "silence_unbounded": 1}
    put(tmp_path, "costs", {"group": "g", **COST, **waited, "idle_ms": 3, "present_ms": 12})

    told = page(read_report(tmp_path))

    assert ">90.0 s, of it 60.0 s waiting for locks</td>" in told
    assert ">at most 12.0 s in 3 handoffs, unknown in the rest</td>" in told
    assert ">3 ms (25.00 % of their time)</td>" in told
    assert "at least, all queues together; 60.0 s of it waiting for locks" in told


def test_storms_stand_in_one_order_and_shares_are_percent_as_in_the_summary(folder: Path) -> None:
    storm = {"at_ms": 0, "until_ms": 9, "starter": "A", "cause": "member joined", "pause_ms": 1}
    put(folder, "storms", {**storm, "group": "early", "rounds": 4}, {**storm, "group": "most", "rounds": 9, "at_ms": 9},
        day="2026-11-23")  # fmt: skip
    put(folder, "brokers", {**BROKER, "broker": "east", "isolated_ms": 5, "isolated_share": 0.0556, "isolations": 1})

    report = read_report(folder)
    shown, said = page(report).split("Storms</h2>")[1], summary(report).split("Storms: ")[1]

    for told in (shown, said):
        assert told.index("most") < told.index("slow") < told.index("early")
        assert "5.56 %" in told


def test_an_option_is_not_broken_after_its_hyphens(folder: Path) -> None:
    note(folder, refused=["refused: give it, as --zone web1=Asia/Shanghai"])

    assert "as <span class='option'>--zone</span> web1=Asia/Shanghai" in page(read_report(folder))


def test_of_each_cluster_none_was_seen_only_where_somebody_looked(folder: Path) -> None:
    note(folder, cluster="b")
    put(folder, "looked", {**LOOKED, "holds": 2})

    told = page(read_report(folder))

    assert "<p>None was seen; unknown in cluster b: no log of a consumer was read.</p>" in told  # deploys
    assert "<p class='note'>Unknown in cluster b: no log of a consumer was read.</p>" in told  # groups, storms
    assert "<p>Unknown: no offsets were read.</p>" in told


def test_groups_of_equal_name_are_drawn_by_cluster(folder: Path) -> None:
    note(folder, cluster="b")
    put(folder, "costs", {**COST, "group": "slow", "pause_ms": 5}, cluster="b")

    told = page(read_report(folder))

    assert ">b: slow</td>" in told
    assert {"default: slow", "b: slow"} < {*figures(told)["costs"]["traces"][0]["y"]}


@pytest.mark.parametrize(
    ("least", "said"),
    [
        (None, "<dd>7<small>messages, at most, in 1 of 4 handoffs; else unknown</small>"),
        (3, "<dd>3<small>messages, at least</small>"),
    ],
)
def test_the_card_of_what_came_twice_says_at_most_where_only_that_is_known(
    tmp_path: Path, least: int | None, said: str
) -> None:
    note(tmp_path)
    known = {"duplicates_least": least, "duplicates_most": 7, "handoffs": 4, "duplicates_unbounded": 3}
    put(tmp_path, "costs", {**COST, "group": "g", **known})

    assert said in page(read_report(tmp_path))


def test_bursts_are_unknown_where_no_minutes_were_there_to_look_at_and_last_at_least_as_long_as_anybody_looked(
    folder: Path,
) -> None:
    put(folder, "looked", {**LOOKED, "offsets": 1})
    put(folder, "rounds", {"group": "slow", "number": 1}, {"group": "slow", "number": 2})
    heading, others = (
        "Bursts after rounds</h2><p>",
        "; the others have no whole minutes with offsets before and after them",
    )
    unseen = page(read_report(folder))
    of = {"group": "slow", "at_ms": 0, "before_per_s": 10.0, "peak_per_s": 10.0, "recovered_ms": 960_000}
    put(folder, "spikes", {**of, "factor": 1.0, "is_over": True})
    quiet = page(read_report(folder))
    put(folder, "spikes", {**of, "factor": 5.0, "is_over": False}, day="2026-11-22")

    assert f"{heading}Unknown: no round has whole minutes with offsets before and after it." in unseen
    assert f"{heading}None was seen after 1 of 2 rounds{others}." in quiet
    assert ">at least 16.0 min</td>" in page(read_report(folder))


def test_the_cards_say_no_more_of_members_whom_no_log_tells_than_is_known(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "unowned_ms": 1_500, "unowned_most_ms": 204_000, "unheard": 1})

    told = page(read_report(tmp_path))

    assert "<dt>unowned</dt><dd>1.5 s to 3.4 min<small>" in told
    assert "<dt>two owners</dt><dd>unknown<small>" in told
    assert "<dd>2<small>messages, at least</small>" in told


def test_queues_of_groups_without_members_are_beside_what_is_unowned(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "unowned_ms": 3_000, "deserted_ms": 7_200_000})

    report = read_report(tmp_path)

    assert "<dd>3.0 s<small>until somebody took it; and 2.0 h while groups were off, without any member" in page(report)
    assert "unowned 3.0 s; and 2.0 h while the group was off" in summary(report)
