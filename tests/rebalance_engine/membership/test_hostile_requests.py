"""Whatever a client can put into a request, the machine answers it and keeps its promises."""

from hypothesis import given
from hypothesis import strategies as st

from rebalance_engine.effects import Opened, Received, Respond
from rebalance_engine.membership.checks import PullTerms
from rebalance_engine.membership.machine import Broker
from rebalance_engine.membership.profiles import BrokerSettings
from rebalance_engine.remoting.bodies.settings import TopicConfig
from rebalance_engine.remoting.requests import REQUESTS
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.contract import Refused
from tests.rebalance_engine.remoting.examples import examples

ASKED = Broker(BrokerSettings())
KNOWN = [kind for kind in REQUESTS.values() if ASKED.knows(object.__new__(kind))]


def broker(version: str) -> Broker:
    machine = Broker(BrokerSettings(version=version))
    machine.start(0)
    machine.handle(Opened(channel=1, address="10.0.0.1:5000"), 0)
    machine.put_topic(TopicConfig(topic_name=""))
    return machine


def test_the_known_requests_are_found() -> None:
    assert len(KNOWN) == 20


@given(st.sampled_from(["4.9.7", "5.5.0"]), st.lists(st.one_of(*map(examples, KNOWN)), max_size=6))
def test_every_request_is_answered_once(version: str, requests: list) -> None:
    machine = broker(version)

    for at, request in enumerate(requests):
        effects = machine.handle(Received(channel=1, request=request, token=at), at)
        assert [effect.token for effect in effects if isinstance(effect, Respond)] == [at]
        machine.check()


@given(st.sampled_from(["4.9.7", "5.5.0"]), examples(PullMessage))
def test_every_pull_is_refused_or_has_its_terms(version: str, pull: PullMessage) -> None:
    machine = broker(version)

    checked = machine.check_pull(1, pull, 0)
    machine.commit_with_pull(1, pull, 0)

    assert isinstance(checked, Refused | PullTerms)
    machine.check()
