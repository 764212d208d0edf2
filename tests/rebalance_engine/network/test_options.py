from dataclasses import fields

import pytest

from rebalance_engine.consumer import GroupSettings
from rebalance_engine.network.options import (
    GroupOptions,
    default_offsets_dir,
    known_version,
    topics_of,
)
from rebalance_engine.remoting.tags import Sql


def test_every_option_of_a_group_is_a_setting_of_its_machine() -> None:
    settings = {field.name for field in fields(GroupSettings)}

    assert GroupOptions.__annotations__.keys() <= settings - {"group", "topics", "mode"}


@pytest.mark.parametrize("version", ["9.9", "5.6.0", "4.8.0", "x", ""])
def test_a_version_that_nobody_knows_is_refused(version: str) -> None:
    with pytest.raises(ValueError, match=r"known are those from 4\.9\.0 to 5\.5\.0|needed is a version"):
        known_version(version, "4.9.0")


@pytest.mark.parametrize("version", ["4.9.0", "5.3.3", "5.3.4-SNAPSHOT", "5.5.0", "5.5.1"])
def test_a_version_that_is_known_is_taken(version: str) -> None:
    assert known_version(version, "4.9.0") == version


def test_topics_are_a_name_several_or_expressions() -> None:
    assert topics_of("orders") == {"orders": "*"}
    assert topics_of(["orders", "bills"]) == {"orders": "*", "bills": "*"}
    assert topics_of({"orders": "a || b", "bills": Sql("x > 1")}) == {"orders": "a || b", "bills": "x > 1"}
    with pytest.raises(ValueError, match="topic is 'a b'"):
        topics_of("a b")


def test_offsets_lie_where_java_keeps_them() -> None:
    assert default_offsets_dir().name == ".rocketmq_offsets"
