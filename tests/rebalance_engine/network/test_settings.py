from rebalance_engine.network.settings import NetworkSettings
from rebalance_engine.remoting.acl import Credentials
from rebalance_engine.remoting.codes import Language


def test_the_defaults_are_those_of_rocketmq() -> None:
    settings = NetworkSettings()

    assert (settings.connect_timeout_s, settings.idle_after_s) == (3, 120)
    assert (settings.language, settings.version) == (Language.PYTHON, 441)


def test_secrets_do_not_show() -> None:
    assert "hush" not in repr(NetworkSettings(acl=Credentials(access_key="A", secret_key="hush")))  # noqa: S106
