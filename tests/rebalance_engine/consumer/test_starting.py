import pytest

from rebalance_engine.consumer import CPP, GO, Profile, Resume, java
from rebalance_engine.consumer.starting import start_offset
from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.consumer.world import World

LAST = ConsumeFromWhere.CONSUME_FROM_LAST_OFFSET
FIRST = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
TIME = ConsumeFromWhere.CONSUME_FROM_TIMESTAMP
OLD = ConsumeFromWhere.CONSUME_FROM_MIN_OFFSET
ORDERS = MessageQueue("orders", "east", 0)
RETRY = MessageQueue("%RETRY%G", "east", 0)
STORED, END, BY_TIME = 3, 5, 1  # the scripted broker's answers


def start(
    profile: Profile,
    mq: MessageQueue,
    where: ConsumeFromWhere,
    *,
    stored: bool = False,
    error: int = 0,
    silent: bool = False,
) -> int:
    world = World()
    world.topic("orders", "east=1")
    world.topic("%RETRY%G", "east=1")
    world.put(mq, END)
    client = world.make_client("A", profile)
    world.broker("east").silent.add("HeartBeat")  # nobody takes a queue
    world.start("A", "G", "orders", from_where=where)
    world.run(10)
    if stored:
        world.broker("east").offsets["G", mq] = STORED
    if error:
        world.broker("east").answers["QueryConsumerOffset"] = [Refused(code=error)]
    if silent:
        world.broker("east").silent.add("QueryConsumerOffset")
    found: list[int] = []

    def note() -> Code[None]:
        found.append((yield from start_offset(client.member("G"), mq)))

    client.desk.threads.spawn(note())
    world.hear("A", Resume("G"))
    world.run(6_000)
    return found[0]


@pytest.mark.parametrize("where", [LAST, FIRST, TIME, OLD])
@pytest.mark.parametrize("mq", [ORDERS, RETRY], ids=["orders", "retry"])
@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.5.0"), CPP, GO], ids=str)
def test_a_stored_offset_goes_before_everything(profile: Profile, mq: MessageQueue, where: ConsumeFromWhere) -> None:
    assert start(profile, mq, where, stored=True) == STORED


@pytest.mark.parametrize(
    ("where", "normal", "retry"), [(LAST, END, 0), (OLD, END, 0), (FIRST, 0, 0), (TIME, BY_TIME, END)]
)
@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.5.0"), GO], ids=str)
def test_without_a_stored_offset_the_setting_decides(
    profile: Profile, where: ConsumeFromWhere, normal: int, retry: int
) -> None:
    assert start(profile, ORDERS, where) == normal
    assert start(profile, RETRY, where) == retry


@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.5.0"), GO], ids=str)
def test_any_other_failure_refuses_the_queue(profile: Profile) -> None:
    assert start(profile, ORDERS, FIRST, error=ResponseCode.SYSTEM_ERROR) < 0


def test_cpp_takes_an_error_of_the_broker_for_no_offset() -> None:
    assert start(CPP, ORDERS, LAST, error=ResponseCode.SYSTEM_ERROR) == END


@pytest.mark.parametrize("profile", [java("4.9.7"), java("5.5.0"), GO, CPP], ids=str)
def test_a_broker_that_does_not_answer_refuses_the_queue(profile: Profile) -> None:
    assert start(profile, ORDERS, LAST, silent=True) < 0


def test_cpp_never_starts_a_normal_topic_by_time() -> None:
    assert start(CPP, ORDERS, TIME) < 0
    assert start(CPP, RETRY, TIME) == END


def test_a_time_that_is_not_set_is_half_an_hour_before_the_start() -> None:
    world = World()
    world.topic("orders", "east=1")
    world.make_client("A", java("5.5.0"))
    world.shown = {"SearchOffsetByTimestamp"}
    world.start("A", "G", "orders", from_where=TIME)
    world.run(3_000)

    began = world.mark
    assert f"timestamp={began - 1_800_000}" in "\n".join(world.lines)


def test_go_reads_its_own_zone_as_utc() -> None:
    asked = []
    for profile in (GO, java("5.5.0")):
        world = World()
        world.topic("orders", "east=1")
        world.shown = {"SearchOffsetByTimestamp"}
        world.make_client("A", profile, utc_offset_ms=3_600_000)
        world.start("A", "G", "orders", from_where=TIME, from_timestamp=1_000)
        world.run(5_000)
        asked += [line.split("timestamp=")[1] for line in world.lines if "timestamp=" in line]

    assert asked == ["3601000", "1000"]
