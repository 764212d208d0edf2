import pytest

from rebalance_engine.effects import Failure, Opened
from rebalance_engine.network.channels import Channels
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.listener import Listener
from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.membership import NotifyConsumerIdsChanged
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import Hearing, answering, caller

ASK = NotifyConsumerIdsChanged(consumer_group="G")


@on_a_loop
async def test_nothing_goes_to_a_channel_that_is_not_open() -> None:
    channels = Channels(NetworkSettings())

    assert not channels.respond(7, 0, Response())
    assert not channels.push(7, ASK)
    channels.close(7)
    with pytest.raises(NoAnswer, match=r"channel 7: .*it is not open") as caught:
        await channels.ask(7, ASK, 1000)
    assert caught.value.failure is Failure.CLOSED


@on_a_loop
async def test_who_calls_and_is_called_has_one_table_for_both() -> None:
    async with Listener() as other, Listener() as listener:
        answering(other, lambda _: Response())
        async with Transport(channels=listener.channels) as transport:
            hearing = listener.channels.on_heard = Hearing()
            await transport.request(await other.start(), ASK)
            async with caller(await listener.start()):
                opened = [await hearing.next(Opened) for _ in range(2)]

                assert [one.channel for one in opened] == [1, 2]
                assert [1 in listener.channels, 2 in listener.channels, 3 in listener.channels] == [True, True, False]


@on_a_loop
async def test_to_close_the_calling_side_leaves_the_called_one_open() -> None:
    async with Listener() as listener:
        transport = Transport(channels=listener.channels)
        address = await listener.start()
        async with caller(address):
            await transport.request(address, ASK)
            assert len(listener.channels) == 3

            await transport.close()

            assert sum(not link.is_ours for link in listener.channels) >= 1
