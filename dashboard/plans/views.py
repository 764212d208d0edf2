"""The page of dry runs: read the question in the URL, try it out, render. Nothing is written."""

from __future__ import annotations

from collections.abc import Iterable

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from dashboard.common.clock import now_ms
from dashboard.common.sayings import in_words
from dashboard.common.tables import attached
from dashboard.groups.kinds import popping_words, set_to_pop, through_proxies
from dashboard.groups.lag import lags_of
from dashboard.groups.listing import listed
from dashboard.groups.models import Group
from dashboard.groups.story import brokers_away
from dashboard.groups.told import BY_HAND
from dashboard.groups.views import access_in, find_group
from dashboard.people import operations
from dashboard.people.gate import needs
from dashboard.people.roles import Role
from dashboard.plans import answers
from dashboard.plans.costs import WAYS, Costs, expected_costs
from dashboard.plans.earlier import earlier_of
from dashboard.plans.given import SETTLED_MS, not_given
from dashboard.plans.models import ByConfig
from dashboard.plans.picturing import picture_of
from dashboard.plans.queries import assignment_of, latest, read_group
from dashboard.plans.questions import BadQuestion, Question, read_question
from dashboard.plans.tables import MOVES, TABLES, file_name, only
from dashboard.plans.trying import Option, Trial, try_out
from rebalance_engine.allocation import STRATEGIES
from rebalance_engine.diff import Move, MoveCause
from rebalance_engine.findings import spell
from rebalance_engine.model import MessageModel, MessageQueue

MOST_MOVES = 400
MOST_LOADS = 400
MOST_DRAWN = 20_000  # columns of a map; above 1,200 the browser draws tiles
MOST_SIDE_BY_SIDE = 24  # columns of each of two maps that stand beside each other
FORMATS = ("json", "csv")


@require_safe
@needs(Role.VIEWER)
def plan(request: HttpRequest, pk: int) -> HttpResponse:
    """Try out what would be: ``?add= &remove= &rename= &queues= &broker= &strategy= &params=``.

    ``&format=json|csv`` is for programs, ``&table=`` for one table of it alone.
    """
    found, wanted, table = find_group(request, pk), request.GET.get("format", ""), request.GET.get("table", "")
    wait_s = operations.wait_for_trial(person=request.user.pk, now=now_ms())
    if wait_s:
        return _too_often(request, found, wanted, wait_s)
    view, known = read_group(group=found)
    problems: tuple[str, ...] = ()
    question = Question()
    try:
        question = read_question(request.GET.getlist)
        trial = try_out(view, question, known)
    except BadQuestion as bad:
        problems = bad.problems
        if wanted in FORMATS:
            return JsonResponse({"problems": problems}, status=400)
        trial = try_out(view, Question(), known)
    if wanted in FORMATS and table not in ("", *TABLES):
        return JsonResponse({"problems": [f"table is {table[:60]!r}; there are {', '.join(TABLES)}."]}, status=400)
    if wanted == "csv":
        return attached(TABLES[table or MOVES](trial), file_name(found.name, table))
    expected, earlier = expected_costs(group=found), earlier_of(group=found)
    if wanted == "json":
        said = answers.describe(trial, cluster=found.cluster.name, at=now_ms(), expected=expected, earlier=earlier)
        return JsonResponse(only(said, table))
    context = _context(request, found, trial, question, expected)
    context |= {"problems": problems, "earlier": earlier, "curl": _as_curl(request, found, question)}
    return render(request, "plans/plan.html", context, status=400 if problems else 200)


def _too_often(request: HttpRequest, group: Group, wanted: str, wait_s: int) -> HttpResponse:
    """Say that nothing is computed for now, and when it is again; the address still holds the question."""
    most, headers = operations.TRIALS_A_MINUTE, {"Retry-After": str(wait_s)}
    words = ngettext(
        "That was %(most)s dry run within a minute, the most of one person. Wait %(wait)s s.",
        "Those were %(most)s dry runs within a minute, the most of one person. Wait %(wait)s s.",
        most,
    ) % {"most": most, "wait": wait_s}
    if wanted in FORMATS:
        return JsonResponse({"problems": [words]}, status=429, headers=headers)
    context = {"group": group, "words": words, "again": request.get_full_path()}
    answer = render(request, "plans/too_often.html", context, status=429)
    answer["Retry-After"] = headers["Retry-After"]
    return answer


