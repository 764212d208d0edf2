"""Whether brokers understand the expressions of a subscription that are more than tags, asked before anybody joins.

Source: ``client/.../impl/consumer/DefaultMQPushConsumerImpl.java`` (``start``: routes, ``checkClientInBroker``, only
then the first heartbeat), ``client/.../impl/factory/MQClientInstance.java`` (``findBrokerAddrByTopic``).
"""

from __future__ import annotations

import logging
import random

from rebalance_engine.consumer import GroupSettings
from rebalance_engine.effects import Address
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.nameservers import NameServers
from rebalance_engine.network.transport import Transport
from rebalance_engine.remoting.bodies.clients import CheckClientRequestBody, SubscriptionData
from rebalance_engine.remoting.errors import RemotingError
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.membership import CheckClientConfig
from rebalance_engine.remoting.requests.nameserver import GetRouteInfoByTopic, GetRouteInfoByTopicResponse
from rebalance_engine.remoting.tags import is_by_tags, subscription

logger = logging.getLogger(__name__)


class SubscriptionRefused(Exception):
    """A broker does not understand a subscription; the message has the broker's words."""


async def check_filters(transport: Transport, names: NameServers, client_id: str, settings: GroupSettings) -> None:
    """Ask a broker of each topic; where none can be asked, the group's messages will tell.

    Raises:
        SubscriptionRefused: one does not understand its expression.
    """
    for topic, expression in settings.topics.items():
        subscribed = subscription(topic, expression, version=0)
        if not is_by_tags(subscribed):
            body = CheckClientRequestBody(client_id=client_id, group=settings.group, subscription_data=subscribed)
            await _check(transport, names, subscribed, CheckClientConfig(body=body))


async def _check(
    transport: Transport, names: NameServers, subscribed: SubscriptionData, request: CheckClientConfig
) -> None:
    try:
        address = await _any_broker(transport, names, subscribed.topic)
        answer = await transport.request(address, request) if address is not None else None
    except (NoAnswer, RemotingError) as error:
        logger.warning(
            "whether %r of %s is understood is not known: %s", subscribed.sub_string, subscribed.topic, error
        )
        return
    if isinstance(answer, Refused):
        words = f"{address} refused the expression {subscribed.sub_string!r} of {subscribed.topic!r}"
        raise SubscriptionRefused(f"{words}: {answer.remark or answer.code}")


async def _any_broker(transport: Transport, names: NameServers, topic: str) -> Address | None:
    request = GetRouteInfoByTopic(topic=topic, accept_standard_json_only=True)
    route = await names.ask(lambda address: transport.request(address, request))
    if not isinstance(route, GetRouteInfoByTopicResponse):
        return None
    addresses = [
        data.master_address or next(iter(data.broker_addrs.values()), None) for data in route.body.broker_datas
    ]
    known = [address for address in addresses if address is not None]
    return random.choice(known) if known else None  # noqa: S311  # it spreads questions over brokers
