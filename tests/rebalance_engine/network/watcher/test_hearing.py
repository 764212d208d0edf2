"""What a question without an answer leaves known; answers themselves are tested on an embedded cluster."""

from collections.abc import Coroutine
from typing import cast

import pytest

from rebalance_engine.effects import Failure
from rebalance_engine.events import AnswerMissed, ConsumptionSeen, Missing, RequestModesSeen
from rebalance_engine.network.admin import Admin, Denied
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.gate import NotAsked
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.system_groups import INNER_PRODUCER
from rebalance_engine.network.watcher.agenda import Kind, Question
from rebalance_engine.network.watcher.hearing import Ears, Within
from rebalance_engine.remoting.bodies.clients import ProducerInfo, ProducerTableInfo
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestMode,
    MessageRequestModeSerializeWrapper,
    SetMessageRequestModeRequestBody,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
)
from rebalance_engine.remoting.codes import RequestCode
from rebalance_engine.remoting.requests.brokers import GetAllMessageRequestMode, GetBrokerConfig
from rebalance_engine.remoting.requests.clients import GetConsumerRunningInfo
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.network.loop import on_a_loop
from tests.rebalance_engine.network.test_looking import admin_of
from tests.rebalance_engine.network.watcher.seeing import by, sound, told


class Telling:
    """A broker that tells its figures and its settings, or why not."""

    def __init__(self, *configs: dict[str, str] | Exception) -> None:
        self.configs = list(configs)

    async def runtime(self, _address: str, *, timeout_s: float) -> dict[str, str]:
        assert timeout_s
        return {"brokerVersionDesc": "V5_5_0"}

    async def request_modes(self, _address: str, *, timeout_s: float) -> MessageRequestModeSerializeWrapper:
        assert timeout_s
        return MessageRequestModeSerializeWrapper()

    async def broker_config(self, _address: str, names: set[str], *, timeout_s: float) -> dict[str, str]:
        asked = {"channelExpiredTimeout", "notifyConsumerIdsChangedEnable", "autoCreateSubscriptionGroup"}
        assert (names, bool(timeout_s)) == (asked, True)
        config = self.configs.pop(0)
        if isinstance(config, Exception):
            raise config
        return config


LATE = NoAnswer(Failure.TIMEOUT, "east:1")
REFUSED = Denied("east:1", GetBrokerConfig(), Refused(code=16))
NO_TURN = NotAsked("east:1", "the budget for code 38 gave no turn before the deadline")


@on_a_loop
async def test_a_broker_that_did_not_tell_its_list_is_missing_and_one_that_got_no_turn_is_not() -> None:
    memory = sound("east")
    told(memory, "A", 10)
    question = Question(Kind.LIST, "east", "G")
    async with admin_of("127.0.0.1:1") as admin:
        ears = Ears(admin, memory)
        no_turn = ears.missed(question, by(20), NO_TURN)
        [missed] = ears.missed(question, by(30), LATE)

    assert no_turn == []
    assert isinstance(missed, AnswerMissed)
    assert (missed.missing, missed.broker, missed.client) == (Missing.TIMEOUT, "east", None)


@on_a_loop
async def test_a_broker_that_did_not_tell_its_producers_is_not_asked_at_once_again_for_an_expiring_heartbeat() -> None:
    memory = sound("east")
    beats = memory.beats
    info = ProducerInfo(client_id="A", last_update_timestamp=1_000)
    beats.clock_heard("east", 1_000, by(1_000))
    beats.heard("east", ProducerTableInfo(data={INNER_PRODUCER: (info,)}), by(2_000))
    async with admin_of("127.0.0.1:1") as admin:
        assert beats.due({"A"}, 120_500) == {"east"}
        [missed] = Ears(admin, memory).missed(Question(Kind.PRODUCERS, "east"), by(120_000), LATE)

    assert isinstance(missed, AnswerMissed)
    assert not beats.due({"A"}, 120_500)


@on_a_loop
async def test_a_broker_that_does_not_say_how_far_a_group_is_is_named() -> None:
    async with admin_of("127.0.0.1:1") as admin:
        [missed] = Ears(admin, sound("east")).missed(Question(Kind.PROGRESS, "east", "G"), by(30), LATE)

    asked = str(int(RequestCode.GET_CONSUMER_CONNECTION_LIST))  # what the answerer of these tests was asked
    assert isinstance(missed, AnswerMissed)
    assert (missed.group, missed.broker, missed.request) == ("G", "east", asked)


