"""What a scripted broker does about pops: messages are hidden from others until they are acknowledged or come again."""

from dataclasses import dataclass, field, replace

from rebalance_engine.consumer import Message
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.checkpoints import NORMAL, Checkpoint
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.requests.contract import Response
from rebalance_engine.remoting.requests.popping import AckMessage, ChangeMessageInvisibletime, PopMessage
from rebalance_engine.remoting.requests.popping import PopMessageResponse as Base

Pop = PopMessage | AckMessage | ChangeMessageInvisibletime


@dataclass(frozen=True, slots=True, kw_only=True)
class Popped(Base):
    """What was popped, not as bytes."""

    messages: tuple[Message, ...] = ()


def read_popped(answer: Base, _broker: str) -> tuple[Message, ...]:
    return answer.messages if isinstance(answer, Popped) else ()


@dataclass
class Pops:
    """The pops of one broker: what is hidden until when, and how far each group is."""

    broker: str
    hidden: dict[tuple[str, MessageQueue, int], tuple[int, int]] = field(default_factory=dict)  # until when; how often
    done: set[tuple[str, MessageQueue, int]] = field(default_factory=set)

    def handle(self, request: Pop, messages: dict[MessageQueue, list[Message]], at: int) -> Response | None:
        if isinstance(request, PopMessage):
            return self.pop(request, messages, at)
        key = (request.consumer_group, MessageQueue(request.topic, self.broker, request.queue_id), request.offset)
        if isinstance(request, AckMessage):
            self.hidden.pop(key, None)
            self.done.add(key)
        else:
            self.hidden[key] = (at + request.invisible_time, self.hidden[key][1])
        return Response()

    def pop(
        self, request: PopMessage, messages: dict[MessageQueue, list[Message]], at: int, *, is_over: bool = False
    ) -> Response | None:
        """Answer a pop; None while there is nothing to see and the time is not over."""
        seen = [
            self._hide(request, mq, message, at)
            for mq in sorted(messages)
            if mq.topic == request.topic and request.queue_id in (-1, mq.queue_id)
            for message in messages[mq]
            if self._is_visible((request.consumer_group, mq, message.offset), at)
        ]
        if not seen and not is_over:
            return None
        return Popped(
            code=ResponseCode.SUCCESS if seen else ResponseCode.POLLING_TIMEOUT,
            pop_time=at,
            invisible_time=request.invisible_time,
            revive_qid=0,
            rest_num=0,
            messages=tuple(seen),
        )

    def _is_visible(self, key: tuple[str, MessageQueue, int], at: int) -> bool:
        return key not in self.done and self.hidden.get(key, (at, 0))[0] <= at

    def _hide(self, request: PopMessage, mq: MessageQueue, message: Message, at: int) -> Message:
        key = (request.consumer_group, mq, message.offset)
        tries = self.hidden[key][1] + 1 if key in self.hidden else 0
        self.hidden[key] = (at + request.invisible_time, tries)
        checkpoint = Checkpoint(
            start=message.offset,
            pop_time=at,
            invisible_time=request.invisible_time,
            revive_queue=0,
            kind=NORMAL,
            broker=self.broker,
            queue_id=mq.queue_id,
            offset=message.offset,
        )
        return replace(message, checkpoint=checkpoint, reconsume_times=tries)
