import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.pipeline.rounds import Cause
from rebalance_engine.pipeline.sweep import Hold
from rebalance_engine.pipeline.unheard import Counted, cut_off, let_go, presence_of_uncounted

QUEUE, OTHER = MessageQueue("orders", "east", 0), MessageQueue("orders", "east", 1)
CAME = Cause(500, "joined", "C", "east")
END_MS = 200_000
# Somebody else lets a queue go at 70,000, and somebody takes it at 90,500.
MOVED = [Hold(2_000, 70_000, "A"), Hold(90_500, END_MS, "B", "open")]


def mine(until_ms: int, ended: str) -> dict[MessageQueue, list[Hold]]:
    return {QUEUE: MOVED, OTHER: [Hold(1_000, until_ms, "C", ended)]}


def test_from_its_logs_last_line_to_what_brokers_see_of_its_end_a_members_holds_are_unknown() -> None:
    closed = Cause(90_000, "closed", "C", "east")

    assert cut_off(mine(90_300, "lost"), [CAME, closed], {"C": 60_000}, END_MS) == {"C": [(60_000, 90_300)]}


def test_a_member_of_whose_end_nothing_tells_is_there_until_the_input_ends() -> None:
    """That its log says nothing more is no word of its end."""
    for causes in ([CAME], []):
        for ended, until in (("lost", 60_000), ("open", END_MS)):
            assert cut_off(mine(until, ended), causes, {"C": 60_000}, END_MS) == {"C": [(60_000, END_MS)]}


@pytest.mark.parametrize(
    ("last_ms", "until_ms", "ended", "causes"),
    [
        (85_000, 90_000, "lost", [Cause(90_000, "closed", "C", "east")]),
        (60_000, 60_000, "stopped", [Cause(60_000, "consumer stopped", "C", "web3")]),
        (60_000, 60_000, "stopped", [Cause(60_000, "left", "C", "east"), Cause(60_100, "consumer stopped", "C", "w")]),
        (60_000, 64_000, "lost", []),
        (80_000, 60_000, "lost", []),
        (199_000, END_MS, "open", []),
    ],
    ids=[
        "killed",
        "stopped",
        "stopped as a broker saw",
        "killed as others were told",
        "killed in a log that goes on",
        "there to the last",
    ],
)
def test_a_log_that_goes_on_until_its_member_ends_is_not_cut(
    last_ms: int, until_ms: int, ended: str, causes: list[Cause]
) -> None:
    assert cut_off(mine(until_ms, ended), [CAME, *causes], {"C": last_ms}, END_MS) == {}


def test_a_log_that_was_copied_before_the_others_leaves_nothing_open_while_nothing_changes() -> None:
    quiet = {OTHER: [Hold(1_000, END_MS, "C", "open")], QUEUE: [Hold(2_000, END_MS, "A", "open")]}

    assert cut_off(quiet, [CAME], {"C": 100_000, "A": END_MS}, END_MS) == {}


def test_a_member_that_comes_back_after_its_logs_end_is_unknown_then_too() -> None:
    causes = [CAME, Cause(80_000, "closed", "C", "east"), Cause(95_000, "joined", "C", "east")]
    holds = {QUEUE: [*MOVED[:1], Hold(120_000, END_MS, "B", "open")], OTHER: [Hold(1_000, 80_000, "C", "lost")]}

    assert cut_off(holds, causes, {"C": 60_000}, END_MS) == {"C": [(60_000, 80_000), (95_000, END_MS)]}


def test_what_another_takes_from_a_member_whose_log_was_cut_it_had_let_go_before() -> None:
    cut = {"C": [(60_000, 90_000)]}
    taken = {QUEUE: [Hold(1_000, 90_000, "C", "lost"), Hold(70_000, END_MS, "A", "open")]}
    told = {QUEUE: [Hold(1_000, 70_000, "C", "released", until_after_ms=60_000), Hold(70_000, END_MS, "A", "open")]}
    kept = {QUEUE: [Hold(1_000, 90_000, "C", "lost"), Hold(90_400, END_MS, "A", "open")]}

    assert let_go(taken, cut)[QUEUE][0] == Hold(1_000, 60_000, "C", "lost")
    assert let_go(told, cut)[QUEUE][0] == Hold(1_000, 60_000, "C", "released")
    assert let_go(kept, cut) == kept


