import asyncio
from collections.abc import Iterable
from dataclasses import replace

import pytest

from rebalance_engine.effects import Answered, Failure, Heard, Received, Respond, Unanswered
from rebalance_engine.embedded.core import Ask, HandOn
from rebalance_engine.embedded.process import Process
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.codec import encode
from rebalance_engine.remoting.codes import Language
from rebalance_engine.remoting.command import RESPONSE_BIT, Command, HeaderForm
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.upkeep import CleanUnusedTopic
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.peers import Scripted

ASKED = GetConsumerRunningInfo(consumer_group="G", client_id="A")
OPAQUE = 4711
FROM_A_GO_CLIENT = Command(
    code=0,
    opaque=0,
    flag=RESPONSE_BIT,
    language=Language.GO,
    version=317,
    remark="as it is",
    ext_fields={"own": "1"},
    body=b"{0:1}",
    header_form=HeaderForm.ROCKETMQ,
)


@on_a_loop
async def test_a_machine_answers_in_java_s_name_and_the_version_that_it_presents() -> None:
    process = Process("4.9.7")
    heard_as: list[tuple[Language, int]] = []

    def react(heard: Heard, _: int) -> Iterable[object]:
        if isinstance(heard, Received) and heard.token is not None:
            heard_as.append((heard.language, heard.version))
            yield Respond(channel=heard.channel, token=heard.token, response=Response(remark="heard"))

    address = await process.listen("127.0.0.1", [0])
    process.drive(react, lambda _: None)
    async with Transport() as transport:
        answer = await transport.request(address, CleanUnusedTopic())
    await process.close()

    settings = process.channels.settings
    assert (answer.remark, settings.language, settings.version) == ("heard", Language.JAVA, 407)
    assert heard_as == [(encode(ASKED, opaque=1).language, encode(ASKED, opaque=1).version)]


@on_a_loop
async def test_what_a_machine_asks_is_asked_and_heard() -> None:
    """The client closes when it is asked: so there is no answer, and that is heard."""
    process = Process("5.5.0")
    heard: list[Heard] = []

    def react(event: Heard, _: int) -> Iterable[object]:
        heard.append(event)
        if isinstance(event, Received):
            yield Ask(event.channel, ASKED, 7, 60_000)
            yield Ask(event.channel + 1, ASKED, 8, 60_000)

    address = await process.listen("127.0.0.1", [0])
    process.drive(react, lambda _: None)
    async with Transport() as transport:
        transport.channels.on_heard = lambda event: (
            transport.channels.close(event.channel) if isinstance(event, Received) else None
        )
        with pytest.raises(Exception, match="closed"):
            await transport.request(address, CleanUnusedTopic())
    await process.close()

    unanswered = {event for event in heard if isinstance(event, Answered | Unanswered)}
    assert unanswered <= {
        Unanswered(token=7, failure=Failure.CLOSED),
        Unanswered(token=8, failure=Failure.CLOSED),
    }
    assert Unanswered(token=8, failure=Failure.CLOSED) in unanswered


@on_a_loop
async def test_an_answer_that_is_handed_on_is_that_of_the_client_all_but_its_number() -> None:
    """As a broker's answer to 307: ``writeResponse`` sets the number only."""
    process = Process("5.5.0")

    def react(event: Heard, _: int) -> Iterable[object]:
        if isinstance(event, Received):
            yield Ask(event.channel, ASKED, 7, 60_000, unread=True)
        elif isinstance(event, Answered):
            assert isinstance(event.response, Command)
            yield HandOn(1, OPAQUE, event.response)

    async def script(client: Scripted) -> None:
        await client.write(encode(CleanUnusedTopic(), opaque=OPAQUE))
        asked = await client.read()
        await client.write(replace(FROM_A_GO_CLIENT, opaque=asked.opaque))
        handed_on.set_result(await client.read())

    handed_on: asyncio.Future[Command] = asyncio.get_running_loop().create_future()
    address = await process.listen("127.0.0.1", [0])
    process.drive(react, lambda _: None)
    host, _, port = address.rpartition(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    await asyncio.wait_for(script(Scripted(reader, writer)), 20)
    writer.close()
    await process.close()

    assert handed_on.result() == replace(FROM_A_GO_CLIENT, opaque=OPAQUE)


@on_a_loop
async def test_the_first_port_that_is_free_is_taken() -> None:
    first, second = Process("5.5.0"), Process("5.5.0")
    taken = int((await first.listen("127.0.0.1", [0])).rpartition(":")[2])

    address = await second.listen("127.0.0.1", [taken, 0])

    with pytest.raises(OSError, match="no port to listen on"):
        await Process("5.5.0").listen("127.0.0.1", [taken])
    await first.close()
    await second.close()
    assert not address.endswith(f":{taken}")
