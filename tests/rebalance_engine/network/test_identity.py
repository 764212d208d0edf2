import os
from datetime import datetime

import pytest

from rebalance_engine.network.identity import MessageIds, client_id, own_instance, own_ip
from rebalance_engine.remoting.message_ids import UniqueId


def at(*when: int) -> int:
    return int(datetime(*when).timestamp() * 1_000)  # type: ignore[arg-type]  # noqa: DTZ001  # local, as Java


def test_a_client_id_is_the_address_towards_a_name_server_and_an_instance() -> None:
    assert client_id(["127.0.0.1:9876"], "N") == "127.0.0.1@N"
    assert client_id(["127.0.0.1:9876"], "N", "10.0.0.7") == "10.0.0.7@N"


def test_no_two_starts_have_one_instance() -> None:
    first, second = own_instance(), own_instance()

    assert first != second
    assert first.startswith(f"{os.getpid()}#")


def test_a_name_server_that_cannot_be_looked_up_is_passed_over() -> None:
    assert own_ip(["no-such-host.invalid:9876", "127.0.0.2:9876"]).startswith("127.")
    assert own_ip([]) == "127.0.0.1"


def test_message_ids_are_java_s_and_count_on() -> None:
    ids = MessageIds("10.0.0.7", instance=5)
    first, second = (UniqueId.read(ids.next(at(2026, 3, 2, 0, 0, 1))) for _ in range(2))

    assert first.ip == "10.0.0.7" and first.instance == 5 and first.process_id == os.getpid() & 0xFFFF
    assert first.since_month_ms == second.since_month_ms == 24 * 3_600_000 + 1_000
    assert second.counter == first.counter + 1


@pytest.mark.parametrize(("old", "new"), [((2026, 1, 31), (2026, 2, 1)), ((2026, 12, 31), (2027, 1, 1))])
def test_a_new_month_begins_at_nought(old: tuple[int, ...], new: tuple[int, ...]) -> None:
    ids = MessageIds("10.0.0.7")

    assert UniqueId.read(ids.next(at(*old))).since_month_ms == 30 * 24 * 3_600_000
    assert UniqueId.read(ids.next(at(*new))).since_month_ms == 0


def test_a_clock_that_is_set_back_finds_the_month_before() -> None:
    ids = MessageIds("10.0.0.7")
    ids.next(at(2026, 2, 1))

    assert UniqueId.read(ids.next(at(2026, 1, 1))).since_month_ms == 0


def test_the_counter_begins_again_after_65535() -> None:
    ids = MessageIds("10.0.0.7")
    counters = [UniqueId.read(ids.next(at(2026, 1, 1))).counter for _ in range(65_536)]

    assert len(set(counters)) == 65_536
