"""The pull loop of one queue: what is checked before each pull, and what each answer leads to.

Java puts pull requests into one queue that one thread works off without waiting (``PullMessageService``); here each
queue has its own loop, which differs in nothing that others can see.

Sources: ``client/.../impl/consumer/DefaultMQPushConsumerImpl.java`` (``pullMessage``, ``correctTagsOffset``),
``PullAPIWrapper.java``.
"""

from __future__ import annotations

from rebalance_engine.consumer import consuming, orderly, orderly_cpp
from rebalance_engine.consumer.locks import lock
from rebalance_engine.consumer.member import Member
from rebalance_engine.consumer.messages import Message
from rebalance_engine.consumer.process_queue import ProcessQueue
from rebalance_engine.consumer.profiles import LockTime, OrderlyRun
from rebalance_engine.consumer.removal import let_go
from rebalance_engine.consumer.starting import start_offset
from rebalance_engine.consumer.threads import Code, Sleep, ask
from rebalance_engine.effects import Failure
from rebalance_engine.events import EXACT, DropReason, PullRefused, QueuePulled
from rebalance_engine.remoting.bodies.clients import SubscriptionData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.errors import BrokenMessage, TooMuch
from rebalance_engine.remoting.requests.consuming import PullMessage, PullMessageResponse
from rebalance_engine.remoting.requests.contract import Refused
from rebalance_engine.remoting.sysflags import PullFlag
from rebalance_engine.remoting.tags import is_wanted

WAITING = int(PullFlag.SUSPEND)
WAITING_AND_COMMITTING = int(PullFlag.SUSPEND | PullFlag.COMMIT_OFFSET)
OVER = -1
LAST_OFFSET = 2**63 - 1  # of which the next one can be told


def pull_loop(member: Member, pq: ProcessQueue, offset: int) -> Code[None]:
    """Pull a queue until it is dropped, from soon after it was taken on."""
    yield Sleep(member.desk.profile.dispatch_delay)
    if member.settings.orderly and member.desk.profile.orderly_run is OrderlyRun.UNBROKEN:
        orderly.attend(member, pq)
    loop = PullLoop(member, pq, offset)
    while True:
        pause = yield from loop.step()
        if pause == OVER:
            return
        if pause:
            yield Sleep(pause)


