from collections.abc import Sequence

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.rounds import LOG_ENDS, Cause, presence_of, rounds_of
from rebalance_engine.pipeline.sweep import Hold

QUEUES = [MessageQueue("orders", "east", number) for number in range(4)]


def holding(*spans: tuple[int, int, int, str]) -> dict[MessageQueue, Sequence[Hold]]:
    """Make holds of (queue, from, until, client)."""
    found: dict[MessageQueue, list[Hold]] = {}
    for queue, begin, end, client in spans:
        found.setdefault(QUEUES[queue], []).append(Hold(begin, end, client, "open" if end == 900_000 else "released"))
    return dict(found)


def test_a_join_opens_a_round_that_settles_with_its_last_take() -> None:
    holds = holding(
        (0, 10_000, 900_000, "A"), (1, 10_000, 900_000, "A"), (2, 10_000, 60_500, "A"), (3, 10_000, 60_500, "A"),
        (2, 60_900, 900_000, "B"), (3, 61_000, 900_000, "B"),
    )  # fmt: skip

    first, second = rounds_of(holds, [Cause(9_000, "joined", "A", "east"), Cause(60_000, "joined", "B", "east")])

    assert (first.cause, first.settled_ms, first.members_after) == ("member joined", 10_000, ["A"])
    assert (second.number, second.cause, second.who, second.settled_ms) == (2, "member joined", ["B"], 61_000)
    assert (second.moves, second.handoffs, second.above_fewest, second.unowned) == (2, 2, 0, 0)


def test_a_move_soon_before_a_cause_is_of_the_round_before_and_of_no_other() -> None:
    """What is taken at 69,500 belongs to B's coming, which began at 60,000; then C comes, and takes one."""
    holds = holding(
        (0, 10_000, 900_000, "A"), (1, 10_000, 60_500, "A"), (2, 10_000, 69_000, "A"),
        (1, 60_600, 70_800, "B"), (2, 69_500, 900_000, "B"), (1, 71_000, 900_000, "C"),
    )  # fmt: skip
    joins = [Cause(at, "joined", client, "east") for at, client in ((9_000, "A"), (60_000, "B"), (70_000, "C"))]

    told = rounds_of(holds, joins)

    assert [(one.who, one.moves, one.settled_ms) for one in told] == [
        (["A"], 3, 10_000),
        (["B"], 2, 69_500),
        (["C"], 1, 71_000),
    ]
    assert [one.members_before for one in told] == [[], ["A"], ["A", "B"]]


def test_a_round_has_the_members_of_all_its_causes() -> None:
    causes = [Cause(1_000, "joined", "A", "east"), Cause(3_500, "joined", "B", "east")]

    (only,) = rounds_of(holding((0, 2_000, 900_000, "A")), causes)

    assert (only.members_after, only.settled_ms) == (["A", "B"], 2_000)


def test_what_is_held_when_the_input_ends_moves_nowhere_with_its_last_line() -> None:
    causes = [Cause(1_000, "joined", "A", "east"), Cause(900_000, "joined", "B", "east")]

    told = rounds_of(holding((0, 2_000, 900_000, "A")), causes)

    assert [(one.members_after, one.moves, one.unowned) for one in told] == [(["A"], 1, 0), (["A", "B"], 0, 0)]


def test_a_round_of_nobody_is_none() -> None:
    causes = [Cause(1_000, "joined", None, "east"), Cause(100_000, "joined", "A", "east")]

    (only,) = rounds_of(holding((0, 101_000, 900_000, "A")), causes)

    assert (only.number, only.who) == (1, ["A"])


def test_what_two_brokers_and_the_client_say_of_one_join_is_one_cause() -> None:
    causes = [
        Cause(60_000, "joined", "A", "east"),
        Cause(60_400, "consumer started", "A", "web1"),
        Cause(61_000, "joined", "A", "west"),
    ]

    (only,) = rounds_of(holding((0, 62_000, 900_000, "A")), causes)

    assert only.causes == ["member joined"]


def test_a_member_that_comes_and_goes_within_seconds_makes_a_round_each_time_though_nothing_moves() -> None:
    """What the second broker says of each time, and a broker that says a going twice, make none."""
    holds = holding((0, 500, 900_000, "A"))
    flaps = [(begin + shift, what) for begin in range(60_000, 90_000, 10_000) for shift, what in FLAP]
    causes = [Cause(at + lag, what, "B", by) for at, what in flaps for lag, by in ((0, "east"), (1_000, "west"))]

    told = [one for one in rounds_of(holds, causes) if one.causes]

    assert [(one.cause, one.opened_ms) for one in told] == [
        (cause, begin + shift)
        for begin in range(60_000, 90_000, 10_000)
        for shift, cause in ((0, "member joined"), (5_000, "member left"))
    ]


FLAP = ((0, "joined"), (5_000, "left"), (5_000, "closed"))


