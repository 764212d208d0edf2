"""What the demo plays in its first minute, in words: so that a newcomer knows what to look at."""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from dashboard.demo.script import Act, Disband, Down, Go, Going, Join, Recover, Resume, Slow, Stall, opening
from dashboard.demo.shop import cast_of


@dataclass(frozen=True, slots=True)
class Scene:
    """Something that happens so many seconds after the beginning; ``group`` empty: to a broker."""

    second: int
    group: str
    happens: str
    shows: str


def programme() -> list[Scene]:
    """List the scenes of the first minute."""
    return [scene_of(after, act) for after, act in opening()]


def scene_of(after_ms: int, act: Act) -> Scene:
    """Put one act into words."""
    group = act.group if isinstance(act, Join | Go | Disband | Stall | Resume) else ""
    happens, shows = _to_a_broker(act) if isinstance(act, Slow | Down | Recover) else _to_a_group(act)
    return Scene(after_ms // 1_000, group, happens, shows)


def _to_a_group(act: Join | Go | Disband | Stall | Resume) -> tuple[str, str]:
    match act:
        case Join(group):
            words = _("a member joins"), _joining(group)
        case Go():
            words = _going(act.how)
        case Disband():
            words = _("its only member leaves"), _("a group without members: nobody has its queues")
        case Stall(_group, for_ms):
            shows = _("it keeps its queues and consumes nothing for %(s)s s: messages wait") % {"s": for_ms // 1_000}
            words = _("the listener of a member hangs"), shows
        case Resume():
            words = _("a member goes on"), _("it consumes what has waited")
    return words


def _to_a_broker(act: Slow | Down | Recover) -> tuple[str, str]:
    match act:
        case Slow(broker, delay_ms, for_ms):
            values = {"broker": broker, "ms": delay_ms, "s": for_ms // 1_000}
            happens = _("%(broker)s answers %(ms)s ms late, for %(s)s s") % values
            words = happens, _("producers back off from it, and send to the others")
        case Down(broker, for_ms):
            happens = _("%(broker)s is down, for %(s)s s") % {"broker": broker, "s": for_ms // 1_000}
            words = happens, _("its queues cannot be read: the broker is away, the group is not at fault")
        case Recover(broker):
            words = _("%(broker)s is well again") % {"broker": broker}, _("producers come back")
    return words


def _going(how: Going) -> tuple[str, str]:
    return {
        Going.LEAVES: (_("a member leaves"), _("a clean leave: brokers are told, and others take over at once")),
        Going.CRASHES: (
            _("a member crashes"),
            _("its connections break: brokers notice at once, and others take its queues"),
        ),
        Going.FALLS_SILENT: (
            _("a member falls silent"),
            _("it answers nobody: what it holds is unknown, for two minutes, until brokers forget it"),
        ),
    }[how]


def _joining(group: str) -> str:
    cast = cast_of(group)
    if cast is not None and cast.orderly:
        return _("an orderly handoff: the newcomer waits for the locks of the others")
    if cast is not None and cast.strategies == ("AVG_BY_CIRCLE",):
        return _("stripes: by AVG_BY_CIRCLE nearly every queue moves")
    return _("a rebalance: queues move, pause, or have two owners for a moment")