class PullLoop:
    """The pull request of one queue (``PullRequest.java``), and the steps that it goes through.

    Attributes:
        next_offset: where the next pull begins.
        was_locked: whether it was seen locked, since when nobody else moves the queue's offset.
    """

    __slots__ = ("member", "next_offset", "pq", "was_locked")

    def __init__(self, member: Member, pq: ProcessQueue, offset: int) -> None:
        self.member = member
        self.pq = pq
        self.next_offset = offset
        self.was_locked = False

    def step(self) -> Code[int]:
        """Do one pull, or put it off: the ms until the next, or ``OVER``."""
        if self.pq.is_dropped or self._has_ended():
            return OVER
        self.pq.last_pull = self.member.desk.at
        pause = yield from self._pause_in_order()
        if pause:
            return pause
        subscription = self.member.subscriptions.get(self.pq.mq.topic)
        if subscription is None:
            return self.member.desk.profile.error_delay
        return (yield from self._pull(subscription))

    # ---- before a pull ----

    def _has_ended(self) -> bool:
        """Whether its consumer shuts down, and pulls no more: Java does until its client is shut down."""
        return self.member.is_leaving and not self.member.desk.profile.pulls_to_the_end

    def _pause_in_order(self) -> Code[int]:
        """The ms to wait before a pull: C++ asks for the lock first, the others look first at what is cached."""
        profile = self.member.desk.profile
        asks_first = profile.lock_time is LockTime.BEFORE_PULL
        pause = 0 if asks_first else self._pause()
        if not pause and self.member.settings.locks_queues and not (yield from self._is_ready_in_order()):
            pause = profile.error_delay
        return self._pause() if asks_first and not pause else pause

    def _pause(self) -> int:
        member, pq, profile = self.member, self.pq, self.member.desk.profile
        if not member.is_running:
            return profile.error_delay
        if member.is_paused:
            return profile.paused_delay
        if pq.count > member.queue_messages or (member.queue_mib is not None and pq.mib > member.queue_mib):
            member.flow_controlled += 1
            return self._flow_delay()
        if not member.settings.orderly and member.span is not None and pq.span > member.span:
            member.span_controlled += 1
            return profile.flow_delay
        return 0

    def _flow_delay(self) -> int:
        profile = self.member.desk.profile
        if profile.sync_flow_delay is None or self.member.settings.async_pull:
            return profile.flow_delay
        return profile.sync_flow_delay

    def _is_ready_in_order(self) -> Code[bool]:
        """Whether an orderly queue is locked; once it is, the offset is asked again."""
        member, pq = self.member, self.pq
        if member.desk.profile.lock_time is LockTime.BEFORE_PULL:
            is_valid = pq.is_locked and not pq.has_lock_expired(member.desk.at)
            return is_valid or ((yield from lock(member, pq.mq)) and not pq.is_dropped)
        if not pq.is_locked:
            return False
        if not self.was_locked:
            offset = yield from start_offset(member, pq.mq)
            if offset < 0:
                return False
            self.was_locked = True
            self.next_offset = offset
        return True

    # ---- the pull ----

    def _pull(self, subscription: SubscriptionData) -> Code[int]:
        pq, desk = self.pq, self.member.desk
        place = desk.routes.for_pull(pq.mq)
        if place is None:
            yield from desk.refresh_route(pq.mq.topic)
            place = desk.routes.for_pull(pq.mq)
            if place is None:
                return desk.profile.error_delay
        address, is_master = place
        if not pq.first_pull_seen:
            state_pulled(self.member, pq, self.next_offset)
        commit = self.member.offsets.in_memory(pq.mq) if is_master and self.member.settings.is_clustering else None
        request = pull_request(
            self.member,
            pq,
            subscription,
            self.next_offset,
            batch=self.member.settings.pull_batch or desk.profile.pull_batch,
            suspend=desk.profile.suspend,
            commit=commit,
        )
        answer = yield from ask(address, request, desk.profile.pull_timeout)
        if isinstance(answer, PullMessageResponse):
            return (yield from self._take_in(answer, subscription))
        return self._refused(answer)

    # ---- after a pull ----

    def _refused(self, answer: Refused | Failure) -> int:
        profile = self.member.desk.profile
        if isinstance(answer, Failure):
            return profile.error_delay
        state_refused(self.member, self.pq, answer.code)
        if answer.code == ResponseCode.FLOW_CONTROL and profile.busy_delay is not None:
            return profile.busy_delay
        return profile.error_delay

    def _take_in(self, answer: PullMessageResponse, subscription: SubscriptionData) -> Code[int]:
        member, pq = self.member, self.pq
        if pq.is_dropped and member.desk.profile.ignores_late_answers:
            return OVER
        try:
            messages, following = read_wanted(member, answer, subscription)
        except BrokenMessage:
            return member.desk.profile.error_delay
        member.desk.routes.prefer(pq.mq, answer.suggest_which_broker_id)
        self.next_offset = following
        if answer.code == ResponseCode.PULL_OFFSET_MOVED:
            return (yield from self._repair())
        if answer.code != ResponseCode.SUCCESS:
            if not pq.count:
                member.note_nothing_left(pq, self.next_offset)
            return 0
        if messages and not pq.is_dropped:
            self._submit(messages)
        return member.settings.pull_interval_ms if messages else 0

    def _submit(self, messages: list[Message]) -> None:
        member, pq = self.member, self.pq
        must_start = pq.put(messages)
        if not member.settings.orderly:
            consuming.submit(member, pq, messages)
        elif member.desk.profile.orderly_run is OrderlyRun.ONE_LOOK:
            orderly_cpp.submit(member, pq)
        elif must_start:
            orderly.submit(member, pq)

    def _repair(self) -> Code[int]:
        """Drop a queue whose offset the broker does not have, and store where it goes on (``OFFSET_ILLEGAL``).

        C++ keeps it, and pulls from there at once; Go stores it, once, and takes it from the table, no more.
        """
        member, pq, profile = self.member, self.pq, self.member.desk.profile
        if profile.repair_delay is None:
            member.offsets.excuse(pq.mq)
            return 0
        member.drop(pq, DropReason.OFFSET_ILLEGAL)
        yield Sleep(profile.repair_delay)
        if profile.repair_wakes:
            member.offsets.update_and_freeze(pq.mq, self.next_offset)
        else:
            member.offsets.update(pq.mq, self.next_offset, increase_only=False)
        yield from member.offsets.persist(pq.mq)
        held = member.table.pop(pq.mq, None)  # a later hold goes too: ``removeProcessQueue`` looks for the queue only
        if held is not None:
            member.drop(held, DropReason.OFFSET_ILLEGAL)
            if not profile.repair_keeps_offset:
                yield from let_go(member, held)
        if profile.repair_wakes:
            member.desk.wake()
        return OVER


