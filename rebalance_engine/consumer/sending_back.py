"""Messages that failed: back to their broker for another try, or to the dead letters.

Where the broker does not take one, Java sends it as a new message to the retry topic; that needs a producer, which this
room does not have, so the message stays and is tried here again.

Sources: ``client/.../impl/consumer/DefaultMQPushConsumerImpl.java`` (``sendMessageBack``),
``ConsumeMessageOrderlyService.java`` (``sendMessageBack``).
"""

from __future__ import annotations

from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.threads import Code
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.consuming import ConsumerSendMsgBack
from rebalance_engine.remoting.requests.contract import Response

SEND_BACK_TIMEOUT = 5_000  # ms
DEAD_LETTER = -1


def send_back(member: Member, mq: MessageQueue, message: Message, delay_level: int) -> Code[bool]:
    """Send a message back to the broker that has it; say whether it took it."""
    request = ConsumerSendMsgBack(
        offset=message.commit_log_offset,
        group=member.group,
        delay_level=delay_level,
        origin_msg_id=message.message_id,
        origin_topic=message.topic,
        max_reconsume_times=member.settings.attempts,
        bname=mq.broker,
    )
    answer = yield from member.desk.ask_master(mq, request, SEND_BACK_TIMEOUT)
    return isinstance(answer, Response) and answer.code == ResponseCode.SUCCESS
