"""What a person may order of a group, or of the demo's brokers, and why not; and what became of it.

Only a row of the command table is written (``dashboard.clusters.ordering``): the cluster's watcher carries it out.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _

from dashboard.clusters.models import Cluster, Command
from dashboard.clusters.ordering import Wish, order
from dashboard.clusters.silences import is_silent
from dashboard.common.names import known_as
from dashboard.common.sayings import in_words
from dashboard.common.spans import age
from dashboard.demo import orders as demo
from dashboard.demo.script import Going
from dashboard.demo.shop import BROKERS, cast_of
from dashboard.groups.models import Group, Member
from dashboard.groups.recording.orders import RECOMPUTE
from dashboard.people.operations import wait_for_turn
from dashboard.people.roles import Access, Role
from rebalance_engine.events import CommandOutcome, ReceiptAnswer
from rebalance_engine.network.probe import AT_MOST_EVERY_S, Obstacle

OF_MEMBERS = (demo.ADD_CONSUMER, demo.KILL_CONSUMER, demo.STALL_CONSUMER, demo.RESUME_CONSUMER)
OF_BROKERS = (demo.SLOW_BROKER, demo.RESTART_BROKER, demo.HEAL_BROKER)
LONGEST_REASON = 500
MOST_ORDERS, WITHIN_MS = 30, 60_000  # of one person
MOST_SHOWN = 6
PROBED_MS = int(AT_MOST_EVERY_S * 1_000)
GRACE_MS = 5_000  # after its deadline an order that nobody took is ended by the next watcher


class Refused(Exception):
    """It is not ordered; the message says why, for people, and ``status`` of HTTP for programs."""

    status = 409
    wait_s = 0  # until there is room for it; 0: waiting does not help


class Senseless(Refused):
    """What was asked for makes no sense, whenever it is asked."""

    status = 422


class TooSoon(Refused):
    """Not yet."""

    status = 429

    def __init__(self, words: str, *, wait_s: int) -> None:
        super().__init__(words)
        self.wait_s = wait_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What a form says: texts, as they came."""

    verb: str
    target: str = ""
    reason: str = ""
    how: str = ""


@dataclass(frozen=True, slots=True)
class Told:
    """One order as it is shown; ``state`` is waiting, taken, done, refused, failed or expired."""

    row: Command
    words: str
    state: str
    receipts: tuple[tuple[str, int], ...]

    @property
    def is_open(self) -> bool:
        """Say whether something is still to come of it."""
        return self.state in {"waiting", "taken"}


def obstacle_to_ordering(*, cluster: Cluster, group: Group | None, access: Access) -> str:
    """Say why a person may order nothing of a group, or (without one) of all of a cluster; empty: may."""
    if group is None:
        has = access.role_everywhere(cluster=cluster.name)
        may, where = access.may_everywhere(Role.OPERATOR, cluster=cluster.name), _("for all groups of this cluster")
    else:
        has = access.role_of(cluster=cluster.name, group=group.name)
        may, where = access.may(Role.OPERATOR, cluster=cluster.name, group=group.name), _("for this group")
    if not may:
        values = {"where": where, "has": has.value if has else _("none")}
        return _("This needs the role operator %(where)s; you have %(has)s.") % values
    if cluster.is_aside:
        return _("This cluster is put aside: nobody watches it who could carry out an order.")
    if cluster.is_read_only:
        return _("This cluster is only looked at. Start Evenkeel with --writable to order something of it.")
    return ""


def obstacle_to_recompute(*, group: Group, access: Access, now: int) -> str:
    """Say why a group cannot be made to recompute; empty: as far as is known it can."""
    return obstacle_to_ordering(cluster=group.cluster, group=group, access=access) or _nothing_to_recompute(group, now)


def _nothing_to_recompute(group: Group, now: int) -> str:
    if group.model == "BROADCASTING":
        return _("The group broadcasts: every member has every queue, there is nothing to recompute.")
    if is_silent(group.cluster, now):
        return _silent_words(group.cluster.watched_at, now)
    if group.gone_at is not None:
        return _("The group is gone: no broker names it any more.")
    if group.member_count == 0:
        return _("Nobody is a member: there is nobody to recompute.")
    if group.is_notified is False:
        return _(
            "Notification is switched off for the group (notifyConsumerIdsChangedEnable) at every broker that has it:"
            " members rebalance by themselves every 20 s."
        )
    return ""


