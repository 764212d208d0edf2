from rebalance_engine.membership.configs import GroupConfigs, TopicConfigs
from rebalance_engine.membership.modes import RequestModes
from rebalance_engine.membership.profiles import Policy
from rebalance_engine.remoting.bodies.settings import MessageRequestMode, SetMessageRequestModeRequestBody, TopicConfig
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Response
from tests.rebalance_engine.membership.examples import policy

POP = MessageRequestMode.POP


def body(topic: str = "orders", share: int = 2) -> SetMessageRequestModeRequestBody:
    return SetMessageRequestModeRequestBody(topic=topic, consumer_group="g", mode=POP, pop_share_queue_num=share)


def set_mode(modes: RequestModes, rules: Policy, asked: SetMessageRequestModeRequestBody) -> Response:
    topics = TopicConfigs(rules, [TopicConfig(topic_name="orders")])
    return modes.set(asked, GroupConfigs(rules), topics)


def test_what_was_set_counts_for_this_topic_and_this_group() -> None:
    modes = RequestModes(policy())

    assert set_mode(modes, policy(), body()).code == ResponseCode.SUCCESS

    assert modes.mode_of("orders", "g") == body()
    assert modes.mode_of("orders", "h").mode is MessageRequestMode.PULL
    assert modes.mode_of("pay", "g").mode is MessageRequestMode.PULL


def test_the_default_is_the_brokers_but_for_retry_topics() -> None:
    modes = RequestModes(policy(default_request_mode=POP, default_pop_share_queue_num=3))

    assert (modes.mode_of("orders", "g").mode, modes.mode_of("orders", "g").pop_share_queue_num) == (POP, 3)
    assert modes.mode_of("%RETRY%g", "g").mode is MessageRequestMode.PULL


def test_no_mode_is_set_of_a_retry_topic() -> None:
    modes = RequestModes(policy())

    assert set_mode(modes, policy(), body("%RETRY%g")).code == ResponseCode.NO_PERMISSION
    assert modes.all().message_request_mode_map == {}


def test_from_5_3_3_on_topic_and_group_have_to_be_there() -> None:
    strict, old = policy("5.3.3", creates_groups=False), policy("5.3.2", creates_groups=False)

    assert set_mode(RequestModes(strict), strict, body("pay")).code == ResponseCode.TOPIC_NOT_EXIST
    assert set_mode(RequestModes(strict), strict, body()).code == ResponseCode.SUBSCRIPTION_GROUP_NOT_EXIST
    assert set_mode(RequestModes(old), old, body("pay")).code == ResponseCode.SUCCESS


def test_what_was_kept_comes_back() -> None:
    modes = RequestModes(policy())
    set_mode(modes, policy(), body())

    assert RequestModes(policy(), modes.all()).mode_of("orders", "g") == body()
