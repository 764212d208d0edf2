"""How long the rules allow a group to be out of order after something was done to the cluster.

All in ms (rebalance.md 2, 6, 7, 11.1). A bound is what the timers of the rules add up to, and
a second or two for messages on their way.
"""

from __future__ import annotations

from rebalance_engine.consumer import CPP, GO, Profile
from rebalance_engine.consumer import java as java_client
from rebalance_engine.consumer.profiles import OrderlyRemoval
from rebalance_engine.simulation.scenario import Scenario, ScenarioError, Step

ON_THE_WAY = 3_000  # messages of a few rounds
ROUND = 20_000  # ``rocketmq.client.rebalance.waitInterval``
FLOOR = 1_000  # ``rocketmq.client.rebalance.minInterval``; a notified member waits so long at most
ROUTES = 30_000  # ``pollNameServerInterval``
HEARTBEAT = 30_000  # ``heartbeatBrokerInterval``
EXPIRY = 130_000  # heartbeat expiry and the scan that finds it
LOCK = 60_000  # ``rocketmq.broker.rebalance.lockMaxLiveTime``
UNLOCK_DELAY = 20_000  # ``rocketmq.client.unlockDelayTimeMills``
NOTIFIED = 2 * FLOOR + ON_THE_WAY
ROUTED = ROUTES + ROUND + ON_THE_WAY
WARM_UP = ROUTED + FLOOR  # the retry topic is there after the first heartbeat, its route after a refresh


def profile(name: str) -> Profile:
    """Give the client of a scenario's ``java-5.5.0``, ``cpp`` or ``go``.

    Raises:
        ScenarioError: there is no such client.
    """
    if name in ("cpp", "go"):
        return CPP if name == "cpp" else GO
    language, _, version = name.partition("-")
    if language != "java":
        raise ScenarioError(f"the client is {name!r}; it needs to be cpp, go or like java-5.5.0")
    try:
        return java_client(version)
    except ValueError as error:
        raise ScenarioError(str(error)) from error


def deadlines(scenario: Scenario) -> tuple[int, ...]:
    """Give the times, in ms from the beginning, at which the group must be in order; the last is after all steps."""
    found: list[int] = []
    deadline = WARM_UP
    for position, step in enumerate(scenario.steps):
        deadline = max(deadline, step.at + settles_within(step, scenario))
        if position + 1 == len(scenario.steps) or scenario.steps[position + 1].at > deadline:
            found.append(deadline)
    return tuple(found)


def settles_within(step: Step, scenario: Scenario) -> int:
    """Give how long after a step all members hold again what they should."""
    return _lasts(step) + _SETTLES[step.verb] + (_locks(step, scenario) if scenario.is_orderly else 0)


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
    "lose": ROUND + ON_THE_WAY,
    "grow": ROUTED,
    "subscribe": ROUTED,
    "unsubscribe": ROUND + ON_THE_WAY,
}


def _lasts(step: Step) -> int:
    return int(step.words[-1]) if step.verb in {"pause", "crash", "cut", "slow", "mute", "lose"} else 0


def _locks(step: Step, scenario: Scenario) -> int:
    """Give how long locks hold a handoff up."""
    if step.verb in {"kill", "die", "pause", "crash", "cut", "lose", "unsubscribe"}:
        return LOCK + ROUND  # nobody gives them back
    profiles = [profile(other.words[1]) for other in scenario.steps if other.verb == "start"]
    return max((_handoff(each, scenario.listener.high) for each in profiles), default=0)


def _handoff(of: Profile, listener_ms: int) -> int:
    """Give how long a member takes to let go of an orderly queue, and the next one to notice."""
    notices = ROUND if of.lock_retry is None else ON_THE_WAY
    return unlocks_within(of, listener_ms) + notices


def unlocks_within(of: Profile, listener_ms: int) -> int:
    """Give how long after it dropped an orderly queue a client keeps its lock at most."""
    if of.removal is OrderlyRemoval.KEEPS_LOCK:
        return LOCK
    if of.removal is OrderlyRemoval.DELAYS_UNLOCK:
        return UNLOCK_DELAY + (ROUND if listener_ms >= of.removal_wait else 0) + ON_THE_WAY
    if of.removal is OrderlyRemoval.FORCES_UNLOCK and listener_ms >= of.removal_wait:
        return UNLOCK_DELAY + ROUND + ON_THE_WAY
    return of.removal_wait + ON_THE_WAY