def _silent_words(watched_at: int | None, now: int) -> str:
    if watched_at is None:
        return _("Nothing of the cluster has answered yet: it is unknown who is a member.")
    words = _("Nothing of the cluster has answered for %(age)s: it is unknown who is a member.")
    return words % {"age": age(now - watched_at)}


def obstacle_to_play(*, group: Group, access: Access) -> str:
    """Say why the demo cannot add, kill or stall a group's members; empty: it can."""
    return obstacle_to_ordering(cluster=group.cluster, group=group, access=access) or (
        in_words(demo.obstacle_of(group.name) or "")
    )


def ask(
    *, cluster: Cluster, group: Group | None, asked: Asked, access: Access, author_id: int | None, now: int
) -> Command:
    """Order what a form says.

    Raises:
        Refused: it makes no sense, or not now, or not for this person.
    """
    obstacle = _obstacle(cluster, group, asked.verb, access, now)
    if obstacle:
        raise Refused(obstacle)
    reason = asked.reason.strip()
    if asked.verb == RECOMPUTE and not reason:
        raise Senseless(_("It needs a reason: whoever reads the audit log wants to know why."))
    if len(reason) > LONGEST_REASON:
        raise Senseless(
            _("The reason has %(n)s characters; it may have %(most)s.") % {"n": len(reason), "most": LONGEST_REASON}
        )
    wish = Wish(
        verb=asked.verb,
        group=group.name if group is not None else "",
        target=_target(asked),
        parameters=_parameters(asked),
        reason=reason,
    )
    with transaction.atomic():
        if group is not None and asked.verb == RECOMPUTE:
            _insist_on_rest(group, now)
        wait_s = wait_for_turn(what=f"order {access.name}", most=MOST_ORDERS, within_ms=WITHIN_MS, now=now)
        if wait_s:
            words = _("Those were %(n)s orders within a minute, the most of one person. Wait a moment.") % {
                "n": MOST_ORDERS
            }
            raise TooSoon(words, wait_s=wait_s)
        return order(cluster=cluster, wish=wish, author=access.name, author_id=author_id, now=now)


def told(*, group: Group, now: int) -> list[Told]:
    """Give the newest orders of a group, newest first."""
    return _newest(Command.objects.filter(cluster=group.cluster_id, group_name=group.name), now)


def told_of_demo(*, cluster: Cluster, groups: Collection[str], now: int) -> list[Told]:
    """Give the newest orders of the demo, newest first: of its brokers, and of these groups, which its reader sees."""
    rows = Command.objects.filter(cluster=cluster, verb__startswith="demo.")
    return _newest(rows.filter(Q(group_name=None) | Q(group_name__in=["", *groups])), now)


def _newest(rows: QuerySet[Command], now: int) -> list[Told]:
    return [tell(row, now) for row in rows.order_by("-pk").prefetch_related("receipts")[:MOST_SHOWN]]


def buttons(*, group: Group, access: Access, now: int) -> dict[str, object]:
    """Give what the buttons of a group's page need: why not, whom, and what became of earlier orders."""
    is_demo = group.cluster.is_demo
    members = Member.objects.filter(group=group, left_at=None).order_by("client_id")
    return {
        "orders": told(group=group, now=now),
        "recompute_obstacle": obstacle_to_recompute(group=group, access=access, now=now),
        "is_played": is_demo and cast_of(group.name) is not None,
        "play_obstacle": obstacle_to_play(group=group, access=access) if is_demo else "",
        "clients": list(members.values_list("client_id", flat=True)) if is_demo else [],
    }


def tell(row: Command, now: int) -> Told:
    """Put an order into words."""
    counts: dict[str, int] = {}
    for receipt in row.receipts.all():
        counts[receipt.answer] = counts.get(receipt.answer, 0) + 1
    return Told(row, words_of(row.verb), _state(row, now), tuple(sorted(counts.items())))


