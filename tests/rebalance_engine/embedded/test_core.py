from pathlib import Path

from rebalance_engine.embedded.core import host_of, refuse
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.messages import Host
from tests.rebalance_engine.embedded.desk import Desk, settings


def test_an_address_becomes_a_host() -> None:
    assert host_of("10.0.0.1:10911") == Host("10.0.0.1", 10911)
    assert host_of("[::1]:10911") == Host("::1", 10911)


def test_remarks_lead_to_the_faq_of_the_version(tmp_path: Path) -> None:
    new = Desk(tmp_path / "new")
    old = Desk(tmp_path / "old", EmbeddedSettings(membership=settings("4.9.7")))

    assert "bestPractice/06FAQ" in new.broker.core.see_faq()
    assert "docs/faq/" in old.broker.core.see_faq()


def test_a_refusal_has_a_code_and_a_remark() -> None:
    refused = refuse(ResponseCode.SYSTEM_BUSY, "later")

    assert (refused.code, refused.remark) == (2, "later")
