"""Whatever is said of any finding comes out as Chinese as a whole: a sentence with all that is added to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from django.utils import translation

from dashboard.common.sayings import in_words
from dashboard.groups.acknowledging import say_acknowledged
from dashboard.groups.told import Told
from rebalance_engine import MessageQueue
from rebalance_engine.events import Cause
from rebalance_engine.findings import (
    Change,
    Division,
    Finding,
    FindingKind,
    PullRefusal,
    Refusal,
    Restless,
    Returned,
    Standing,
    who_may_have,
    why_unowned,
)
from rebalance_engine.findings.refused import MEANINGS, NOBODYS
from rebalance_engine.group import GroupView
from tests.rebalance_engine.findings.test_sights import (
    FIXTURES,
    MINUTE,
    NOBODY,
    NOW,
    ORDERS,
    ROUTE,
    SANE,
    Fixture,
    member,
    seeing,
    view_of,
)

NAMES = re.compile(
    r"%(RETRY|DLQ)%g|(orders|payments|old|t\d)(/\w+/\d+)?|east|west|north|n\d:9876|[\d.]+@[\w#.]+"
    r"|AVG(_BY_CIRCLE)?|CONFIG|TAG [*\w]+|\b(RW|ID)\b|10.0.0.7@ann|consumeEnable=false|UTC|[Bb]roker|NameServer|\bm\d+"
)
ENGLISH = re.compile("[A-Za-z]{2,}")
REASON = "理由"


def crowd(size: int, *, holding: int = 1, strategies: tuple[str, ...] = ("AVG",)) -> GroupView:
    """Members of which the first ones have all queues together."""
    rows = [
        member(f"m{n}", *([*ORDERS, MessageQueue("%RETRY%g", "east", 0)] if n < holding else []), strategy=strategy)
        for n, strategy in zip(range(size), strategies * size, strict=False)
    ]
    return view_of(*rows)


def variants() -> Iterator[Fixture]:
    """Give what the fixtures of the kinds leave out: one and many, known and unknown, more than are named."""
    yield Fixture(view_of(member("A", ORDERS[0])))  # the only one
    yield Fixture(crowd(5, holding=3))
    yield Fixture(crowd(70, strategies=("AVG", "AVG_BY_CIRCLE", "CONFIG")))
    yield seeing(pulls=tuple(PullRefusal("B", each, 24, NOW - 9_000, NOW - 1_000, 1) for each in ORDERS))
    yield seeing(pulls=tuple(PullRefusal("B", ORDERS[2], code, NOW - MINUTE, NOW, 2) for code in (*MEANINGS, 99)))
    yield Fixture(view_of(*[member("A", *ORDERS)] * 3), replace(SANE, lists={"east": ("A",) * 3, "west": ("A",)}))
    many = {"A": {f"t{n}": "TAG *" for n in range(7)}, "B": {"orders": "TAG *"}}
    yield seeing(subscriptions=many)
    clients = tuple(f"m{n}" for n in range(6))
    yield seeing(lists={"east": clients, "west": ("A", "B")})
    yield seeing(lists={"east": clients, "west": ("A",)})
    halves = {"n1:9876": {"east": Division(2, 6, True)}, "n2:9876": {"west": Division(2, 6, False)}}
    yield seeing(routes={"orders": halves})
    yield seeing(routes={"orders": {"n1:9876": ROUTE}, "old": {"": {"east": Division(1, 2, True)}}})
    east_or_west = {"n1:9876": {"east": Division(2, 6, True)}, "n2:9876": {"west": Division(2, 6, True)}}
    yield seeing(routes={"orders": east_or_west})
    yield seeing(standings=(Standing(ORDERS[0], 100, 1, NOW - MINUTE, NOW),))
    alone = (Standing(ORDERS[0], 100, 1, NOW - MINUTE, NOW, waited=0), Standing(ORDERS[2], 7, 5, NOW - MINUTE, NOW))
    yield Fixture(view_of(), replace(NOBODY, standings=alone[:1]), config={})
    yield Fixture(view_of(), replace(NOBODY, standings=alone), config={})
    yield seeing(dead={"east": (Returned(NOW - MINUTE, 5), Returned(NOW, 9))})
    yield seeing(closed=("east", "west", "north"))
    yield Fixture(config={"A": ORDERS, "B": [*ORDERS, MessageQueue("t1", "east", 0)], "m7": []})
    yield Fixture(chain=tuple(Restless(n, NOW - MINUTE + n, Cause.MEMBER_LEFT, NOW) for n in range(9)))
    shorts = [
        Change(NOW - 5 * MINUTE + n * 9_000, cause, f"10.0.0.1@{n // 2}#1")
        for n, cause in enumerate([Cause.MEMBER_JOINED, Cause.HEARTBEAT_EXPIRED] * 5)
    ]
    yield seeing(changes=tuple(shorts))


def refusals(queue: MessageQueue) -> Iterator[Refusal]:
    yield Refusal("B", queue, NOW, 1)
    yield Refusal("B", queue, NOW, 3, "10.0.0.7@1#2")
    yield Refusal("B", queue, NOW, 3, "10.0.0.7@1#2", NOW - 9_000)
    yield Refusal("B", queue, NOW, 3, "10.0.0.7@1#2", None, NOW - 9_000)


def every_finding() -> list[Finding]:
    plain = [each for fixtures in FIXTURES.values() for fixture in fixtures for each in fixture.found()]
    plain += [each for fixture in variants() for each in fixture.found()]
    plain += [each for refusal in refusals(ORDERS[2]) for each in seeing(locks=(refusal,)).found()]
    return plain


def added_to(findings: list[Finding]) -> Iterator[Finding]:
    """Give them with all that may be added to them, and all of it together."""
    unowned = [each for each in findings if each.kind in NOBODYS]
    lost = {each.subject: "10.0.0.7@1#2" for each in unowned}
    yield from who_may_have(unowned, lost)
    for each in unowned:
        topic, broker, number = each.subject.rsplit("/", 2)
        for refusal in refusals(MessageQueue(topic, broker, int(number))):
            [why] = why_unowned([each], [refusal], NOW)
            yield why
            yield from who_may_have([why], lost)


def acknowledged(findings: list[Finding]) -> Iterator[Finding]:
    for each in findings:
        by_hand = Told(
            version=3, lists={}, author="10.0.0.7@ann", reason=REASON, acknowledged=frozenset([each.subject])
        )
        yield from say_acknowledged([each], by_hand)


def left_in_english(words: str) -> list[str]:
    return ENGLISH.findall(NAMES.sub("", words))


@pytest.mark.usefixtures("catalogues")
def test_all_that_is_said_of_any_finding_is_chinese() -> None:
    findings = every_finding()
    assert {each.kind for each in findings} == set(FindingKind)
    findings = [*findings, *added_to(findings)]
    findings = [*findings, *acknowledged(findings)]

    with translation.override("zh-hans"):
        said = {words: in_words(words) for each in findings for words in (each.sentence, *each.proof)}

    english = {words: turned for words, turned in said.items() if left_in_english(turned)}
    assert english == {}, "\n".join(f"{words}\n  {turned}" for words, turned in english.items())
