from pathlib import Path

import pytest

from rebalance_engine.embedded.disk import ConfigFiles, alone_in, replace_file
from rebalance_engine.membership.machine import Memory
from rebalance_engine.remoting.bodies.queues import ConsumerOffsetSerializeWrapper
from rebalance_engine.remoting.bodies.settings import (
    MessageRequestMode,
    MessageRequestModeSerializeWrapper,
    SetMessageRequestModeRequestBody,
    SubscriptionGroupConfig,
    SubscriptionGroupWrapper,
    TopicConfig,
)
from rebalance_engine.remoting.errors import BrokenContent

MODE = SetMessageRequestModeRequestBody(topic="T", consumer_group="G", mode=MessageRequestMode.POP)
MEMORY = Memory(
    groups=SubscriptionGroupWrapper(subscription_group_table={"G": SubscriptionGroupConfig(group_name="G")}),
    topics=(TopicConfig(topic_name="T", read_queue_nums=2),),
    offsets=ConsumerOffsetSerializeWrapper(offset_table={"T@G": {0: 5}}),
    modes=MessageRequestModeSerializeWrapper(message_request_mode_map={"T": {"G": MODE}}),
)


def test_what_was_kept_comes_back(tmp_path: Path) -> None:
    files = ConfigFiles(tmp_path)
    files.keep(MEMORY)
    files.keep_delays({3: 7})

    again = ConfigFiles(tmp_path)
    assert (again.memory(), again.delays()) == (MEMORY, {3: 7})


def test_nothing_was_kept_before_the_first_run(tmp_path: Path) -> None:
    files = ConfigFiles(tmp_path)

    assert (files.memory(), files.delays()) == (Memory(), {})


def test_files_have_rocketmqs_names_and_are_not_written_without_need(tmp_path: Path) -> None:
    files = ConfigFiles(tmp_path)
    files.keep(MEMORY)
    first = {path.name: path.stat().st_ino for path in tmp_path.iterdir()}

    files.keep(MEMORY)

    assert first.keys() == {"topics.json", "subscriptionGroup.json", "consumerOffset.json", "messageRequestMode.json"}
    assert {path.name: path.stat().st_ino for path in tmp_path.iterdir()} == first


def test_a_file_is_replaced_as_a_whole(tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"

    replace_file(path, "one")
    replace_file(path, "two")

    assert [(one.name, one.read_text()) for one in path.parent.iterdir()] == [("file", "two")]


def test_a_file_that_is_no_json_is_told(tmp_path: Path) -> None:
    (tmp_path / "topics.json").write_text("{")

    with pytest.raises(BrokenContent):
        ConfigFiles(tmp_path).memory()


@pytest.mark.parametrize(("place", "why"), [("file", "it is a file"), ("file/below", "Not a directory")])
def test_a_directory_that_cannot_be_had_is_named_with_what_is_needed(tmp_path: Path, place: str, why: str) -> None:
    (tmp_path / "file").touch()
    said = f"^the directory is '.*{place}', and cannot be had: {why}; needed"
    with pytest.raises(OSError, match=said), alone_in(tmp_path / place):
        pytest.fail("it was had")
