import pytest

from rebalance_engine.network.system_groups import is_system_group


@pytest.mark.parametrize("name", ["TOOLS_CONSUMER", "CID_RMQ_SYS_TRANS", "CID_ONSAPI_PULL", "CID_ONS-HTTP-PROXY"])
def test_rocketmqs_own_groups_are_known(name: str) -> None:
    assert is_system_group(name)


@pytest.mark.parametrize("name", ["billing", "CID_billing", "tools_consumer"])
def test_others_are_not_among_them(name: str) -> None:
    assert not is_system_group(name)
