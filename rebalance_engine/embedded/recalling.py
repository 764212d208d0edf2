"""Timer messages can be recalled, from 5.3.2 on: each send is answered with a handle for it.

Who uses a handle is refused, as by every released broker on which nobody set ``recallMessageEnable``.

Sources: ``broker/.../processor/SendMessageProcessor.java`` (``attachRecallHandle``), ``RecallMessageProcessor.java``;
``common/.../producer/RecallMessageHandle.java``.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode

from rebalance_engine.embedded.core import REGION, Call
from rebalance_engine.embedded.schedule import TIMER_OUT_MS
from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.embedded.store import Draft
from rebalance_engine.model import RETRY_TOPIC_PREFIX
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.properties import REAL_TOPIC, UNIQ_KEY
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.requests.producing import RecallMessage


def is_known(settings: EmbeddedSettings) -> bool:
    """Say whether the broker's version knows of recalling."""
    return settings.is_since((5, 3, 2))


def handle_of(draft: Draft, broker: str) -> str | None:
    """Give the handle of a draft that waits for its time; None of any other, and of a consumer's retries."""
    due, topic, unique_id = (draft.properties.get(name) for name in (TIMER_OUT_MS, REAL_TOPIC, UNIQ_KEY))
    if due is None or topic is None or unique_id is None or topic.startswith(RETRY_TOPIC_PREFIX):
        return None
    words = ("v1", topic, broker, str(int(due) + 1), unique_id)
    return urlsafe_b64encode(" ".join(words).encode()).decode("ascii")


def recall(_call: Call, _request: RecallMessage) -> Refused:
    """Refuse."""
    remark = "recall failed, operation is forbidden"
    return Refused(code=ResponseCode.NO_PERMISSION, remark=remark, ext_fields={"MSG_REGION": REGION})
