"""Three members of one group who come, go, and fall silent as they please; each is another client every time."""

from rebalance_engine.consumer import Profile, Stop
from rebalance_engine.model import MessageQueue
from rebalance_engine.remoting.bodies.clients import ConsumeFromWhere
from tests.rebalance_engine.consumer.world import World

SILENT = {"GetConsumerListByGroup", "QueryConsumerOffset", "LockBatchMq", "PullMessage"}
CLOSES_AFTER_MS = 20


class Crowd:
    """Each verb takes who does it, and a number."""

    def __init__(self, profile: Profile, *, orderly: bool) -> None:
        self.world = World()
        self.world.topic("orders", "east=3", "west=2")
        self.queues = [MessageQueue("orders", "east", number) for number in range(3)]
        self.queues += [MessageQueue("orders", "west", number) for number in range(2)]
        self.profile = profile
        self.orderly = orderly
        self.clients = 0
        self.alive: dict[str, str] = {}

    def start(self, who: str, _: int) -> None:
        if who in self.alive:
            return
        self.clients += 1
        name = self.alive[who] = f"{who}{self.clients}"
        self.world.make_client(name, self.profile, luck=self.clients)
        first = ConsumeFromWhere.CONSUME_FROM_FIRST_OFFSET
        self.world.start(name, "G", "orders", orderly=self.orderly, from_where=first)

    def stop(self, who: str, _: int) -> None:
        name = self.alive.pop(who, None)
        if name is not None:
            self.world.hear(name, Stop("G"))
            self.world.later(CLOSES_AFTER_MS, lambda: self._close(name))

    def kill(self, who: str, _: int) -> None:
        name = self.alive.pop(who, None)
        if name is not None:
            self.world.machines[name].is_alive = False
            self._close(name)

    def _close(self, name: str) -> None:
        if self.world.machines[name].client.is_running and self.world.machines[name].is_alive:
            self.world.later(CLOSES_AFTER_MS, lambda: self._close(name))
            return
        for broker in self.world.brokers.values():
            broker.leave(name, "G")
            self.world.notify(broker)

    def notify(self, who: str, _: int) -> None:
        if who in self.alive:
            self.world.hear_notification(self.alive[who], "G")

    def deaf(self, _: str, __: int) -> None:
        for broker in self.world.brokers.values():
            broker.notifies = not broker.notifies

    def silent(self, _: str, __: int) -> None:
        self.world.broker("east").silent ^= SILENT

    def put(self, _: str, number: int) -> None:
        self.world.put(self.queues[number % len(self.queues)], 3)

    def slow(self, who: str, ms: int) -> None:
        if who in self.alive:
            self.world.machines[self.alive[who]].listener_ms = ms

    def rest(self, _: str, __: int) -> None:
        pass

    def calm_down(self) -> None:
        self.world.broker("east").silent.clear()
        for name in self.alive.values():
            self.world.machines[name].listener_ms = 10

    # ---- what came of it ----

    def owners(self) -> dict[MessageQueue, list[str]]:
        members = {name: self.world.machines[name].client.member("G") for name in self.alive.values()}
        return {mq: [name for name, member in members.items() if mq in member.held()] for mq in self.queues}

    def left_over(self, mq: MessageQueue) -> int:
        broker = self.world.brokers[mq.broker]
        return broker.end(mq) - broker.offsets.get(("G", mq), 0)
