import pytest
from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.remoting.message_ids import UniqueId, offset_id, read_offset_id
from rebalance_engine.remoting.messages import Host, decode_messages
from tests.rebalance_engine.remoting.recordings import RELEASES, recorded

IPS = st.ip_addresses().map(str)


def test_the_worked_example_is_written_and_read() -> None:
    host = Host("10.0.0.1", 10_911)

    assert offset_id(host, 1_234_567_890) == "0A00000100002A9F00000000499602D2"
    assert read_offset_id("0A00000100002A9F00000000499602D2") == (host, 1_234_567_890)


@given(st.builds(Host, IPS, st.integers(0, 65_535)), st.integers(0, 2**63 - 1))
def test_an_offset_id_is_read_as_it_was_written(host: Host, offset: int) -> None:
    assert read_offset_id(offset_id(host, offset)) == (host, offset)


@given(
    st.builds(
        UniqueId,
        ip=IPS,
        process_id=st.integers(0, 2**16 - 1),
        instance=st.integers(0, 2**32 - 1),
        since_month_ms=st.integers(0, 2**32 - 1),
        counter=st.integers(0, 2**16 - 1),
    )
)
def test_a_unique_id_is_read_as_it_was_written(unique: UniqueId) -> None:
    assert UniqueId.read(str(unique)) == unique


@pytest.mark.parametrize("release", RELEASES)
def test_recorded_messages_have_the_ids_that_they_say(release: str) -> None:
    sent = [frame.command for frame in recorded(release) if frame.asked and frame.asked.code == 310]
    pulled = [frame.command.body for frame in recorded(release) if frame.asked and frame.asked.code == 11]
    messages = [message for body in pulled for message in decode_messages(body)]

    assert {(command.ext_fields or {})["msgId"] for command in sent} >= {
        offset_id(message.store_host, message.commit_log_offset) for message in messages
    }
    ids = [UniqueId.read(message.properties["UNIQ_KEY"]) for message in messages]
    assert {len(str(unique)) for unique in ids} == {56}
    assert [str(unique) for unique in ids] == [message.properties["UNIQ_KEY"] for message in messages]


def test_numbers_that_are_too_large_start_again() -> None:
    unique = UniqueId(ip="10.0.0.1", process_id=70_000, instance=-1, since_month_ms=0, counter=65_536)

    read = UniqueId.read(str(unique))

    assert (read.process_id, read.instance, read.counter) == (4_464, 2**32 - 1, 0)


@pytest.mark.parametrize("text", ["", "0A", "x" * 32, " " * 32, "0A " * 10 + "0A", "0" * 33, "0" * 57])
def test_what_is_no_id_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"message id|hexadecimal"):
        read_offset_id(text)
    with pytest.raises(ValueError, match=r"message id|hexadecimal"):
        UniqueId.read(text)
