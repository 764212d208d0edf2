from pathlib import Path

import pytest

from rebalance_engine.embedded.running import runtime_table, settings_table
from rebalance_engine.embedded.settings import EmbeddedSettings
from tests.rebalance_engine.embedded.desk import START, Desk, settings


@pytest.mark.parametrize(
    ("version", "name", "missing"),
    [("5.5.0", "getTransferredTps", "getTransferedTps"), ("4.9.7", "getTransferedTps", "brokerActive")],
)
def test_names_are_those_of_the_version(tmp_path: Path, version: str, name: str, missing: str) -> None:
    desk = Desk(tmp_path, EmbeddedSettings(membership=settings(version)))

    table = runtime_table(desk.broker.core, 0, desk.now)

    assert (name in table, missing in table) == (True, False)


def test_everything_is_a_text_and_rates_are_three(tmp_path: Path) -> None:
    desk = Desk(tmp_path)
    for _ in range(20):
        desk.send(desk.connect(), "fresh", "x")

    table = runtime_table(desk.broker.core, 3, START + 10_000)

    assert all(isinstance(value, str) for value in table.values())
    assert (table["putTps"], table["getFoundTps"]) == ("2.0 2.0 2.0", "0.0 0.0 0.0")
    assert (table["sendThreadPoolQueueSize"], table["earliestMessageTimeStamp"]) == ("3", str(START))


def test_it_says_how_long_it_runs(tmp_path: Path) -> None:
    desk = Desk(tmp_path)

    table = runtime_table(desk.broker.core, 0, START + 93_784_000)

    assert table["runtime"] == "[ 1 days, 2 hours, 3 minutes, 4 seconds ]"


def test_settings_are_those_of_the_version(tmp_path: Path) -> None:
    new = settings_table(Desk(tmp_path / "new").broker.core)
    old = settings_table(Desk(tmp_path / "old", EmbeddedSettings(membership=settings("4.9.7"))).broker.core)

    assert (new["useServerSideResetOffset"], "useServerSideResetOffset" in old) == ("true", False)
    assert new["autoCreateTopicEnable"] == "true"