@on_a_loop
@pytest.mark.parametrize(
    ("configs", "known"),
    [
        ([{"channelExpiredTimeout": "60000"}], [60_000, 60_000, 60_000]),
        ([{"channelExpiredTimeout": "60000"}, {"channelExpiredTimeout": "0"}], [60_000, 60_000, None]),
        ([LATE, {"channelExpiredTimeout": "60000"}], [None, 60_000, 60_000]),
        ([REFUSED, {"channelExpiredTimeout": "60000"}], [None, None, 60_000]),
        ([{}, {}], [None, None, None]),
    ],
    ids=["told", "told otherwise", "late", "refused", "4.x"],
)
async def test_how_long_a_broker_waits_for_heartbeats_is_asked_now_and_then_with_its_figures(
    configs: list[dict[str, str] | Exception], known: list[int | None]
) -> None:
    memory = sound("east")
    ears = Ears(cast("Admin", Telling(*configs, {"channelExpiredTimeout": "60000"})), memory)
    found = []

    for at in (10, 60_010, 600_020):

        async def within(
            answer: Coroutine[None, None, dict[str, str]], at: int = at
        ) -> tuple[dict[str, str], Answerer]:
            return await answer, by(at)

        await ears.heard(Question(Kind.RUNTIME, "east"), by(at), cast("Within", within))
        found.append(memory.beats.expires_after_ms.get("east"))

    assert found == known


@on_a_loop
async def test_a_broker_that_notifies_nobody_is_asked_each_minute_whether_it_does_again() -> None:
    memory = sound("east")
    off, on = {"notifyConsumerIdsChangedEnable": "false"}, {"notifyConsumerIdsChangedEnable": "true"}
    ears = Ears(cast("Admin", Telling(off, off, on, off)), memory)
    found = []

    for at in (10, 50_000, 60_010, 120_020, 180_030):

        async def within(
            answer: Coroutine[None, None, dict[str, str]], at: int = at
        ) -> tuple[dict[str, str], Answerer]:
            return await answer, by(at)

        await ears.heard(Question(Kind.RUNTIME, "east"), by(at), cast("Within", within))
        found.append(memory.closed.is_off("east"))

    assert found == [True, True, True, False, False]  # the last off is not heard: asked again in ten minutes only


@on_a_loop
async def test_a_server_that_does_not_answer_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    question = Question(Kind.BROKERS, "names:1")
    async with admin_of("127.0.0.1:1") as admin:
        ears = Ears(admin, sound("east"))
        for at in (10, 20, 30):
            assert ears.missed(question, by(at, None), LATE) == []

    assert [one.getMessage() for one in caplog.records] == [f"names:1 does not answer: {LATE}"]


@on_a_loop
async def test_a_server_is_silent_if_it_cannot_be_reached_and_not_if_a_client_behind_it_is() -> None:
    memory = sound("east")
    asked = frozenset({by(10).address})
    refused = NoAnswer(Failure.NOT_CONNECTED, by(10).address, "refused")
    async with admin_of("127.0.0.1:1") as admin:
        ears = Ears(admin, memory)
        ears.missed(Question(Kind.HELD, "", "G", "A"), by(10), LATE)
        ears.missed(Question(Kind.LIST, "east", "G"), by(15), NO_TURN)
        before = memory.silences.silent(asked)
        ears.missed(Question(Kind.HELD, "", "G", "A"), by(20), refused)
        ears.missed(Question(Kind.LIST, "east", "G"), by(30), LATE)
        [silent] = memory.silences.silent(asked)

    assert before == ()
    assert (silent.since, silent.answered_at) == (20, None)


@on_a_loop
async def test_a_member_is_unknown_only_once_no_broker_that_answers_is_left_to_ask() -> None:
    question = Question(Kind.HELD, "", "G", "A")
    memory = sound("east", "west")
    for broker in ("east", "west"):
        told(memory, "A", 10, broker)
    async with admin_of("127.0.0.1:1") as admin:
        ears = Ears(admin, memory)
        first = ears.missed(question, by(20, "east", "A"), LATE)
        ears.missed(Question(Kind.LIST, "east", "G"), by(30), LATE)
        [then] = ears.missed(question, by(40, "west", "A"), LATE)

    assert first == []
    assert isinstance(then, AnswerMissed)
    assert (then.missing, then.broker, then.client) == (Missing.TIMEOUT, "west", "A")


