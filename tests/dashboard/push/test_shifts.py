from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.push.runs import Runs, pack
from dashboard.push.shifts import Misfit, change, changed, line_up

OLD, NEW = ("A", "B", "C", "D", "E"), ("A", "BB", "C", "E", "F")
LINE = ("A", "B", "BB", "C", "D", "E", "F")


def owners_among(clients: tuple[str, ...]) -> st.SearchStrategy[dict[str, Runs]]:
    """Divide 60 queues, neighbours often alike; some have nobody."""
    shares = st.lists(st.tuples(st.integers(1, 8), st.sampled_from((*clients, ""))), max_size=30)
    return shares.map(lambda given: divided(given, clients))


def divided(shares: list[tuple[int, str]], clients: tuple[str, ...]) -> dict[str, Runs]:
    owners = [client for length, client in shares for _ in range(length)]
    return {each: pack([n for n, client in enumerate(owners) if client == each]) for each in clients}


def test_everybody_stands_in_line_and_who_left_behind_whom_it_stood_behind() -> None:
    assert line_up(OLD, NEW) == ("A", "B", "BB", "C", "D", "E", "F")
    assert line_up(("A", "B"), ()) == ("A", "B")
    assert line_up((), ("A",)) == ("A",)


@given(owners_among(OLD), owners_among(NEW))
def test_owners_that_change_are_read_as_they_were_written(before: dict[str, Runs], after: dict[str, Runs]) -> None:
    found = change(before, after, line=LINE, members=NEW)

    told = {} if found is None else changed(before, found, line=LINE, members=NEW)
    assert {client: told.get(client, before.get(client, ())) for client in NEW} == after


@given(owners_among(OLD), owners_among(NEW), owners_among(NEW))
def test_queues_of_two_owners_too(before: dict[str, Runs], after: dict[str, Runs], other: dict[str, Runs]) -> None:
    twice = {client: runs or other[client] for client, runs in after.items()}

    found = change(before, twice, line=LINE, members=NEW)

    told = {} if found is None else changed(before, found, line=LINE, members=NEW)
    assert {client: told.get(client, before.get(client, ())) for client in NEW} == twice


def test_queues_that_all_go_to_the_next_one_are_few_numbers() -> None:
    before = {client: (30 * n, 30) for n, client in enumerate(OLD)}
    after = {client: (25 * n, 25) for n, client in enumerate((*OLD, "F"))}

    found = change(before, after, line=(*OLD, "F"), members=(*OLD, "F"))

    assert found is not None
    assert (found.gaps, found.lengths, found.shifts) == ((25, 20, 15, 10, 5), (5, 10, 15, 20, 25), (1, 1, 1, 1, 1))
    assert (found.members, found.queues) == ((), ())


def test_what_does_not_fit_is_refused() -> None:
    before = {client: (20 * n, 20) for n, client in enumerate(OLD)}
    found = change(before, {client: (100 - 20 * n, 20) for n, client in enumerate(OLD)}, line=OLD, members=OLD)
    assert found is not None
    runs = replace(found, members=(), queues=(), gaps=(0,), lengths=(4,), shifts=(1,))

    assert changed(before, runs, line=OLD, members=OLD) == {"A": (4, 16), "B": (0, 4, 16, 20)}
    for odd in (
        replace(runs, shifts=(5,)),
        replace(runs, shifts=(-2,)),
        replace(runs, lengths=(-1,)),
        replace(runs, shifts=()),
        replace(runs, members=(5,), queues=((0, 1),)),
        replace(runs, members=(1,)),
    ):
        with pytest.raises(Misfit):
            changed(before, odd, line=OLD, members=OLD)
    with pytest.raises(Misfit, match="a queue has two"):
        changed({**before, "B": (0, 20)}, runs, line=OLD, members=OLD)
