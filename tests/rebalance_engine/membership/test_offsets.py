import pytest

from rebalance_engine.membership.offsets import OffsetTable, QueueStart
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper
from rebalance_engine.remoting.requests.consuming import OffsetResponse, QueryConsumerOffset
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.membership.examples import policy


@pytest.fixture
def table() -> OffsetTable:
    return OffsetTable(policy())


def query(*, set_zero: bool | None = None) -> QueryConsumerOffset:
    return QueryConsumerOffset(consumer_group="g", topic="orders", queue_id=0, set_zero_if_not_found=set_zero)


@pytest.mark.parametrize(
    ("version", "start", "set_zero", "answer"),
    [
        ("5.5.0", QueueStart.IN_MEMORY, None, 0),
        ("5.5.0", QueueStart.IN_MEMORY, True, 0),
        ("5.5.0", QueueStart.IN_MEMORY, False, 22),
        ("5.5.0", QueueStart.ON_DISK, None, 22),
        ("5.5.0", QueueStart.REMOVED, None, 22),
        ("5.5.0", QueueStart.EMPTY, None, 22),
        ("5.0.0", QueueStart.EMPTY, None, 0),
        ("4.9.7", QueueStart.EMPTY, None, 0),
        ("4.9.7", QueueStart.EMPTY, False, 0),
        ("4.9.7", QueueStart.ON_DISK, None, 22),
    ],
)
def test_a_group_without_an_offset(version: str, start: QueueStart, *, set_zero: bool | None, answer: int) -> None:
    response = OffsetTable(policy(version)).answer(query(set_zero=set_zero), start)

    assert (response.offset if isinstance(response, OffsetResponse) else response.code) == answer


def test_a_stored_offset_is_answered_whatever_the_queue_holds(table: OffsetTable) -> None:
    table.commit("g", "orders", 0, 7)

    assert table.answer(query(set_zero=False), QueueStart.REMOVED) == OffsetResponse(offset=7)


def test_a_smaller_offset_is_stored_and_told(table: OffsetTable) -> None:
    first = table.commit("g", "orders", 0, 7)
    back = table.commit("g", "orders", 0, 5)
    on = table.commit("g", "orders", 0, 6)

    assert [commit.went_back_by for commit in (first, back, on)] == [0, 2, 0]
    assert table.find("g", "orders", 0) == 6


def test_a_reset_stands_above_what_is_stored_until_a_pull_takes_it(table: OffsetTable) -> None:
    table.commit("g", "orders", 0, 7)
    table.reset("g", "orders", 0, 3)

    assert table.is_reset("g", "orders", 0)
    assert table.find("g", "orders", 0) == 3
    assert table.take_reset("g", "orders", 0) == 3
    assert not table.is_reset("g", "orders", 0)
    assert table.take_reset("g", "orders", 0) is None
    table.check()


def test_where_resets_are_off_a_pull_drops_them() -> None:
    table = OffsetTable(policy(resets_offsets=False))
    table.reset("g", "orders", 0, 3)

    assert not table.is_reset("g", "orders", 0)
    assert table.take_reset("g", "orders", 0) is None
    assert table.find("g", "orders", 0) == 3
    table.check()


@pytest.mark.parametrize(("queue_id", "offset"), [(-1, 0), (0, -1)])
def test_nothing_negative_is_reset(table: OffsetTable, queue_id: int, offset: int) -> None:
    with pytest.raises(ValueError, match="0 or more"):
        table.reset("g", "orders", queue_id, offset)


def test_check_finds_a_commit_that_overtook_a_reset(table: OffsetTable) -> None:
    table.reset("g", "orders", 0, 3)
    table.commit("g", "orders", 0, 9)

    with pytest.raises(AssertionError, match="was reset to 3"):
        table.check()


def test_pulled_offsets_are_another_table(table: OffsetTable) -> None:
    table.commit("g", "orders", 0, 7)
    assert table.find_pulled("g", "orders", 0) == 7

    table.note_pulled("g", "orders", 0, 9)

    assert (table.find("g", "orders", 0), table.find_pulled("g", "orders", 0)) == (7, 9)


def test_what_is_kept_on_disk_comes_back(table: OffsetTable) -> None:
    table.commit("g", "orders", 0, 7)
    table.commit("%SYS%h", "%RETRY%g", 1, 2)
    kept = table.all()

    again = OffsetTable(policy(), kept)

    assert kept.offset_table == {"orders@g": {0: 7}, "%RETRY%g@%SYS%h": {1: 2}}
    assert again.all().offset_table == kept.offset_table


def test_a_name_that_splits_in_three_is_skipped() -> None:
    table = OffsetTable(policy(), ConsumerOffsetSerializeWrapper(offset_table={"a@b@c": {0: 1}, "d": {0: 1}}))

    assert table.all().offset_table == {}


def test_who_ever_committed_is_known(table: OffsetTable) -> None:
    table.commit("g", "orders", 0, 7)
    table.commit("h", "orders", 0, 7)
    table.commit("g", "pay", 0, 7)

    assert table.groups_of("orders") == ("g", "h")
    assert table.topics_of("g") == ("orders", "pay")


def test_the_two_refusals_have_their_own_words(table: OffsetTable) -> None:
    plain = table.answer(query(), QueueStart.ON_DISK)
    not_zero = table.answer(query(set_zero=False), QueueStart.ON_DISK)

    assert isinstance(plain, Refused) and isinstance(not_zero, Refused)
    assert plain.remark == "Not found, V3_0_6_SNAPSHOT maybe this group consumer boot first"
    assert not_zero.remark == "Not found, do not set to zero, maybe this group boot first"


def test_a_deleted_topic_or_group_takes_its_offsets_along(table: OffsetTable) -> None:
    for group, topic in (("G", "T"), ("G", "U"), ("H", "U")):
        table.commit(group, topic, 0, 5)

    table.forget_topic("T")
    table.forget_group("H")

    assert (table.topics_of("G"), table.topics_of("H")) == (("U",), ())
