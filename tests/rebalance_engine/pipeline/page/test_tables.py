import re
from pathlib import Path

from rebalance_engine.pipeline.page.tables import MOST_ROWS, tables_of
from rebalance_engine.pipeline.reports import read_report
from tests.rebalance_engine.pipeline.test_reports import BROKER, COST, folder, note, put

__all__ = ["folder"]


def tables(folder: Path) -> dict[str, str]:
    return {name: table for name, _, table in tables_of(read_report(folder))}


def test_numbers_are_set_as_such_and_unknown_ones_are_called_so(folder: Path) -> None:
    beats = {"host": "web1", "failed": 3, "expired": None}
    put(folder, "heartbeats", beats)

    told = tables(folder)["heartbeats"]

    assert "<td class='number' data-name='failed'>3</td>" in told
    assert "'expired at a broker'><span class='unknown'>unknown</span></td>" in told
    assert "<th class='number'>failed</th>" in told


def test_skew_stands_in_the_table_of_groups_also_of_one_day(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g", "max_over_mean": 1.05})

    told = tables(tmp_path)["moves"]

    assert "<th>skew</th>" in told
    assert ">1.05</td>" in told


def test_what_is_told_of_groups_stands_in_two_tables_for_which_a_window_has_room(tmp_path: Path) -> None:
    """A window of 1,280 px has room for ten columns of which some are sentences; what may scroll has a name."""
    note(tmp_path)
    more = {"returns": 12, "unheard": 3, "deserted_ms": 9_000, "lock_lost_ms": 50_000, "unowned_ms": 4_000}
    put(tmp_path, "costs", {**COST, **more, "group": "g"}, {**COST, "group": "h"})

    told = tables(tmp_path)

    heads = {name: re.findall(r"<th[^>]*>(.*?)</th>", told[name]) for name in ("groups", "moves")}
    assert heads["groups"][1:3] == ["handoffs", "paused (at least)"]
    assert heads["moves"][-1] == "locks lost"
    assert max(map(len, heads.values())) <= 10
    assert "<td class='number' data-name='members unknown'>3</td>" in told["groups"]
    assert "<td data-name='returns'>at least 12</td>" in told["moves"]
    assert "<td data-name='returns'></td>" in told["moves"]
    assert "role='region' aria-label='Moves and loads of groups' tabindex='0'" in told["moves"]


def test_long_texts_have_room_and_what_is_said_of_no_group_has_none(tmp_path: Path) -> None:
    note(tmp_path)
    still = {"unowned_ms": 16_500, "unowned_most_ms": 16_500, "unowned_open_ms": 1_500}
    put(tmp_path, "costs", {**COST, **still, "group": "g", "deserted_ms": 198_000}, {**COST, "group": "h"})

    told = tables(tmp_path)["groups"]

    assert "<th class='long'>unowned</th><th>off (no member)</th>" in told
    assert "<td class='long' data-name='unowned'>16.5 s, of it 1.5 s of queues that nobody has taken since</td>" in told
    assert "<td data-name='off (no member)'>3.3 min</td>" in told
    assert "members unknown" not in told


def test_a_name_that_is_one_long_word_has_room(tmp_path: Path) -> None:
    note(tmp_path)
    put(tmp_path, "costs", {**COST, "group": "g_orderly_ord"}, {**COST, "group": "shop"})

    assert "<td class='long' data-name='group'>g_orderly_ord</td>" in tables(tmp_path)["groups"]


def test_below_a_table_stands_what_its_columns_mean_and_no_others(folder: Path) -> None:
    """Of a broker to which no send failed nothing is said of how long these took."""
    put(folder, "brokers", {**BROKER, "broker": "east", "isolations": 1, "isolated_ms": 2_000})
    put(folder, "backtest", {"group": "slow", "strategy": "AVG", "handoffs": 39, "pause_ms": 9.0, "mean_skew": 1.0,
                             "idle": 0.0, "says": "keep AVG", "is_best": True})  # fmt: skip

    told = tables(folder)

    assert "within a minute.</p>" in told["moves"]
    assert "also the one in use" in told["back-test"]
    assert "slowest of these" not in told["brokers"]


def test_a_long_table_says_how_much_is_left_out(folder: Path) -> None:
    put(folder, "costs", *({**COST, "group": f"g{n}"} for n in range(MOST_ROWS + 5)), day="2026-11-23")

    assert "7 more are in the tables." in tables(folder)["groups"]