@on_a_loop
async def test_a_client_of_which_a_broker_says_that_it_does_not_answer_is_unknown_at_once() -> None:
    memory = sound("east", "west")
    for broker in ("east", "west"):
        told(memory, "A", 10, broker)
    hung = Denied("east:1", GetConsumerRunningInfo(consumer_group="G", client_id="A"), Refused(code=207))
    async with admin_of("127.0.0.1:1") as admin:
        [missed] = Ears(admin, memory).missed(Question(Kind.HELD, "", "G", "A"), by(20, "east", "A"), hung)

    assert isinstance(missed, AnswerMissed)
    assert (missed.missing, missed.client) == (Missing.TIMEOUT, "A")


class Configured:
    """A broker that lets nobody of H consume."""

    async def group_configs(self, _address: str, *, timeout_s: float) -> SubscriptionGroupWrapper:
        assert timeout_s
        names = ("G", "H", "CID_RMQ_SYS_TRANS")
        table = {name: SubscriptionGroupConfig(group_name=name, consume_enable=name == "G") for name in names}
        return SubscriptionGroupWrapper(subscription_group_table=table)


@on_a_loop
async def test_a_group_that_may_not_consume_is_told_of_with_the_groups_of_a_broker() -> None:
    memory = sound("east")
    ears = Ears(cast(Admin, Configured()), memory)

    async def within(answer: Coroutine[None, None, object]) -> tuple[object, object]:
        return await answer, by(10)

    [fact] = await ears.heard(Question(Kind.GROUPS, "east"), by(10), cast(Within, within))

    assert isinstance(fact, ConsumptionSeen)
    assert (fact.group, fact.broker, fact.is_enabled) == ("H", "east", False)
    assert memory.groups == {"G", "H"}


@on_a_loop
async def test_a_broker_that_does_not_say_which_groups_it_has_bounds_nothing_until_it_does() -> None:
    memory, question, found = sound("east"), Question(Kind.GROUPS, "east"), []
    memory.groups_heard("east", ["G"], 10)
    memory.having.makes_heard("east", is_on=True)
    async with admin_of("127.0.0.1:1") as admin:
        ears = Ears(admin, memory)
        for trouble in (NO_TURN, LATE):
            assert ears.missed(question, by(20), trouble) == []
            found.append(memory.having.lacked_at("H", "east"))

    assert found == [10, None]


class Popping:
    """A broker of some version that tells which groups it gives messages by POP, or why not."""

    def __init__(self, version: str, *answers: MessageRequestModeSerializeWrapper | Exception) -> None:
        self.version, self.answers = version, list(answers)

    async def runtime(self, _address: str, *, timeout_s: float) -> dict[str, str]:
        assert timeout_s
        return {"brokerVersionDesc": self.version}

    async def broker_config(self, _address: str, _names: set[str], *, timeout_s: float) -> dict[str, str]:
        assert timeout_s
        return {}

    async def request_modes(self, _address: str, *, timeout_s: float) -> MessageRequestModeSerializeWrapper:
        assert timeout_s
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


BY_POP = MessageRequestModeSerializeWrapper(
    message_request_mode_map={
        "orders": {
            "G": SetMessageRequestModeRequestBody(topic="orders", consumer_group="G", mode=MessageRequestMode.POP)
        }
    }
)
NO_MODES = Denied("east:1", GetAllMessageRequestMode(), Refused(code=16))


@on_a_loop
@pytest.mark.parametrize(
    ("version", "answers", "stated"),
    [
        ("V5_5_0", [BY_POP, BY_POP, MessageRequestModeSerializeWrapper()], {0: ("orders",), 2: ()}),
        ("V5_5_0", [LATE, BY_POP, BY_POP], {1: ("orders",)}),
        ("V5_5_0", [NO_MODES, BY_POP], {2: ("orders",)}),
        ("V4_9_7", [], {}),
        ("", [], {}),
    ],
    ids=["told", "late", "refused", "4.x", "unknown version"],
)
async def test_brokers_of_5_x_are_asked_with_their_figures_which_groups_are_set_to_pop(
    version: str, answers: list[MessageRequestModeSerializeWrapper | Exception], stated: dict[int, tuple[str, ...]]
) -> None:
    popping = Popping(version, *answers)
    ears, found = Ears(cast("Admin", popping), sound("east")), {}

    for number, at in enumerate((10, 60_010, 600_020)):

        async def within(answer: Coroutine[None, None, object], at: int = at) -> tuple[object, Answerer]:
            return await answer, by(at)

        facts = await ears.heard(Question(Kind.RUNTIME, "east"), by(at), cast("Within", within))
        for fact in facts:
            if isinstance(fact, RequestModesSeen):
                assert (fact.group, fact.broker) == ("G", "east")
                assert "402" in (fact.source.detail or "")
                found[number] = fact.topics

    assert (found, popping.answers) == (stated, [])
