"""The tables of a dry run for spreadsheets and programs: one by one, as they stand on its page."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dashboard.common.tables import write_csv
from dashboard.plans.answers import loads, moves_csv
from dashboard.plans.trying import Trial
from rebalance_engine.measures import Skew

MOVES = "moves"
_LOADS = ("members", "queues", "most", "least", "max_over_mean", "gini", "idle")


def strategies_csv(trial: Trial) -> str:
    """Write every strategy with its moves and how even it would be; an empty field is what cannot be known."""
    columns = ("strategy", "is_chosen", "is_own", "needs_a_plan", "moves", "handoffs", "fewest_handoffs", "unowned")
    rows = []
    for option in trial.options:
        row: list[object] = [option.strategy or None, option is trial.chosen, option.is_own, option.is_followed]
        if option.outcome is None:
            row += [None] * 4
        else:
            count = option.outcome.move_count
            row += [count.total, count.handoffs, count.fewest, len(option.outcome.target.unowned())]
        rows.append([*row, *_figures(option.load), option.same_as or None, option.why or None])
    return write_csv([*columns, *_LOADS, "same_as", "why_not"], rows)


def loads_csv(trial: Trial) -> str:
    """Write every client's queues now and then."""
    columns = ("client_id", "before", "after", "is_new", "is_gone")
    return write_csv(
        columns, ((load.client, load.before, load.after, load.is_new, load.is_gone) for load in loads(trial))
    )


def skew_csv(trial: Trial) -> str:
    """Write how even the loads are now, and then."""
    rows = [["now", *_figures(trial.base_skew)], ["then", *_figures(trial.chosen.load)]]
    return write_csv(["when", *_LOADS], rows)


def queues_csv(trial: Trial) -> str:
    """Write the two maps: who has each queue now, and who would."""
    outcome = trial.chosen.outcome
    was = dict(zip(trial.before.queues, trial.base.all_owners(), strict=True))
    will = {} if outcome is None else dict(zip(trial.after.queues, outcome.target.all_owners(), strict=True))
    rows = (
        (queue.topic, queue.broker, queue.queue_id, was.get(queue), will.get(queue))
        for queue in sorted({*was, *trial.after.queues})
    )
    return write_csv(("topic", "broker", "queue", "before", "after"), rows)


TABLES: Mapping[str, Callable[[Trial], str]] = {
    MOVES: moves_csv,
    "strategies": strategies_csv,
    "loads": loads_csv,
    "skew": skew_csv,
    "queues": queues_csv,
}
_OF_TABLE = {  # fields of the whole answer
    MOVES: ("moves", "unowned", "expected_pause", "expected_twice", "expected_lag"),
    "strategies": ("strategies",),
    "loads": ("members",),
    "skew": ("skew", "skew_before"),
    "queues": ("queues",),
}


def only(answer: Mapping[str, object], table: str) -> dict[str, object]:
    """Leave the other tables out of an answer in plain values; with no table named, none."""
    others = {name for each, names in _OF_TABLE.items() if table and each != table for name in names}
    return {name: value for name, value in answer.items() if name not in others}


def file_name(group: str, table: str) -> str:
    """Name the file of a table."""
    return f"dry-run-{table}-{group}" if table and table != MOVES else f"dry-run-{group}"


def _figures(skew: Skew | None) -> list[object]:
    if skew is None:
        return [None] * len(_LOADS)
    return [skew.members, skew.queues, skew.most, skew.least, skew.max_over_mean, skew.gini, len(skew.idle)]
