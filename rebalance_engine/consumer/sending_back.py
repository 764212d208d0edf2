"""Messages that failed: back to their broker for another try, or to the dead letters.

Two sends are not built; both need a producer, which this room does not have:

- Where the broker does not take a message back or does not answer, Java's inner producer (``catch (Throwable t)``) and
  Go since 0e19ee6 (``sendMessageBackAsNormal``; v2.1.2 is older) send it to the group's retry topic as a new message,
  on any broker, with the delay level of its next try. Here it stays, counts as tried once more, and is consumed again
  after 5 s: as in both where that send fails too. Go's v2.1.2 does so where no answer comes, and takes a refusal for a
  success.
- A dead letter of an orderly queue is sent to the retry topic by Java, and the broker that gets it puts it among the
  dead letters, as it was tried too often or the group has locks. Here it is sent back with delay level -1, so that the
  broker that has it does the same.

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
    answer = yield from member.desk.ask_master(mq, request, member.desk.profile.back_timeout)
    return isinstance(answer, Response) and answer.code == ResponseCode.SUCCESS
