from rebalance_engine.network.surveying import look_at_brokers, look_at_groups
from tests.rebalance_engine.network.clusters import cluster
from tests.rebalance_engine.network.ghosts import ghost
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.test_looking import SHORT_S, admin_of


@on_a_loop
async def test_groups_are_listed_with_who_is_online_at_each_broker() -> None:
    async with cluster(2) as east, admin_of(east.namesrv) as admin:
        async with ghost(east.broker("broker-a").address):
            survey = await look_at_groups(admin)
        again = await look_at_groups(admin)
        everything = await look_at_groups(admin, own=True)

    [line] = survey.groups
    assert (line.group, line.clients, line.is_complete) == ("G", frozenset({"ghost"}), True)
    assert [line.clients for line in again.groups] == [frozenset()]
    assert {line.group for line in everything.groups} > {"G"}


@on_a_loop
async def test_a_broker_that_does_not_answer_leaves_groups_incomplete() -> None:
    async with cluster(2) as east, admin_of(east.namesrv) as admin, ghost(east.broker("broker-a").address):
        await east.broker("broker-b").kill(keeps_route=True)
        survey = await look_at_groups(admin, deadline_s=SHORT_S)
        _, brokers = await look_at_brokers(admin, deadline_s=SHORT_S)

    line = next(line for line in survey.groups if line.group == "G")
    assert (line.clients, line.is_complete) == (frozenset({"ghost"}), False)
    assert [broker.runtime.value is not None for broker in brokers] == [True, False]


@on_a_loop
async def test_the_clock_of_a_broker_is_read_from_when_it_started_and_how_long_it_runs() -> None:
    async with cluster() as east, admin_of(east.namesrv) as admin:
        names, [broker] = await look_at_brokers(admin)

    assert broker.clock_ms is not None
    assert 0 <= broker.runtime.by.at - broker.clock_ms < 2_000
    assert (broker.role, broker.known_to) == ("master", tuple(names))
