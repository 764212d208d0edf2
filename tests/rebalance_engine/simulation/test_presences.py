import pytest

from rebalance_engine.effects import Closed, Heard, Received, Woken
from rebalance_engine.membership.machine import Timer
from rebalance_engine.remoting.bodies.clients import ConsumerData, HeartbeatData
from rebalance_engine.remoting.requests.membership import HeartBeat, UnregisterClient
from rebalance_engine.simulation.breach import Breach
from rebalance_engine.simulation.presences import PresenceBook
from rebalance_engine.simulation.timers import SCAN, SILENCE
from tests.rebalance_engine.simulation.test_broker import Bench


def beat(client: str, group: str = "g") -> HeartBeat:
    return HeartBeat(body=HeartbeatData(client_id=client, consumer_data_set=(ConsumerData(group_name=group),)))


class Both:
    """A broker and a book of what it must know, which hear the same; or only one of them does."""

    def __init__(self) -> None:
        self.broker = Bench().broker
        self.book = PresenceBook("g")

    def channel(self) -> int:
        return next(iter(self.broker.machine.channels))

    def hear(self, heard: Heard, at: int, *, is_heard: bool = True) -> None:
        if is_heard:
            self.broker.machine.handle(heard, at)
        self.book.heard(self.broker, heard, at)


@pytest.fixture
def both() -> Both:
    bench = Bench()
    bench.ask(beat("A"))
    made = Both()
    made.broker = bench.broker
    made.book.heard(bench.broker, Received(channel=made.channel(), request=beat("A")), bench.network.clock.now)
    return made


def test_who_beats_is_a_member_and_who_leaves_is_none(both: Both) -> None:
    now = both.broker.clock.now

    both.hear(Received(channel=both.channel(), request=beat("A")), now)
    both.hear(Received(channel=both.channel(), request=UnregisterClient(client_id="A", consumer_group="g")), now)


def test_a_broker_that_did_not_listen_is_found_out(both: Both) -> None:
    both.broker.machine.registry._groups.clear()

    with pytest.raises(Breach, match="lists the channels"):
        both.hear(Received(channel=both.channel(), request=beat("A")), both.broker.clock.now, is_heard=False)


def test_a_closed_channel_is_no_member(both: Both) -> None:
    both.hear(Closed(channel=both.channel()), both.broker.clock.now)

    assert both.broker.machine.registry.find("g") is None


def test_a_member_that_stays_after_its_channel_closed_is_found(both: Both) -> None:
    with pytest.raises(Breach, match="lists the channels"):
        both.hear(Closed(channel=both.channel()), both.broker.clock.now, is_heard=False)


def test_other_groups_do_not_count(both: Both) -> None:
    both.hear(Received(channel=both.channel(), request=beat("A", group="h")), both.broker.clock.now)


def test_silence_ends_with_the_scan(both: Both) -> None:
    late = both.broker.clock.now + SILENCE + 1

    both.hear(Woken(timer=Timer.HOUSEKEEPING), late)

    assert both.broker.machine.registry.find("g") is None


def test_a_scan_that_finds_nobody_is_found_out(both: Both) -> None:
    late = both.broker.clock.now + SILENCE + 1

    with pytest.raises(Breach, match="lists the channels"):
        both.hear(Woken(timer=Timer.HOUSEKEEPING), late, is_heard=False)


def test_a_scan_that_never_comes_is_found_out(both: Both) -> None:
    late = both.broker.clock.now + SILENCE + SCAN + 1

    with pytest.raises(Breach, match="still lists channel"):
        both.book.heard(both.broker, Received(channel=99, request="something"), late)
