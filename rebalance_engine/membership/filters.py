"""Which messages of a topic a pull or a question about a filter asks for.

Sources: ``remoting/.../protocol/filter/FilterAPI.java``, ``common/.../filter/ExpressionType.java``,
``broker/.../processor/ClientManageProcessor.java`` (``checkClientConfig``).
"""

from __future__ import annotations

from rebalance_engine.remoting.bodies.clients import SUBSCRIBE_ALL, SubscriptionData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import PullMessage
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import CheckClientConfig
from rebalance_engine.remoting.tags import subscription

TAG = "TAG"


def is_tag_type(expression_type: str | None) -> bool:
    """Say whether an expression is one of tags, which it is unless it says otherwise."""
    return not expression_type or expression_type == TAG


def pulled_subscription(pull: PullMessage, at: int) -> SubscriptionData | None:
    """Read the subscription that a pull carries; None where it cannot be read. Its version is the time of reading."""
    expression, kind = pull.subscription or "", pull.expression_type or TAG
    if is_tag_type(kind):
        return _by_tags(pull.topic, expression or SUBSCRIBE_ALL, at)
    if not expression:
        return None
    return SubscriptionData(topic=pull.topic, sub_string=expression, expression_type=kind, sub_version=at)


def _by_tags(topic: str, expression: str, at: int) -> SubscriptionData | None:
    try:
        return subscription(topic, expression, version=at)
    except ValueError:
        return None


def check_filter(request: CheckClientConfig, *, filters_by_property: bool) -> Response:
    """Answer request 46. Whether an SQL92 expression can be compiled is not looked at."""
    expression_type = request.body.subscription_data.expression_type
    if is_tag_type(expression_type) or filters_by_property:
        return Response()
    return refuse_filter(expression_type)


def refuse_filter(expression_type: str | None) -> Refused:
    """Say that this broker filters by tags only."""
    remark = f"The broker does not support consumer to filter message by {expression_type}"
    return Refused(code=ResponseCode.SYSTEM_ERROR, remark=remark)