def _context(
    request: HttpRequest, group: Group, trial: Trial, question: Question, expected: Costs
) -> dict[str, object]:
    outcome = trial.chosen.outcome
    is_divided = trial.after.model is not MessageModel.BROADCASTING  # who comes takes a copy else: nothing moves
    moves = answers.costly(list(outcome.moves)) if outcome is not None and is_divided else []
    loads = answers.loads(trial)
    kept, most = latest(group=group.pk), _most(loads)
    cards = [_card(option, trial, question) for option in trial.options]
    is_drawn = len(trial.before.queues) + len(trial.after.queues) <= 2 * MOST_DRAWN
    return {
        "group": group,
        "listed": listed(group=group),
        "trial": trial,
        "popping": popping_words(len(trial.undivided.popping)),
        "set_to_pop": set_to_pop(trial.undivided.popped_by),
        "through_proxies": through_proxies(trial.undivided.proxied),
        "with_owners": [client for client in trial.before.clients.distinct if client not in trial.undivided.clients],
        "question": question,
        "asked": describe_question(trial),
        "fields": _fields(question),
        "cards": [card for card in cards if not card["is_folded"]],
        "alike": _alike(cards),
        "untried": [card for card in cards if card["is_folded"] and card["count"] is None],
        "names": [option.strategy for option in trial.options if option.strategy in STRATEGIES],
        "moves": _moves(moves[:MOST_MOVES], group, trial, expected),
        "away": brokers_away(group),
        "move_count": len(moves),
        "loads": [_load(load, most, trial) for load in loads[:MOST_LOADS]],
        "load_count": len(loads),
        "costs": _costs(moves, expected),
        "unowned": [] if outcome is None else _unowned(outcome.target.queues.take(outcome.target.unowned())),
        "kept": kept,
        "not_given": _not_given(trial, kept),
        "may_edit": access_in(request).may(Role.ADMIN, cluster=group.cluster.name, group=group.name),
        "query": question.as_query(),
        "now": now_ms(),
        "is_wide": len(trial.after.queues) > MOST_SIDE_BY_SIDE,
        "facts": {"picture": picture_of(trial) if is_drawn else None},
    }


def _not_given(trial: Trial, kept: ByConfig | None) -> tuple[str, ...]:
    """Name the members that were not given the list by which this divides, once they had the time to take it."""
    if kept is None or trial.chosen.strategy not in BY_HAND or not trial.is_held or now_ms() - kept.at < SETTLED_MS:
        return ()
    return not_given(assignment_of(kept), trial.before)


def _as_curl(request: HttpRequest, group: Group, question: Question) -> str:
    """Write the same dry run for a terminal; what a shell would take for its own is escaped in the address."""
    address = request.build_absolute_uri(reverse("api plan", args=[group.pk]))
    query = question.as_query()
    return f"curl -H \"Authorization: Bearer $EVENKEEL_API_TOKEN\" '{address}{'?' if query else ''}{query}'"


def describe_question(trial: Trial) -> list[str]:
    """Say in a few words each what is asked; nothing where nothing is."""
    changes, question = trial.changes, trial.question
    words = []
    if changes.added:
        joins = ngettext("%(names)s joins", "%(names)s join", len(changes.added))
        words.append(joins % {"names": _names(changes.added)})
    if changes.removed:
        leaves = ngettext("%(names)s leaves", "%(names)s leave", len(changes.removed))
        words.append(leaves % {"names": _names(changes.removed)})
    words += [_("%(old)s comes back as %(new)s") % {"old": old, "new": new} for new, old in changes.renamed.items()]
    words += [_("queues: %(queues)s") % {"queues": queues} for queues in question.queues]
    words += [_("broker: %(broker)s") % {"broker": broker} for broker in question.broker]
    if question.strategy:
        words.append(_("all divide by %(strategy)s") % {"strategy": question.strategy})
    return words


