from dashboard.groups.handoffs import Bounds, Instant, Span, Story, tell
from tests.dashboard.story import queue


def exactly(at: int) -> Instant:
    return Instant(at, at, at)


def span(client: str, since: Instant, until: Instant | None = None, number: int = 0) -> Span:
    return Span(queue(number), client, since, until)


def only(stories: list[Story]) -> Story:
    (story,) = stories
    return story


def test_a_gap_between_exact_ends_is_exact() -> None:
    story = only(tell([span("A", exactly(0), exactly(100)), span("B", exactly(130))], since=50, before=None))

    assert (story.from_client, story.to_client) == ("A", "B")
    assert (story.unowned, story.overlap) == (Bounds(30, 30), Bounds(0, 0))


def test_a_take_before_the_drop_is_an_overlap() -> None:
    story = only(tell([span("A", exactly(0), exactly(100)), span("B", exactly(80))], since=50, before=None))

    assert (story.unowned, story.overlap) == (Bounds(0, 0), Bounds(20, 20))


def test_bounds_of_both_ends_carry_over() -> None:
    dropped, taken = Instant(100, 50, 100), Instant(130, 90, 130)

    story = only(tell([span("A", exactly(0), dropped), span("B", taken)], since=50, before=None))

    assert (story.unowned, story.overlap) == (Bounds(0, 80), Bounds(0, 10))


def test_an_unknown_beginning_has_no_bound() -> None:
    story = only(tell([span("A", exactly(0), exactly(100)), span("B", Instant(130, None, 130))], since=50, before=None))

    assert (story.unowned, story.overlap) == (Bounds(0, 30), Bounds(0, None))


def test_a_queue_that_nobody_took_yet_has_no_end() -> None:
    story = only(tell([span("A", exactly(0), exactly(100))], since=50, before=None))

    assert (story.to_client, story.unowned, story.overlap) == (None, None, None)


def test_a_queue_that_its_member_let_go_and_took_again_is_no_handoff() -> None:
    assert tell([span("A", exactly(0), exactly(100)), span("A", exactly(130))], since=50, before=None) == []


def test_what_happened_outside_of_the_round_is_not_told() -> None:
    spans = [span("A", exactly(0), exactly(40)), span("B", exactly(45), exactly(200)), span("C", exactly(210))]

    assert tell(spans, since=50, before=200) == []


def test_a_span_within_another_one_is_matched_in_order() -> None:
    spans = [span("A", exactly(0), exactly(300)), span("B", exactly(100), exactly(200)), span("C", exactly(310))]

    stories = tell(spans, since=50, before=None)

    assert [(story.from_client, story.to_client) for story in stories] == [("A", "C")]
