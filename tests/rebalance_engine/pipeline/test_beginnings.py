"""What a group's story says where its logs begin in mid-life, and of the time before a queue's first take."""

from rebalance_engine.pipeline.stories import tell
from tests.rebalance_engine.pipeline.test_stories import clue, kinds, span
from tests.rebalance_engine.pipeline.test_unseen import stretches


def test_what_a_member_may_have_had_before_its_log_begins_may_have_had_no_owner() -> None:
    """B came at 10,000 and its log begins at 62,000; the first take of queue 1 that is told is C's at 50,000."""
    spans = [span("A", 1_000, 90_000, ended="open"), span("C", 50_000, 90_000, queue_id=1, ended="open")]
    spans += [span("B", 62_000, 90_000, queue_id=2, ended="open")]
    clues = [clue("joined", 500, client_id="A"), clue("joined", 10_000, client_id="B"), clue("input ends", 90_000)]

    rows = list(tell(spans, [*clues, clue("log begins", 62_000, client_id="B")]))

    assert [stretches(rows, number) for number in (0, 1, 2)] == [
        [],
        [(10_000, 50_000, [], 1)],
        [(10_000, 62_000, [], 1)],
    ]


def test_a_member_that_is_alone_is_not_idle_before_its_log_begins() -> None:
    """A broker's log has it from 500 on."""
    clues = [clue("joined", 500, client_id="A"), clue("input ends", 90_000)]

    whole, late = (
        list(tell([span("A", 62_000, 90_000, ended="open")], [*clues, *more]))
        for more in ([], [clue("log begins", 62_000, client_id="A")])
    )

    assert [[row["idle_ms"] for row in kinds(rows, "member load")] for rows in (whole, late)] == [[61_500], [0]]


def test_where_all_logs_begin_in_mid_life_the_skew_is_known_from_then_on() -> None:
    """What each has shows within seconds. Where C's log begins a minute later, it may have had more until then."""
    spans = [span("A", 31_000, 200_000, ended="open"), span("B", 33_000, 200_000, queue_id=1, ended="open")]
    late = span("C", 95_000, 200_000, queue_id=2, ended="open")
    clues = [clue("log begins", at, client_id=client) for client, at in (("A", 31_000), ("B", 33_000))]
    clues.append(clue("input ends", 200_000))

    both = list(tell(spans, clues))
    three = list(tell([*spans, late], [*clues, clue("log begins", 95_000, client_id="C")]))

    names = ("unheard", "max_over_mean", "observed_ms")
    assert [tuple(row[name] for name in names) for row in kinds(both, "group load")] == [(0, 1.0, 169_000)]
    assert kinds(both, "stretch") == []
    assert [row["unheard"] for row in kinds(three, "group load")] == [1]
    assert stretches(three, 2) == [(33_000, 95_000, [], 1)]