def _names(names: tuple[str, ...]) -> str:
    more = _(" and %(n)s more") % {"n": len(names) - 5} if len(names) > 5 else ""
    return ", ".join(names[:5]) + more


def _fields(question: Question) -> dict[str, str]:
    lists = {name: "\n".join(getattr(question, name)) for name in ("add", "remove", "rename", "queues", "broker")}
    return lists | {"strategy": question.strategy, "params": question.params}


def _card(option: Option, trial: Trial, question: Question) -> dict[str, object]:
    return {
        "option": option,
        "name": in_words(option.strategy).split("_") if option.strategy else [],
        "is_chosen": option is trial.chosen,
        "is_folded": option is not trial.chosen and not option.is_own and (option.outcome is None or option.same_as),
        "count": None if option.outcome is None else option.outcome.move_count,
        "link": "?" + question.as_query(strategy="" if option.is_own else option.strategy, params=question.params),
    }


def _alike(cards: Iterable[dict[str, object]]) -> list[tuple[str, list[dict[str, object]]]]:
    """Give those that are folded because another one gives the same, by that one."""
    found: dict[str, list[dict[str, object]]] = {}
    for card in cards:
        option = card["option"]
        assert isinstance(option, Option)
        if card["is_folded"] and option.outcome is not None:
            found.setdefault(option.same_as, []).append(card)
    return list(found.items())


def _moves(moves: list[Move], group: Group, trial: Trial, expected: Costs) -> list[dict[str, object]]:
    places = [(each.queue.topic, each.queue.broker, each.queue.queue_id) for each in moves]
    lags = lags_of(group=group, queues=set(places))
    return [{**_move(each, trial, expected), "lag": lags.get(place)} for each, place in zip(moves, places, strict=True)]


def _move(move: Move, trial: Trial, expected: Costs) -> dict[str, object]:
    return {
        "queue": spell(move.queue),
        "from": move.from_client,
        "to": move.to_client,
        "cause": cause_words(move.cause),
        "is_kept": move.to_client is None and answers.is_owned(trial, move.queue),
        "expected": expected.get(move.cause) if answers.is_handoff(move) else None,
        "is_handoff": answers.is_handoff(move),
    }


def _costs(moves: list[Move], expected: Costs) -> list[dict[str, object]]:
    """Give what handoffs are likely to take, by why their queues would move; only of those that there would be."""
    ways = {move.cause for move in moves if answers.is_handoff(move)}
    return [{"cause": cause_words(way), "expected": expected.get(way)} for way in WAYS if way in ways]


def cause_words(cause: MoveCause) -> str:
    """Translate why one queue's owner would change."""
    words = {
        MoveCause.QUEUE_REMOVED: _("the queue goes"),
        MoveCause.QUEUE_ADDED: _("the queue is new"),
        MoveCause.OWNER_LEFT: _("its owner leaves"),
        MoveCause.TAKEN_UP: _("nobody has it now"),
        MoveCause.TAKEN_BESIDE: _("others have it too"),
        MoveCause.LET_GO: _("nobody is to have it"),
        MoveCause.LEFT_TO_OTHERS: _("others keep it"),
        MoveCause.OWNER_JOINED: _("its new owner joins"),
        MoveCause.RESHUFFLED: _("a knock-on"),
    }
    return words[cause]


def _most(loads: list[answers.Load]) -> int:
    return max((max(load.before or 0, load.after or 0) for load in loads), default=0) or 1


def _load(load: answers.Load, most: int, trial: Trial) -> dict[str, object]:
    """Give a client's load with the lengths of its bars, of 100, and why it owns no queues, where it never does."""
    either = (trial.undivided, trial.undivided_then)
    return {
        "is_popping": any(load.client in each.popping for each in either),
        "is_proxied": any(load.client in each.proxied for each in either),
        "load": load,
        "was": round(100 * (load.before or 0) / most, 1),
        "will": round(100 * (load.after or 0) / most, 1),
    }


def _unowned(queues: list[MessageQueue]) -> list[str]:
    return [spell(queue) for queue in queues[:20]]