# ---- what all pulls have in common ----


def pull_request(
    member: Member,
    pq: ProcessQueue,
    subscription: SubscriptionData,
    offset: int,
    *,
    batch: int,
    suspend: int,
    commit: int | None,
) -> PullMessage:
    """Make a pull; ``commit`` says besides how far the queue is, where that is more than nothing."""
    has_commit = commit is not None and commit > 0
    carries = member.desk.profile.pulls_with_subscription
    flags = WAITING_AND_COMMITTING if has_commit else WAITING
    return PullMessage(
        consumer_group=member.group,
        topic=pq.mq.topic,
        queue_id=pq.mq.queue_id,
        queue_offset=offset,
        max_msg_nums=batch,
        sys_flag=int(flags | PullFlag.SUBSCRIPTION) if carries else flags,
        commit_offset=commit if has_commit and commit is not None else 0,
        suspend_timeout_millis=suspend,
        subscription=subscription.sub_string if carries else None,
        sub_version=subscription.sub_version if member.desk.profile.pulls_with_version else 0,
        expression_type=subscription.expression_type,
        max_msg_bytes=member.desk.profile.pull_bytes,
        bname=pq.mq.broker,
    )


def read_wanted(
    member: Member, answer: PullMessageResponse, subscription: SubscriptionData
) -> tuple[list[Message], int]:
    """Read what was pulled, without the messages whose tags only have the same hash; and say where to go on.

    That is where the broker says, or behind what was read where the whole unpacks to more than is read in one go: the
    rest is pulled again.

    Raises:
        BrokenMessage: it cannot be read, or has an offset that no queue has.
    """
    if answer.next_begin_offset < 0:
        raise BrokenMessage(f"the next pull is to begin at {answer.next_begin_offset}; it needs to be at 0 or later")
    if answer.code != ResponseCode.SUCCESS:
        return [], answer.next_begin_offset
    read: list[Message] = []
    following = answer.next_begin_offset
    try:
        read.extend(member.desk.read(answer))
    except TooMuch:
        if not read:
            raise
        following = read[-1].offset + 1
    if any(not 0 <= message.offset < LAST_OFFSET for message in read):
        raise BrokenMessage(f"a message has an offset that is not from 0 to {LAST_OFFSET - 1}")
    return [message for message in read if is_wanted(subscription, message.tags)], following


def state_pulled(member: Member, pq: ProcessQueue, offset: int) -> None:
    """State the first pull after a take, or after a refusal: what was paused goes on."""
    pq.first_pull_seen = True
    desk = member.desk
    fact = QueuePulled(
        at=desk.at,
        source=desk.source,
        exactness=EXACT,
        group=member.group,
        client=desk.client_id,
        queue=pq.mq,
        offset=offset,
    )
    desk.state(fact)


def state_refused(member: Member, pq: ProcessQueue, code: int) -> None:
    """State that a broker refused a pull; the next one is stated as a first one again."""
    pq.first_pull_seen = False
    desk = member.desk
    fact = PullRefused(
        at=desk.at,
        source=desk.source,
        exactness=EXACT,
        group=member.group,
        client=desk.client_id,
        queue=pq.mq,
        code=int(code),
    )
    desk.state(fact)