def test_a_shutdown_that_takes_long_after_its_good_bye_is_no_second_going() -> None:
    causes = [
        Cause(1_000, "joined", "A", "east"),
        Cause(60_000, "left", "A", "east"),
        Cause(75_000, "consumer stopped", "A", "web1"),
        Cause(90_000, "consumer started", "A", "web1"),
        Cause(150_000, "consumer stopped", "A", "web1"),
    ]

    told = rounds_of(holding((0, 2_000, 75_000, "A")), causes)

    assert [(one.cause, one.opened_ms) for one in told] == [
        ("member joined", 1_000),
        ("member left", 60_000),
        ("member joined", 90_000),
        ("member left", 150_000),
    ]


def test_what_others_take_from_the_good_bye_on_is_of_the_round_of_the_stop() -> None:
    """No broker tells of A's stop, which ends 12 s after its first good-bye; B was told, and takes what A had."""
    holds = holding(
        (0, 1_500, 900_000, "B"), (1, 2_000, 72_000, "A"), (2, 2_000, 72_000, "A"),
        (1, 60_400, 900_000, "B"), (2, 60_400, 900_000, "B"),
    )  # fmt: skip
    causes = [
        *(Cause(1_000, "joined", client, "east") for client in "AB"),
        Cause(60_000, "unregistered", "A", "web1"),
        Cause(72_000, "consumer stopped", "A", "web1"),
    ]

    told = [(one.cause, one.opened_ms, one.members_after) for one in rounds_of(holds, causes)]

    assert told == [("member joined", 1_000, ["A", "B"]), ("member left", 60_000, ["B"])]


def test_a_later_cause_supersedes_a_round_that_is_not_quiet() -> None:
    causes = [Cause(1_000, "joined", "A", "east"), Cause(5_000, "joined", "B", "east")]
    holds = holding((0, 4_000, 900_000, "A"), (1, 8_000, 900_000, "B"))

    first, second = rounds_of(holds, causes)

    assert (first.superseded, second.superseded) == (True, False)


def test_a_connection_that_ends_at_one_broker_only_tells_of_the_broker() -> None:
    causes = [
        Cause(1_000, "joined", "A", "east"),
        Cause(1_000, "joined", "A", "west"),
        Cause(50_000, "closed", "A", "west"),
        Cause(90_000, "joined", "A", "west"),
    ]

    told = rounds_of(holding((0, 2_000, 900_000, "A")), causes)

    assert [one.cause for one in told] == ["member joined", "broker gone", "broker back"]
    assert told[1].members_after == ["A"]


def test_who_holds_something_all_the_time_has_not_gone_though_no_broker_that_it_is_known_to_be_at_is_left() -> None:
    """West's log has a hole when A comes; east goes and comes back."""
    causes = [
        Cause(1_000, "joined", "A", "east"),
        Cause(50_000, "closed", "A", "east"),
        Cause(90_000, "joined", "A", "east"),
    ]

    told = rounds_of(holding((0, 2_000, 900_000, "A")), causes)

    assert [one.causes for one in told] == [["member joined"], ["broker gone"], ["broker back"]]
    assert [one.members_after for one in told] == [["A"]] * 3


def test_who_is_lost_has_gone_though_a_broker_does_not_say_so() -> None:
    """West's log has a hole when A is killed; it comes back under its id."""
    causes = [
        *(Cause(1_000, "joined", "A", by) for by in ("east", "west")),
        Cause(50_000, "closed", "A", "east"),
        Cause(50_300, "lost", "A"),
        *(Cause(90_000, "joined", "A", by) for by in ("east", "west")),
    ]

    told = rounds_of(holding((0, 2_000, 50_300, "A"), (0, 92_000, 900_000, "A")), causes)

    assert [one.causes for one in told] == [["member joined"], ["connection closed"], ["member joined"]]


def test_a_broker_whose_log_has_ended_lists_nobody_that_is_known() -> None:
    """West's log was copied at 40,000: A is killed at 50,000, and back at 90,000."""
    causes = [
        *(Cause(1_000, "joined", "A", by) for by in ("east", "west")),
        Cause(40_000, LOG_ENDS, None, "west"),
        Cause(50_000, "closed", "A", "east"),
        Cause(90_000, "joined", "A", "east"),
    ]

    told = rounds_of(holding((0, 2_000, 50_000, "A"), (0, 92_000, 900_000, "A")), causes)

    assert [one.causes for one in told] == [["member joined"], ["connection closed"], ["member joined"]]


def test_who_began_a_round_is_the_first_that_a_cause_names_be_it_a_member_or_a_broker() -> None:
    """Of a member that comes or goes the broker only tells; one that gives up somebody unnamed began nothing."""
    causes = [
        Cause(1_000, "joined", "A", "host/b1", "east"),
        Cause(1_000, "joined", "A", "host/b2", "west"),
        Cause(50_000, "closed", "A", "host/b2", "west"),
        Cause(90_000, "route changed", None, "web1", "west"),
        Cause(91_000, "joined", "A", "host/b2", "west"),
        Cause(300_000, "expired", None, "host/b1", "east"),
        Cause(302_000, "joined", "B", "host/b1", "east"),
        Cause(500_000, "route changed", None, "web1", None),
    ]
    holds = holding((0, 2_000, 900_000, "A"), (1, 501_000, 900_000, "A"))

    told = rounds_of(holds, causes)

    assert [(one.opened_ms, one.causes, one.begun_by) for one in told] == [
        (1_000, ["member joined"], "A"),
        (50_000, ["broker gone"], "west"),
        (90_000, ["route changed", "broker back"], "west"),
        (300_000, ["heartbeat expired", "member joined"], "B"),
        (500_000, ["route changed"], None),
    ]
    assert told[1].who == []


