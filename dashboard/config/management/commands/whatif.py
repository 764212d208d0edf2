"""``manage.py whatif``: what a group would have if it were otherwise. Writes nothing, as the page of dry runs."""

from __future__ import annotations

import json
from collections.abc import Sequence

from django.core.management.base import BaseCommand, CommandError, CommandParser

from dashboard.common.clock import now_ms
from dashboard.common.shown import shown
from dashboard.groups.models import Group
from dashboard.plans import answers
from dashboard.plans.costs import WAYS, Costs, Expected, expected_costs
from dashboard.plans.earlier import earlier_of
from dashboard.plans.queries import read_group
from dashboard.plans.questions import NAMES, BadQuestion, read_question
from dashboard.plans.trying import Trial, try_out
from rebalance_engine.findings import spell

MOST_MOVES = 50


class Command(BaseCommand):
    """Tries a question out on a group that a watcher has looked at."""

    help = "Try out what a consumer group would have with other members, queues, brokers or another strategy."

    def add_arguments(self, parser: CommandParser) -> None:
        """Take a group and what is asked of it, in the words of the page's URL."""
        parser.add_argument("--cluster", required=True, metavar="NAME")
        parser.add_argument("--group", required=True, metavar="NAME")
        parser.add_argument("--add", action="append", default=[], metavar="CLIENT|N", help="joins; or so many do")
        parser.add_argument("--remove", action="append", default=[], metavar="CLIENT", help="leaves")
        parser.add_argument("--rename", action="append", default=[], metavar="OLD>NEW", help="comes back so")
        parser.add_argument("--queues", action="append", default=[], metavar="TOPIC/BROKER/COUNT")
        parser.add_argument("--broker", action="append", default=[], metavar="NAME|-NAME", help="comes, or goes")
        parser.add_argument("--strategy", action="append", default=[], metavar="NAME", help="all divide by it")
        parser.add_argument("--params", action="append", default=[], metavar="JSON", help="what the strategy takes")
        parser.add_argument("--json", action="store_true", help="answer in JSON, as the page's ?format=json")

    def handle(self, *, cluster: str, group: str, json: bool, **asked: Sequence[str]) -> None:
        """Write what would be."""
        found = Group.objects.select_related("cluster").filter(cluster__name=cluster, name=group).first()
        if found is None:
            raise CommandError(f"there is no group {group!r} in a cluster {cluster!r} that was looked at")
        view, known = read_group(group=found)
        try:
            question = read_question(lambda name: asked[name] if name in NAMES else [])
            trial = try_out(view, question, known)
        except BadQuestion as bad:
            raise CommandError(" ".join(bad.problems)) from bad
        expected, earlier = expected_costs(group=found), earlier_of(group=found)
        if json:
            self.stdout.write(
                _as_json(answers.describe(trial, cluster=cluster, at=now_ms(), expected=expected, earlier=earlier))
            )
        else:
            self._say(trial, expected)

    def _say(self, trial: Trial, expected: Costs) -> None:
        outcome = trial.chosen.outcome
        self.stdout.write(
            f"{shown(trial.before.group)}: a dry run against what is {_base(trial)}; nothing is written\n"
        )
        for option in trial.options:
            mark = "*" if option is trial.chosen else " "
            name = f"{option.strategy or 'unknown'}{' (its own)' if option.is_own else ''}"
            if option.outcome is None:
                self.stdout.write(f"{mark} {name:<34} cannot be known: {shown(option.why)}")
                continue
            skew, moves = option.outcome.skew, option.outcome.move_count.total
            loads = f"loads {skew.least} to {skew.most}, {len(skew.idle)} idle"
            same = f", as by {option.same_as}" if option.same_as else ""
            self.stdout.write(f"{mark} {name:<34} {moves:>6} moves, {loads}{same}")
        if outcome is None:
            return
        self.stdout.write("")
        for move in answers.costly(list(outcome.moves))[:MOST_MOVES]:
            source, destination = (shown(name or "nobody") for name in (move.from_client, move.to_client))
            self.stdout.write(f"{shown(spell(move.queue))}: {source} -> {destination} ({move.cause.value})")
        if len(outcome.moves) > MOST_MOVES:
            self.stdout.write(f"and {len(outcome.moves) - MOST_MOVES:,} more: --json has all")
        causes = {move.cause for move in outcome.moves if answers.is_handoff(move)}
        for way in WAYS:
            if way in causes:
                self.stdout.write(f"a handoff because {way.value}: {_cost(expected.get(way))}")


def _base(trial: Trial) -> str:
    return "held" if trial.is_held else "the target, because what is held is not known of everybody"


def _cost(expected: Expected | None) -> str:
    if expected is None:
        return "what it costs is unknown, no such handoff of this group is known"
    kind = "paused" if expected.is_pause else "without an owner"
    bounds = f"{expected.low:,} ms or more" if expected.high is None else f"{expected.low:,} to {expected.high:,} ms"
    return f"{kind} for {bounds}, the median of {expected.handoffs:,} such handoffs"


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
