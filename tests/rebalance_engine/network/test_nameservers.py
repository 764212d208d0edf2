import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.nameservers import NameServers
from tests.rebalance_engine.network.loop import on_a_loop


class Cluster:
    def __init__(self, *up: str) -> None:
        self.up = set(up)
        self.asked: list[str] = []

    async def ask(self, address: str) -> str:
        self.asked.append(address)
        if address not in self.up:
            raise NoAnswer(Failure.NOT_CONNECTED, address, "refused")
        return f"from {address}"


@on_a_loop
async def test_one_that_answers_is_asked_again() -> None:
    servers, cluster = NameServers("a:1;b:1;c:1"), Cluster("b:1", "c:1")

    assert [await servers.ask(cluster.ask) for _ in range(2)] == ["from b:1", "from b:1"]
    assert cluster.asked == ["a:1", "b:1", "b:1"]
    assert servers.chosen == "b:1"


@on_a_loop
async def test_they_are_asked_in_turn_from_the_chosen_one_on() -> None:
    servers, cluster = NameServers(["a:1", "b:1"]), Cluster("b:1")
    await servers.ask(cluster.ask)
    cluster.up = {"a:1"}

    assert await servers.ask(cluster.ask) == "from a:1"


@on_a_loop
async def test_when_none_answers_it_is_said_of_each_why() -> None:
    with pytest.raises(NoAnswer, match=r"a:1: .*refused.*; b:1: .*refused") as caught:
        await NameServers("a:1;b:1").ask(Cluster().ask)
    assert caught.value.failure is Failure.NOT_CONNECTED


@on_a_loop
async def test_each_one_can_be_asked() -> None:
    answers = await NameServers("a:1;b:1").ask_each(Cluster("b:1").ask)

    assert answers["b:1"] == "from b:1"
    assert isinstance(answers["a:1"], NoAnswer)


def test_at_least_one_is_needed() -> None:
    with pytest.raises(ValueError, match="at least one host:port"):
        NameServers([])
