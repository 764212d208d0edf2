from rebalance_engine.model import MessageQueue
from rebalance_engine.simulation.figures import Figures, Span, longest

QUEUE = MessageQueue("orders", "east", 0)


def test_one_line_says_them_all() -> None:
    figures = Figures(seeds=1, events=12_345, moves=2, duplicates=1, overlaps=[Span(QUEUE, 0, 5)])

    assert str(figures) == "1 seed, 12,345 events, 2 moves, 1 overlap, 1 duplicate"


def test_figures_of_runs_add_up() -> None:
    total = Figures()

    for _ in range(2):
        total.add(Figures(seeds=1, events=10, moves=3, duplicates=4, consumed=5, silences=[Span(QUEUE, 0, 5)]))

    assert str(total) == "2 seeds, 20 events, 6 moves, 0 overlaps, 8 duplicates"
    assert (total.consumed, len(total.silences)) == (10, 2)


def test_the_longest_of_none_is_nothing() -> None:
    assert longest([]) == 0
    assert longest([Span(QUEUE, 0, 5), Span(QUEUE, 9, 7)]) == 7
