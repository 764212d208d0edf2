"""The last part of a first-connection check: whether the members of each group tell what they hold.

Each is asked once, within the bounds that hold for all that is asked (``budget.py``) and within one deadline; who had
no turn in time is counted. Who comes through a proxy owns no queues, and is not asked.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from rebalance_engine.effects import Address
from rebalance_engine.events import Missing
from rebalance_engine.network import answers
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.answers import Answerer
from rebalance_engine.network.asked import Deadline, Heard
from rebalance_engine.network.checkup import Check, Verdict
from rebalance_engine.network.looking import ids_of, masters_of
from rebalance_engine.network.surveying import Survey, look_at_groups
from rebalance_engine.proxied import is_of_grpc
from rebalance_engine.remoting.bodies.queues import ConsumerRunningInfo
from rebalance_engine.remoting.codes import RequestCode

LEAST_S = 5.0  # however long the rest took
MOST_NAMED = 5
RESTS = "does not answer"  # as the budget says of who is left alone
TOLD_ELSEWHERE = frozenset({None, Missing.NOT_ASKED, Missing.NO_PERMISSION, Missing.NOT_ONLINE})  # or it is no fault


@dataclass(frozen=True, slots=True)
class Told:
    """One member of a group, and what it told."""

    group: str
    client: str
    heard: Heard[ConsumerRunningInfo]

    @property
    def missing(self) -> Missing | None:
        """Say why there is no answer; None: there is one. Who is left alone had not answered a moment ago."""
        if self.heard.trouble is None:
            return None
        missing = answers.why_missing(self.heard.trouble)
        return Missing.TIMEOUT if missing is Missing.NOT_ASKED and RESTS in self.heard.why else missing


async def check_members(admin: Admin, *, deadline_s: float) -> list[Check]:
    """Ask each member of each group what it holds; nothing is said where no broker tells of groups."""
    deadline_s = max(LEAST_S, deadline_s)
    survey = await look_at_groups(admin, deadline_s=deadline_s / 2)
    if not any(heard.value is not None for heard in survey.configs.values()):
        return []
    deadline = Deadline(deadline_s / 2)
    asked = [_ask(admin, deadline, *each) for each in _whom(survey)]
    return list(_checks(survey, await asyncio.gather(*asked)))


def _whom(survey: Survey) -> Iterator[tuple[str, str, str, Address]]:
    """Give each group, member, and the broker that is to ask it: by turns, so that none asks all."""
    masters = masters_of(heard.value for heard in survey.name_servers.values())
    for line in survey.groups:
        at: dict[str, list[str]] = {}
        for broker, heard in line.lists.items():
            for client in dict.fromkeys(ids_of(heard.value)):
                at.setdefault(client, []).append(broker)
        for turn, (client, brokers) in enumerate(sorted(at.items())):
            if not is_of_grpc(client):
                broker = brokers[turn % len(brokers)]
                yield line.group, client, broker, masters[broker]


async def _ask(admin: Admin, deadline: Deadline, group: str, client: str, broker: str, address: Address) -> Told:
    code = RequestCode.GET_CONSUMER_RUNNING_INFO
    by = Answerer(address=address, code=code, at=deadline.now(), broker=broker, client=client)
    return Told(group, client, await deadline.hear(by, partial(_running, admin, address, group, client)))


async def _running(admin: Admin, address: Address, group: str, client: str, left_s: float) -> ConsumerRunningInfo:
    return answers.usable(await admin.running_info(address, group, client, timeout_s=left_s))


def _checks(survey: Survey, told: Sequence[Told]) -> Iterator[Check]:
    silent = [each for each in told if each.missing not in TOLD_ELSEWHERE]
    late = sum(each.missing is Missing.NOT_ASKED for each in told)
    yield from _unlisted(survey)
    if silent:
        advice = "What they hold stays unknown: look at these clients. One that hangs, or is paused, answers nothing."
        yield Check(Verdict.WARNING, "members", "; ".join(_named(silent)), advice)
    if late:
        seen = f"{late} of {_count(len(told), 'member')} had no turn in time"
        yield Check(Verdict.WARNING, "members", seen, "Give more time by --timeout: a broker asks five in a second.")
    if all(each.missing is None for each in told):
        online = len({each.group for each in told})
        seen = f"{_count(len(told), 'member')} of {_count(online, 'group')} asked, and all tell what they hold"
        yield Check(Verdict.OK, "members", seen if told else "no group has a member that can be asked")


def _unlisted(survey: Survey) -> Iterator[Check]:
    """Say of which groups a broker that answers does not list the members."""
    lacking = [
        f"{line.group}: {broker} {heard.why}"
        for line in survey.groups
        for broker, heard in line.lists.items()
        if heard.trouble is not None and survey.configs[broker].value is not None
        if answers.why_missing(heard.trouble) is not Missing.NO_PERMISSION
    ]
    if lacking:
        seen = "; ".join(lacking[:MOST_NAMED]) + _more(len(lacking))
        yield Check(Verdict.WARNING, "member lists", seen, "Who is a member there stays unknown: ask once more.")


def _named(silent: Sequence[Told]) -> Iterator[str]:
    for each in silent[:MOST_NAMED]:
        yield f"{each.client} of {each.group}: {each.heard.why}"
    if more := _more(len(silent)):
        yield more.removeprefix("; ")


def _more(count: int) -> str:
    return f"; and {count - MOST_NAMED} more" if count > MOST_NAMED else ""


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
