"""Bugs to plant that have to do with what only C++ or Go does: they do it too far, or others do it too."""

from rebalance_engine.consumer import flow, offsets, orderly_cpp
from rebalance_engine.remoting.codes import Language
from tests.rebalance_engine.simulation.bugs import bug
from tests.rebalance_engine.simulation.more_bugs import Code, Patch, Thing, around, with_profile


@bug
def cpp_clients_look_at_no_lock(patch: Patch) -> None:
    def ready(original: Thing) -> Thing:
        def is_ready(loop: flow.PullLoop) -> Code:
            return loop.member.desk.profile.language is Language.CPP or (yield from original(loop))

        return is_ready

    patch.setattr(orderly_cpp, "may_consume", lambda _member, _pq: True)
    around(patch, flow.PullLoop, "_is_ready_in_order", ready)


@bug
def cpp_clients_consume_a_dropped_orderly_queue_to_its_end(patch: Patch) -> None:
    with_profile(patch, clears_dropped=False)


@bug
def everybody_sends_messages_of_dropped_queues_back(patch: Patch) -> None:
    """C++ does, and is known for it; nobody else may."""
    with_profile(patch, sends_back_dropped=True)


@bug
def everybody_stores_that_nothing_is_stored(patch: Patch) -> None:
    """Go has this mistake, and is known for it; nobody else may have it."""
    with_profile(patch, notes_nothing_stored=True)


@bug
def go_goes_on_to_say_that_nothing_is_stored(patch: Patch) -> None:
    def update(original: Thing) -> Thing:
        return lambda self, mq, offset, **named: original(
            self, mq, -1 if self._offsets.get(mq) == -1 else offset, **named
        )

    around(patch, offsets.OffsetStore, "update", update)
