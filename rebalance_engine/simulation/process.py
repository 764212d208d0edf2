"""A process with one machine in it: it runs, is paused, or is gone.

The machine decides; the process carries out what it asks for, on the network and the clock of the simulation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rebalance_engine.effects import (
    Address,
    Cancel,
    Channel,
    Close,
    Heard,
    Push,
    Respond,
    Save,
    Send,
    SendOneway,
    State,
    WakeAt,
    Woken,
)
from rebalance_engine.remoting.codes import Language
from rebalance_engine.simulation.clock import Action, Alarm

if TYPE_CHECKING:
    from rebalance_engine.simulation.network import Call, Link, Network

Stating = Callable[["Process", object], None]


@dataclass(frozen=True, slots=True)
class Place:
    """Where a process runs: on which network, under which name and address, and who is told what it states."""

    network: Network
    name: str
    address: Address
    states: Stating


class Process(ABC):
    """One process.

    Attributes:
        name: what the scenario calls it.
        address: where it listens, or where it calls from.
        is_gone: it was killed, died or has ended.
        is_reachable: its machine is up, so that the others learn when it is gone.
        is_paused: it stands still, as after SIGSTOP; its connections stay open.
        links: its open connections, by channel; ``dialled`` are those that it opened, by address.
        calls: its requests under way, by token.
    """

    def __init__(self, place: Place) -> None:
        self.network = place.network
        self.clock = place.network.clock
        self.name = place.name
        self.address = place.address
        self.is_gone = False
        self.is_reachable = True
        self.is_paused = False
        self.links: dict[Channel, Link] = {}
        self.dialled: dict[Address, Link] = {}
        self.calls: dict[int, Call] = {}
        self.saved: dict[str, str] = {}
        self._states = place.states
        self._inbox: list[Action] = []
        self._timers: dict[Hashable, Alarm] = {}
        self._doing: dict[type, Callable[[Any], None]] = {
            Send: self._send,
            SendOneway: self._send_oneway,
            Respond: self._respond,
            Push: self._push,
            Close: self._close,
            WakeAt: self._wake_at,
            Cancel: self._cancel,
            Save: self._save,
            State: self._state,
        }

    @property
    def language(self) -> Language:
        """What its headers say it is written in."""
        return Language.JAVA

    @property
    def version(self) -> int:
        """What its headers say of its version."""
        return 0

    # ---- what it hears ----

    @abstractmethod
    def react(self, heard: Heard, at: int) -> Iterable[object]:
        """Let the machine hear something; give the effects."""

    @abstractmethod
    def check(self) -> None:
        """Hold the machine to its own invariants."""

    def hear(self, heard: Heard) -> None:
        """Hear something, now or when it goes on again."""
        self.do(lambda: self.carry_out(self.react(heard, self.clock.now)))

    def do(self, action: Action) -> None:
        """Do something now, or when it goes on again; never, once it is gone."""
        if self.is_paused:
            self._inbox.append(action)
        elif not self.is_gone:
            action()
            self.check()

    def after(self, ms: int, action: Action) -> Alarm:
        """Do something after a while."""
        return self.clock.after(ms, lambda: self.do(action))

    def pause(self) -> None:
        """Stand still."""
        self.is_paused = True

    def resume(self) -> None:
        """Go on: everything that has come meanwhile is done now."""
        self.is_paused = False
        inbox, self._inbox = self._inbox, []
        for action in inbox:
            self.do(action)

    # ---- what the machine asks for ----

    def carry_out(self, effects: Iterable[object]) -> None:
        """Do what the machine asks for."""
        doing = self._doing
        for effect in effects:
            doing[type(effect)](effect)

    def _send(self, effect: Send) -> None:
        self.network.ask(self, effect)

    def _send_oneway(self, effect: SendOneway) -> None:
        self.network.tell(self, effect)

    def _respond(self, effect: Respond) -> None:
        self.network.answer(self, effect)

    def _push(self, effect: Push) -> None:
        self.network.push(self, effect)

    def _close(self, effect: Close) -> None:
        self.network.close(self, effect.channel)

    def _wake_at(self, effect: WakeAt) -> None:
        self._cancel(effect)
        timer = effect.timer
        self._timers[timer] = self.clock.at(effect.at, lambda: self._woken(timer))

    def _woken(self, timer: Hashable) -> None:
        self._timers.pop(timer, None)
        self.hear(Woken(timer=timer))

    def _cancel(self, effect: Cancel | WakeAt) -> None:
        alarm = self._timers.pop(effect.timer, None)
        if alarm is not None:
            self.clock.call_off(alarm)

    def _save(self, effect: Save) -> None:
        self.saved[effect.name] = effect.text

    def _state(self, effect: State) -> None:
        self._states(self, effect.fact)
