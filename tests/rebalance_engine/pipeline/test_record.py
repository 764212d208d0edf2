from typing import Any

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.record import Hold, Known, State, in_use, states_of
from tests.rebalance_engine.pipeline.test_measures import opened

QUEUES = tuple(MessageQueue("orders", "east", number) for number in range(12))
STATES = [State(0, ("A",), QUEUES), State(1000, ("A", "B"), QUEUES)]


def known(*held: tuple[int, int, int], **more: Any) -> Known:
    """Give what is known where queues, each from when until when, were held."""
    return Known(holds=[Hold(QUEUES[number], "A", since, until) for number, since, until in held], **more)


ROUNDS = [
    opened(1, 1_000, members_after=["A"]),
    opened(2, 49_000, members_after=["B"]),
    opened(3, 90_000, members_after=["C"]),
]


def test_a_strategy_is_known_where_all_who_held_something_named_the_same() -> None:
    def named(**strategies: set[str | None]) -> str:
        known = Known(strategies=dict(strategies), holds=[Hold(QUEUES[0], name, 0, 9) for name in "AB"])
        return in_use(STATES, known)

    assert named(A={"AVG"}, B={"AVG"}) == "AVG"
    assert named(A={"AVG"}, B={"AVG"}, C={None}) == "AVG"
    assert named(A={"AVG"}, B={None}) == "AVG, unknown"
    assert named(A={"AVG"}) == "AVG, unknown"
    assert named(A={"AVG"}, B={"AVG_BY_CIRCLE"}) == "AVG, AVG_BY_CIRCLE"
    assert in_use(STATES, Known()) == "unknown"


def test_states_have_the_queues_that_routes_tell_held_or_not() -> None:
    told = states_of(ROUNDS, known((0, 0, 99_000), routes={"orders": [(900, {"east": 4}), (80_000, {"east": 6})]}))

    assert [(state.members, len(state.queues or ())) for state in told] == [(("A",), 4), (("B",), 4), (("C",), 6)]


def test_states_have_the_queues_that_were_held_where_a_result_counts_just_these() -> None:
    """A round's result line follows its last take, half a second after it opened."""
    sizes = {"orders": [(1_600, 1), (49_600, 3), (90_600, 2)]}

    told = states_of(ROUNDS, known((0, 0, 99_000), (1, 40_000, 99_000), sizes=sizes))

    assert [None if state.queues is None else len(state.queues) for state in told] == [1, None, 2]


def test_who_held_nothing_was_lost_where_the_round_in_which_it_went_says_so() -> None:
    """A was killed, B stopped; C came back before it was lost; of D and E one is given up, and no line says which."""
    rounds = [
        opened(1, 1_000, members_after=["A", "B", "C", "D", "E"]),
        opened(2, 20_000, causes=["connection closed", "route changed"], who=["A"], members_after=["B", "C", "D", "E"]),
        opened(3, 40_000, causes=["member left"], who=["B"], members_after=["C", "D", "E"]),
        opened(4, 50_000, causes=["connection closed", "member joined"], who=["C", "C"], members_after=["C", "D", "E"]),
        opened(5, 60_000, causes=["heartbeat expired", "connection closed"], who=["C"], members_after=["D", "E"]),
        opened(6, 80_000, causes=["heartbeat expired", "member left"], who=["D"], members_after=["E"]),
    ]

    told = states_of(rounds, known((0, 0, 99_000), routes={"orders": [(0, {"east": 4})]}))

    assert [sorted(state.lost) for state in told] == [[], ["A"], [], [], ["C"], []]
