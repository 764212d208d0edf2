from inspect import signature

from rebalance_engine.consumer import CPP, GO, java, process_queue, removal, reset, schedule
from rebalance_engine.consumer.settings import ClientSettings
from rebalance_engine.membership.locks import LockTable
from rebalance_engine.simulation import timers


def test_the_timers_are_those_of_the_machines() -> None:
    defaults = ClientSettings(client_id="A", name_servers=())

    assert {profile.renewal_every for profile in (CPP, GO, java("5.5.0"), java("4.9.7"))} == {timers.ROUND}
    assert timers.ROUND == java("5.5.0").round_every >= CPP.round_every
    assert java("5.5.0").round_floor == timers.FLOOR
    assert (defaults.routes_every_ms, defaults.heartbeat_every_ms) == (timers.ROUTES, timers.HEARTBEAT)
    assert (defaults.persist_every_ms, schedule.FIRST_PERSIST) == (timers.PERSISTED_EVERY, timers.FIRST_PERSISTED)
    assert (process_queue.LOCK_MAX_LIVE, removal.UNLOCK_DELAY) == (timers.BELIEVED, timers.UNLOCK_DELAY)
    assert process_queue.PULL_MAX_IDLE == timers.PULL_IDLE
    assert signature(LockTable).parameters["expires_after_ms"].default == timers.LOCK
    assert java("5.5.0").pull_timeout == timers.PULLED
    assert {GO.repair_delay, java("5.1.4").repair_delay} == {timers.REPAIR}
    assert reset.PAUSE == timers.RESET
