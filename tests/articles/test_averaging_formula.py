"""The averaging that two articles quote as Java and one as C++, written down here step by step as they have it.

Sources: the fragments in "RocketMQ Rebalance流程" and "RocketMQ源码解析之负载均衡" (Java), "Rebalance 源码解析" (C++).
"""

from collections.abc import Callable

import pytest

from rebalance_engine import MessageQueue
from rebalance_engine.allocation import allocate
from rebalance_engine.allocation.average import member
from rebalance_engine.allocation.contract import IllegalArgument
from tests.articles.examples import consumers, queues

Fragment = Callable[[int, int, int], list[int]]

MOST = 40


def page(index: int, count: int, members: int) -> tuple[int, int, int]:
    """Work out size, start and range of one member's page of ``count`` queues; all fragments agree so far."""
    mod = count % members
    is_larger = mod > 0 and index < mod
    shared_out = count // members + 1 if is_larger else count // members
    size = 1 if count <= members else shared_out
    start = index * size if is_larger else index * size + mod
    return size, start, min(size, count - start)


def java_fragment(index: int, count: int, members: int) -> list[int]:
    _, start, reach = page(index, count, members)
    return [(start + step) % count for step in range(reach)]


def cpp_fragment(index: int, count: int, members: int) -> list[int]:
    _, start, reach = page(index, count, members)
    if reach < 0:
        return []
    return [(start + step) % count for step in range(reach) if start + step >= 0]


@pytest.mark.parametrize("strategy", ["AVG", "CPP_AVG", "GO_AVG"])
@pytest.mark.parametrize("fragment", [java_fragment, cpp_fragment])
def test_the_engine_gives_what_the_fragment_gives(strategy: str, fragment: Fragment) -> None:
    for count in range(1, MOST + 1):
        for members in range(1, MOST + 1):
            allotted = allocate(strategy, queues(0, count - 1), consumers(members))

            ids = [[queue.queue_id for queue in share] for share in allotted.values()]
            assert ids == [fragment(index, count, members) for index in range(members)], (count, members)


@pytest.mark.parametrize("fragment", [java_fragment, cpp_fragment])
def test_a_member_alone_gives_what_the_fragment_gives(fragment: Fragment) -> None:
    for count in range(1, MOST + 1):
        of_queues = queues(0, count - 1)
        for members in range(1, MOST + 1):
            for index, client_id in enumerate(consumers(members)):
                share = member(client_id, of_queues, consumers(members)) or []

                assert [queue.queue_id for queue in share] == fragment(index, count, members)


def test_one_queue_for_two_gives_the_range_that_the_cpp_comment_names() -> None:
    """``example: range is:-1, index is:1, mqAllSize is:1, averageSize is:1, startIndex is:2``."""
    size, start, reach = page(index=1, count=1, members=2)

    assert (reach, size, start) == (-1, 1, 2)
    assert allocate("CPP_AVG", queues(0, 0), consumers(2))["c2"] == []


def test_the_remainder_operation_of_the_fragments_never_matters() -> None:
    """Later releases of the Java client leave it out."""
    for count in range(1, MOST + 1):
        for members in range(1, MOST + 1):
            pages = [page(index, count, members) for index in range(members)]
            assert all(start + reach <= count for _, start, reach in pages if reach > 0)


def test_averaging_is_like_paging() -> None:
    """Queues are the records, consumers the pages: page after page, they give the whole list back."""
    for count in range(1, MOST + 1):
        for members in range(1, MOST + 1):
            allotted = allocate("AVG", queues(0, count - 1), consumers(members))

            assert [queue for share in allotted.values() for queue in share] == queues(0, count - 1)


@pytest.mark.parametrize(
    ("client_id", "of_queues", "clients", "words"),
    [
        (None, queues(0, 1), ["A"], "currentCID is empty"),
        ("", queues(0, 1), ["A"], "currentCID is empty"),
        ("A", None, ["A"], "mqAll is null or mqAll empty"),
        ("A", [], ["A"], "mqAll is null or mqAll empty"),
        ("A", queues(0, 1), None, "cidAll is null or cidAll empty"),
        ("A", queues(0, 1), [], "cidAll is null or cidAll empty"),
    ],
)
def test_what_is_empty_is_refused_as_the_fragment_refuses_it(
    client_id: str | None, of_queues: list[MessageQueue] | None, clients: list[str] | None, words: str
) -> None:
    with pytest.raises(IllegalArgument, match=words):
        member(client_id, of_queues, clients)


def test_who_is_not_in_the_list_gets_nothing_as_in_the_fragment() -> None:
    assert member("C", queues(0, 3), ["A", "B"]) == []


def test_the_order_in_which_a_broker_lists_members_does_not_matter_for_every_client_sorts() -> None:
    of_queues, clients = queues(0, 7), consumers(3)

    assert allocate("AVG", reversed(of_queues), reversed(clients)) == allocate("AVG", of_queues, clients)
