"""How long the rules allow a group to be out of order after something was done to the cluster.

All in ms (rebalance.md 2, 6, 7, 11.1). A bound is what the timers of the rules add up to, and
a second or two for messages on their way.
"""

from __future__ import annotations

from rebalance_engine.consumer import Profile
from rebalance_engine.consumer.profiles import OrderlyRemoval
from rebalance_engine.simulation.scenario import Scenario, Step, in_time_order, profile
from rebalance_engine.simulation.timers import (
    FLOOR,
    HEARTBEAT,
    LOCK,
    ON_THE_WAY,
    PULL_IDLE,
    PULLED,
    ROUND,
    ROUTES,
    SCAN,
    SILENCE,
    UNLOCK_DELAY,
    WAITS,
)

EXPIRY = SILENCE + SCAN  # heartbeat expiry and the scan that finds it
NOTIFIED = 2 * FLOOR + ON_THE_WAY
ROUTED = ROUTES + ROUND + ON_THE_WAY
RETRIED = 40_000  # two retries of what failed last, until it is consumed
SLOW = 1_000  # ms; a broker that is slower misses the timeouts of its clients
WARM_UP = ROUTED + FLOOR  # from the first start on: the retry topic is there after a heartbeat, its route later


def deadlines(scenario: Scenario) -> tuple[int, ...]:
    """Give the times, in ms from the beginning, at which the group must be in order; the last is after all steps."""
    found: list[int] = []
    deadline = warmed_up(scenario)
    steps = in_time_order(scenario.steps)
    for position, step in enumerate(steps):
        deadline = max(deadline, step.at + settles_within(step, scenario))
        if position + 1 == len(steps) or steps[position + 1].at > deadline:
            found.append(deadline)
    return tuple(found)


def earliest_end(scenario: Scenario) -> int:
    """Give when, in ms from the beginning, everybody is in order and everything that was sent is consumed."""
    waits = WAITS + 6 * scenario.listener.high + (RETRIED if scenario.listener.fails else 0)
    consumed = scenario.sends_until + waits if scenario.senders else 0
    return max((consumed, *deadlines(scenario)))


def warmed_up(scenario: Scenario) -> int:
    """Give when a group is in order that nothing happens to but its first start; 0 if nobody starts.

    Who starts while the retry topic is being made has half of its route until he asks again; what he took by it he
    gives back then, and the locks of an orderly group hold that up.
    """
    first = min((step.at for step in scenario.steps if step.verb == "start"), default=None)
    if first is None:
        return 0
    return first + WARM_UP + (_longest_handoff(scenario) if scenario.is_orderly else 0)


def settles_within(step: Step, scenario: Scenario) -> int:
    """Give how long after a step all members hold again what they should."""
    does_as = "drop" if too_slow_for(step) else step.verb
    lasts = _lasts(step) + too_slow_for(step) + _waits_for_listeners(step, scenario)
    return lasts + _SETTLES[does_as] + (_locks(step, scenario) if scenario.is_orderly else 0)


def too_slow_for(step: Step) -> int:
    """Give how long messages are still under way after a broker was so slow that its clients gave up; 0: it was not."""
    extra = int(step.words[1]) if step.verb == "slow" else 0
    return 2 * extra if extra > SLOW else 0


_SETTLES = {
    "start": NOTIFIED + ON_THE_WAY,
    "stop": NOTIFIED,
    "kill": NOTIFIED,
    "die": EXPIRY + ROUND + ON_THE_WAY,
    "pause": HEARTBEAT + ROUND + ON_THE_WAY,
    "crash": ROUTED + HEARTBEAT + ROUND,
    "cut": HEARTBEAT + ROUTED,
    "slow": ROUND + 2 * ON_THE_WAY,
    "mute": ROUND + ON_THE_WAY,
    "drop": HEARTBEAT + ROUTED + PULLED,
    "reset": HEARTBEAT + ROUND + ON_THE_WAY,
    "lose": ROUND + ON_THE_WAY,
    "grow": ROUTED,
    "subscribe": ROUTED,
    "unsubscribe": ROUND + ON_THE_WAY,
}


def _lasts(step: Step) -> int:
    return int(step.words[-1]) if step.verb in {"pause", "crash", "cut", "slow", "mute", "lose", "drop"} else 0


def _waits_for_listeners(step: Step, scenario: Scenario) -> int:
    """Give how long who shuts down stays a member, as C++ does until its listeners are done."""
    waits = step.verb == "stop" and any(each.awaits_listeners for each in _profiles(scenario))
    return scenario.listener.high if waits else 0


def _locks(step: Step, scenario: Scenario) -> int:
    """Give how long locks hold a handoff up."""
    handoff = _longest_handoff(scenario)
    nobody_gives_back = step.verb in {"kill", "die", "pause", "crash", "cut", "reset", "lose", "drop", "unsubscribe"}
    return max(handoff, LOCK + ROUND) if nobody_gives_back else handoff


def _longest_handoff(scenario: Scenario) -> int:
    return max((_handoff(each, scenario.listener.high) for each in _profiles(scenario)), default=0)


def _profiles(scenario: Scenario) -> set[Profile]:
    return {profile(step.words[1]) for step in scenario.steps if step.verb == "start"}


def _handoff(of: Profile, listener_ms: int) -> int:
    """Give how long a member takes to let go of an orderly queue, and the next one to notice."""
    notices = ROUND if of.lock_retry is None else ON_THE_WAY
    return unlocks_within(of, listener_ms) + notices


def unlocks_within(of: Profile, listener_ms: int) -> int:
    """Give how long after it dropped an orderly queue a client keeps its lock at most.

    Where the listener is not done in time, the dropped queue stays in the table until the next round. If that one wants
    it again, it stays there, dropped, until its pulls count as expired: two minutes in which nobody consumes it
    (``RebalanceImpl.updateProcessQueueTableInRebalance`` adds only what is not in the table).
    """
    if of.removal is OrderlyRemoval.KEEPS_LOCK:
        return LOCK
    if of.removal is OrderlyRemoval.UNLOCKS:
        return ON_THE_WAY
    if listener_ms >= of.removal_wait:
        return PULL_IDLE + UNLOCK_DELAY + 2 * ROUND + ON_THE_WAY
    if of.removal is OrderlyRemoval.DELAYS_UNLOCK:
        return UNLOCK_DELAY + ON_THE_WAY
    return of.removal_wait + ON_THE_WAY