def test_a_connection_that_ends_at_every_broker_is_a_member_that_went() -> None:
    causes = [
        Cause(1_000, "joined", "A", "east"),
        Cause(1_000, "joined", "A", "west"),
        Cause(50_000, "closed", "A", "east"),
        Cause(51_000, "closed", "A", "west"),
    ]

    told = rounds_of(holding((0, 2_000, 50_000, "A")), causes)

    assert [(one.cause, one.members_after) for one in told] == [("member joined", ["A"]), ("connection closed", [])]


def test_routes_that_move_nothing_are_no_round() -> None:
    assert len(rounds_of(holding((0, 2_000, 900_000, "A")), [Cause(500_000, "route changed", None, "web1")])) == 1


def test_changes_that_nothing_explains_are_a_round_of_their_own() -> None:
    (only,) = rounds_of(holding((0, 2_000, 900_000, "A")), [])

    assert (only.cause, only.moves) == ("held changed", 1)


def test_a_group_that_holds_nothing_has_its_rounds_still() -> None:
    (only,) = rounds_of({}, [Cause(1_000, "joined", "A", "east")])

    assert (only.settled_ms, only.members_after, only.moves) == (None, ["A"], 0)


def test_a_member_that_is_long_in_starting_comes_when_a_broker_lists_it() -> None:
    """Within the second that the broker tells, and never before its process began to start."""
    slow = [Cause(60_400, "consumer started", "A", "web1"), Cause(83_000, "joined", "A", "east")]
    quick = [Cause(60_400, "consumer started", "A", "web1"), Cause(60_000, "joined", "A", "east")]

    (one,), (other,) = (rounds_of(holding((0, 90_000, 900_000, "A")), causes) for causes in (slow, quick))

    assert (one.opened_ms, one.causes) == (83_000, ["member joined"])
    assert (other.opened_ms, other.causes) == (60_400, ["member joined"])


def test_a_member_is_there_from_each_coming_to_its_going_and_one_that_is_not_seen_to_go_to_the_end() -> None:
    of_b = [Hold(0, 100_000, "B", "stopped"), Hold(600_000, 700_000, "B")]
    holds = {QUEUES[0]: [Hold(0, 900_000, "A", "open")], QUEUES[1]: of_b}
    causes = [
        Cause(0, "joined", "B", "east"),
        Cause(1_000, "joined", "B", "west"),
        Cause(100_000, "left", "B", "east"),
        Cause(101_000, "left", "B", "west"),
        Cause(600_000, "joined", "B", "east"),
        Cause(200_000, "joined", "idle", "east"),
        Cause(950_000, "left", "A", "east"),
    ]

    assert presence_of(holds, causes) == {
        "A": [(0, 950_000)],
        "B": [(0, 100_000), (600_000, 950_000)],
        "idle": [(200_000, 950_000)],
    }
    assert presence_of(holding((0, 0, 9, "A")), []) == {}


def test_who_falls_silent_goes_once_and_what_is_taken_from_it_moves_once() -> None:
    """Its last line is of 50,000; two brokers give it up, one naming it, and B takes its queue at the next look."""
    holds = {QUEUES[0]: [Hold(2_000, 50_000, "A", "lost"), Hold(195_000, 900_000, "B", "open")]}
    causes = [
        Cause(1_000, "joined", "A", "east"),
        Cause(1_000, "joined", "B", "east"),
        Cause(50_000, "lost", "A"),
        Cause(178_000, "expired", "A", "east"),
        Cause(181_000, "expired", None, "west"),
    ]

    for known in (causes, causes[:3], [*causes[:3], causes[4]]):
        told = rounds_of(holds, known)

        assert [(one.moves, one.handoffs) for one in told] == [(1, 0), (1, 1)]
        assert told[1].opened_ms == 50_000
    assert told[1].cause == "heartbeat expired"
    assert told[1].members_after == ["B"]


def test_of_many_who_fall_silent_one_after_the_other_each_is_looked_for_among_the_last_only() -> None:
    counted = [0]

    class Time(int):
        """A time that counts what is taken from it."""

        def __sub__(self, other: int) -> int:
            counted[0] += 1
            return int(self) - other

    causes = [
        Cause(Time(200_000 * at + later), what, f"m{at}", "east")
        for at in range(500)
        for later, what in ((1_000, "joined"), (30_000, "lost"), (155_000, "expired"))
    ]

    assert [one.cause for one in rounds_of({}, causes)] == ["member joined", "heartbeat expired"] * 500
    assert counted[0] < 50 * len(causes)
