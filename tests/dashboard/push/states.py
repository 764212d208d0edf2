"""Random states of a group for hypothesis, and a large one."""

from __future__ import annotations

from hypothesis import strategies as st

from dashboard.push.messages import Cell, Fault, GroupState, Head, Queues, RoundCell, Stray
from dashboard.push.runs import pack

runs = st.sets(st.integers(0, 11)).map(lambda numbers: pack(list(numbers)))


def head(**given: object) -> Head:
    return Head(
        cluster="shop",
        group="g",
        model="CLUSTERING",
        strategy="AVG",
        is_strategy_assumed=False,
        is_target_known=True,
        is_converged=bool(given.get("is_converged", True)),
        orphans=0,
        doubles=0,
        fault_count=0,
        round=RoundCell(
            1, "open", "member joined", 5, None, 1, 3, 2, ("B joined",), (), 4, "it is unknown what B holds"
        )
        if given.get("has_round")
        else None,
    )


def cell(client: str, target: tuple[int, ...] = (), held: tuple[int, ...] | None = (), language: str = "JAVA") -> Cell:
    return Cell(client, 1, language, "V5_5_0", "AVG", None, 1, 1, None, target, held)


cells = st.builds(cell, st.sampled_from("ABCDE"), runs, st.none() | runs, st.sampled_from(["JAVA", "GO"]))
members = st.lists(cells, unique_by=lambda each: each.client, max_size=5).map(
    lambda them: tuple(sorted(them, key=lambda each: each.client))
)
queues = st.sampled_from([(Queues("orders", "east", (0, 12)),), (Queues("orders", "east", (0, 11)),)])
faults = st.sampled_from([(), (Fault("orphan queue", "orders/east/1", "Nobody has it.", ("row",), 5, None, None),)])
strays = st.sampled_from([(), (Stray("A", "gone", "east", 1),)])
states = st.builds(
    GroupState,
    st.builds(head, is_converged=st.booleans(), has_round=st.booleans()),
    queues,
    members,
    strays,
    faults,
)
