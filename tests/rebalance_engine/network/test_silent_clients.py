"""Clients that do not answer through their broker: how long they are left alone, and that others are not."""

import asyncio

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.requests import clients
from rebalance_engine.remoting.requests.contract import Refused, Request, Response
from tests.rebalance_engine.network.answers import Answer, Answering
from tests.rebalance_engine.network.virtual import run

EAST, NAMES = "east:10911", "names:9876"
INFO = clients.GetConsumerRunningInfoResponse(body=ConsumerRunningInfo())


@pytest.mark.parametrize("silence", [Refused(code=207), NoAnswer(Failure.TIMEOUT, EAST)])
def test_a_client_that_does_not_answer_is_left_alone_and_the_others_are_asked(silence: Answer) -> None:
    async def main() -> None:
        def answer(_: str, request: Request[Response]) -> Answer:
            assert isinstance(request, clients.GetConsumerRunningInfo)
            return silence if request.client_id == "hung" else INFO

        calls = Answering(answer)
        admin = Admin(calls, NAMES)
        with pytest.raises((Denied, NoAnswer)):
            await admin.running_info(EAST, "G", "hung")
        with pytest.raises(NotAsked, match=r"client hung does not answer; it is asked again in 60 s"):
            await admin.running_info(EAST, "G", "hung")
        assert await admin.running_info(EAST, "G", "A") == INFO.body

        await asyncio.sleep(61)
        with pytest.raises((Denied, NoAnswer)):
            await admin.running_info(EAST, "G", "hung")
        with pytest.raises(NotAsked, match=r"it is asked again in 120 s"):
            await admin.running_info(EAST, "G", "hung")
        assert len(calls.asked) == 3
        await admin.close()

    run(main())


@pytest.mark.parametrize(("silence", "is_asked"), [(Refused(code=207), False), (NoAnswer(Failure.TIMEOUT, EAST), True)])
def test_a_client_is_left_alone_at_every_broker_only_if_one_said_that_it_does_not_answer(
    silence: Answer, *, is_asked: bool
) -> None:
    async def main() -> None:
        calls = Answering(lambda address, _: silence if address == EAST else INFO)
        admin = Admin(calls, NAMES)
        with pytest.raises((Denied, NoAnswer)):
            await admin.running_info(EAST, "G", "A")
        if is_asked:
            assert await admin.running_info("west:10911", "G", "A") == INFO.body
        else:
            with pytest.raises(NotAsked):
                await admin.running_info("west:10911", "G", "A")
        with pytest.raises(NotAsked):
            await admin.running_info(EAST, "G", "A")
        assert admin.resting == (not is_asked)
        assert admin.renew("G", "A")
        assert admin.resting == 0
        await admin.close()

    run(main())


def test_a_client_that_has_registered_anew_is_asked_at_once_and_what_was_under_way_does_not_count() -> None:
    async def main() -> None:
        calls = Answering(lambda _address, _request: Refused(code=207))
        admin = Admin(calls, NAMES)
        with pytest.raises(Denied):
            await admin.running_info(EAST, "G", "A")
        assert admin.renew("G", "A")
        assert admin.resting == 0

        under_way = asyncio.create_task(admin.running_info(EAST, "G", "A"))
        await asyncio.sleep(0)
        assert not admin.renew("G", "A")
        with pytest.raises(Denied):
            await under_way
        assert (admin.resting, len(calls.asked)) == (0, 2)
        await admin.close()

    run(main())


def test_clients_that_were_silent_never_take_all_places_when_they_are_asked_again() -> None:
    async def main() -> None:
        hung = [f"hung-{number}" for number in range(4)]

        def answer(_: str, request: Request[Response]) -> Answer:
            assert isinstance(request, clients.GetConsumerRunningInfo)
            return None if request.client_id in hung else INFO

        first = Answering(lambda _a, _r: Refused(code=207))
        admin = Admin(first, NAMES)
        for client in hung:
            with pytest.raises(Denied):
                await admin.running_info(EAST, "G", client)
        await asyncio.sleep(100)
        admin.asker.transport = calls = Answering(answer)
        asking = [asyncio.create_task(admin.running_info(EAST, "G", client)) for client in hung]
        await asyncio.sleep(1)
        assert calls.running == 1
        assert await admin.running_info(EAST, "G", "A", timeout_s=1) == INFO.body
        for task in asking:
            task.cancel()
        await asyncio.gather(*asking, return_exceptions=True)
        await admin.close()

    run(main())
