import pytest

from rebalance_engine.membership.producers import ProducerTable
from tests.rebalance_engine.membership.examples import presence


@pytest.fixture
def table() -> ProducerTable:
    return ProducerTable(forgets_empty_groups=True)


def test_a_channel_keeps_the_client_id_that_it_came_with(table: ProducerTable) -> None:
    table.register("p", presence(1, "A"), 0)
    table.register("p", presence(1, "B", 5), 5)

    (info,) = table.table().data["p"]
    assert (info.client_id, info.remote_ip, info.last_update_timestamp) == ("A", "/10.0.0.1:5000", 5)


def test_unregistering_the_last_channel_removes_the_group(table: ProducerTable) -> None:
    table.register("p", presence(1), 0)
    table.register("p", presence(2), 0)

    table.unregister("p", 1)
    assert table.members() == {"p": (2,)}

    table.unregister("p", 2)
    table.unregister("p", 2)
    assert table.find("p") is None


def test_a_closed_channel_goes_from_all_groups(table: ProducerTable) -> None:
    for group in ("p", "q"):
        table.register(group, presence(1), 0)
    table.register("q", presence(2), 0)

    table.close(1)

    assert table.members() == {"q": (2,)}


def test_before_5_0_a_group_outlives_its_channels_empty() -> None:
    table = ProducerTable(forgets_empty_groups=False)
    table.register("p", presence(1), 0)
    table.register("q", presence(2), 0)

    table.close(1)
    table.expire(120_001)

    assert table.find("p") == table.find("q") == ()
    assert table.table().data == {}


@pytest.mark.parametrize(("silence_ms", "expired"), [(120_000, ()), (120_001, (1,))])
def test_silence_of_more_than_120_s_expires(table: ProducerTable, silence_ms: int, expired: tuple[int, ...]) -> None:
    table.register("p", presence(1), 0)

    assert table.expire(silence_ms) == expired


def test_check_finds_a_closed_channel_and_an_empty_group(table: ProducerTable) -> None:
    table.register("p", presence(1), 0)

    table.check({1}, 0)
    with pytest.raises(AssertionError, match="closed"):
        table.check(set(), 0)