def words_of(verb: str) -> str:
    """Translate what is ordered."""
    words = {
        RECOMPUTE: _("Recompute now"),
        demo.ADD_CONSUMER: _("Add a consumer"),
        demo.KILL_CONSUMER: _("Kill a consumer"),
        demo.STALL_CONSUMER: _("Stall a consumer"),
        demo.RESUME_CONSUMER: _("Let a consumer go on"),
        demo.SLOW_BROKER: _("Slow a broker down"),
        demo.RESTART_BROKER: _("Take a broker down for 12 s"),
        demo.HEAL_BROKER: _("Heal a broker"),
    }
    return words.get(verb, verb)


def outcome_words(state: str) -> str:
    """Translate what became of an order."""
    words = {
        CommandOutcome.DONE.value: _("done"),
        CommandOutcome.REFUSED.value: _("refused"),
        CommandOutcome.FAILED.value: _("failed"),
        CommandOutcome.EXPIRED.value: _("expired: nobody carried it out"),
    }
    return words.get(state, state)


def receipt_words(answer: str) -> str:
    """Translate what an order did to members, after their number."""
    words = {
        ReceiptAnswer.CHANGED.value: _("changed"),
        ReceiptAnswer.UNCHANGED.value: _("unchanged"),
        ReceiptAnswer.UNKNOWN.value: _("unknown"),
        ReceiptAnswer.NOT_ASKED.value: _("not asked"),
    }
    return words.get(answer, answer)


def _obstacle(cluster: Cluster, group: Group | None, verb: str, access: Access, now: int) -> str:
    known = _known(cluster, group)
    if verb not in known:
        needed = _("one of %(choices)s") % {"choices": ", ".join(known)} if known else _("nothing: it is no demo")
        raise Senseless(_("%(verb)s cannot be ordered here; needed is %(needed)s.") % {"verb": verb, "needed": needed})
    if group is not None and verb == RECOMPUTE:
        return obstacle_to_recompute(group=group, access=access, now=now)
    if group is not None:
        return obstacle_to_play(group=group, access=access)
    return obstacle_to_ordering(cluster=cluster, group=None, access=access)


def _known(cluster: Cluster, group: Group | None) -> list[str]:
    """Name what can be ordered of a group, or (without one) of a cluster."""
    of_demo = (OF_BROKERS if group is None else OF_MEMBERS) if cluster.is_demo else ()
    return sorted([*of_demo, *([] if group is None else [RECOMPUTE])])


def _insist_on_rest(group: Group, now: int) -> None:
    """Refuse to let members compute anew again too soon, as the watcher would: it probes a group once in 5 s.

    Raises:
        TooSoon: an order before this one is under way, or was within that time and may have notified somebody.
    """
    Group.objects.select_for_update(no_key=True).get(pk=group.pk)  # of two at once, one comes second
    rows = Command.objects.filter(cluster=group.cluster_id, group_name=group.name, verb=RECOMPUTE)
    notified = rows.exclude(outcome__in=[CommandOutcome.REFUSED.value, CommandOutcome.EXPIRED.value])
    last = notified.filter(ordered_at__gt=now - PROBED_MS).order_by("-ordered_at").first()
    if last is not None:
        raise TooSoon(in_words(Obstacle.TOO_SOON.value), wait_s=max(1, -((now - PROBED_MS - last.ordered_at) // 1_000)))
    if rows.filter(finished_at=None, deadline__gte=now - GRACE_MS).exists():
        words = _("An order before this one is still under way: wait for what becomes of it.")
        raise TooSoon(words, wait_s=PROBED_MS // 1_000)


def _target(asked: Asked) -> str:
    if asked.verb in OF_BROKERS and asked.target not in BROKERS:
        raise Senseless(_("It needs a broker: one of %(brokers)s.") % {"brokers": ", ".join(BROKERS)})
    return "" if asked.verb in {RECOMPUTE, demo.ADD_CONSUMER} else known_as(asked.target)


def _parameters(asked: Asked) -> Mapping[str, object]:
    if asked.verb != demo.KILL_CONSUMER:
        return {}
    ways = [going.value for going in Going]
    if asked.how not in {"", *ways}:
        raise Senseless(_("It needs to be one of %(ways)s.") % {"ways": ", ".join(ways)})
    return {"how": asked.how or Going.CRASHES.value}


def _state(row: Command, now: int) -> str:
    if row.outcome is not None:
        return row.outcome
    if row.taken_at is not None:
        return "taken"
    return "waiting" if now <= row.deadline + GRACE_MS else "expired"