def test_who_is_counted_and_not_known_is_there_until_fewer_are_counted() -> None:
    """A and B are known. B stops at 100,000; somebody else comes shortly before 60,000 and is counted until 150,000."""
    there = {"A": [(0, END_MS)], "B": [(30_000, 100_000)]}
    had = {QUEUE: [Hold(30_000, 100_000, "B", "stopped")]}
    told = [Counted(0, "A", 1), Counted(30_100, "A", 2), Counted(60_000, "B", 3), Counted(60_050, "A", 3)]
    told += [Counted(99_500, "A", 2), Counted(150_000, "A", 1)]

    assert presence_of_uncounted(told, there, had, END_MS) == {"1 more": [(39_000, 99_500), (103_000, 150_000)]}
    assert presence_of_uncounted(told, there | {"C": [(59_000, 149_000)]}, had, END_MS) == {}


def test_what_members_counted_ends_with_them() -> None:
    """A and B are stopped, and C and D come a minute later: all of a group are replaced."""
    held = {
        queue: [Hold(2_000, 100_000, old, "stopped"), Hold(162_000, END_MS, new, "open")]
        for queue, old, new in ((QUEUE, "A", "C"), (OTHER, "B", "D"))
    }
    told = [Counted(at, client, 2) for at, clients in ((2_000, "AB"), (162_000, "CD")) for client in clients]

    assert presence_of_uncounted(told, {}, held, END_MS) == {}


def test_who_is_counted_and_not_known_stays_when_the_last_that_told_of_it_goes() -> None:
    """A is the only one whose log is there; it counts two, and stops. C comes later, and counts who is there then."""
    had = {QUEUE: [Hold(1_000, 60_000, "A", "stopped")]}
    told = [Counted(30_000, "A", 2)]
    later = {QUEUE: [*had[QUEUE], Hold(150_000, END_MS, "C", "open")]}
    short = [*told, Counted(59_000, "A", 1)]

    assert presence_of_uncounted(told, {}, had, END_MS) == {"1 more": [(9_000, END_MS)]}
    assert presence_of_uncounted([*told, Counted(150_000, "C", 1)], {}, later, END_MS) == {"1 more": [(9_000, 150_000)]}
    assert presence_of_uncounted(short, {}, had, END_MS) == {"1 more": [(9_000, 59_000)]}


def test_who_had_nothing_goes_without_a_word_of_the_others() -> None:
    """A's share is the same without B; but where B had a queue, somebody else is counted who may have got it."""
    there = {"A": [(0, END_MS)], "B": [(10_000, 100_000)]}
    had = {QUEUE: [Hold(1_000, END_MS, "A", "open")], OTHER: [Hold(12_000, 100_000, "B", "stopped")]}
    told = [Counted(1_000, "A", 1), Counted(12_000, "A", 2)]

    assert presence_of_uncounted(told, there, {QUEUE: had[QUEUE]}, END_MS) == {}
    assert presence_of_uncounted(told, there, had, END_MS) == {"1 more": [(103_000, END_MS)]}


def test_who_was_lost_is_listed_for_two_minutes_and_who_speaks_is_known() -> None:
    lost = {QUEUE: [Hold(0, 50_000, "A", "lost"), Hold(51_000, END_MS, "B", "open")]}
    told = [Counted(1_000, "A", 2), Counted(1_000, "B", 2), Counted(150_000, "B", 1)]

    assert presence_of_uncounted(told, {}, lost, END_MS) == {}
    assert presence_of_uncounted([Counted(100_000, "B", 4)], {}, lost, END_MS) == {
        "1 more": [(79_000, END_MS)],
        "2 more": [(79_000, END_MS)],
    }


def test_who_was_lost_is_listed_no_more_when_the_others_count_themselves_alone() -> None:
    """B is alone at 51,100, and is not at 95,000: somebody has come, and it is not A."""
    lost = {QUEUE: [Hold(0, 50_000, "A", "lost"), Hold(51_000, END_MS, "B", "open")]}
    told = [Counted(1_000, "A", 2), Counted(1_100, "B", 2), Counted(51_100, "B", 1), Counted(95_000, "B", 2)]

    assert presence_of_uncounted(told, {}, lost, END_MS) == {"1 more": [(74_000, END_MS)]}
