from __future__ import annotations

import re

import pytest
from django.utils import translation

from dashboard.common.sayings import Sayings, in_words, together
from rebalance_engine.effects import Failure
from rebalance_engine.findings import Finding, FindingKind
from rebalance_engine.findings.refused import who_may_have
from rebalance_engine.network.link import NoAnswer
from rebalance_engine.network.probe import Probe, told_of

GERMAN = Sayings(
    [
        ("Nobody consumes {name}: {answered}.", "Niemand liest {name}: {answered}."),
        ("Nobody consumes {name}: {answered}, so that it waits.", "Niemand liest {name}, es wartet: {answered}."),
        ("all {n} members answered", "alle {n} antworteten"),
        ("{name} by {count}", "{count} mal {name}"),
        (" and {n} more", " und {n} weitere"),
        (", no master", ", kein Master"),
        ("{queues}, permission {letters}{master}", "{queues}, Recht {letters}{master}"),
        ("{n} queues", "{n} Queues"),
        ("no answer in time", "keine Antwort"),
        ("not asked: {why}", "nicht gefragt: {why}"),
        ("needed is {{a}}", "gebraucht wird {{a}}"),
        ("once", "einmal"),
        ("{sentence} {client} had it last.", "{sentence} Zuletzt hatte es {client}."),
        ("{sentence} Seen by {author}: {reason}", "{sentence} Gesehen von {author}: {reason}"),
    ]
)


@pytest.mark.parametrize(
    ("english", "german"),
    [
        ("Nobody consumes orders/east/3: all 5 members answered.", "Niemand liest orders/east/3: alle 5 antworteten."),
        (
            "Nobody consumes q: all 5 members answered, so that it waits.",
            "Niemand liest q, es wartet: alle 5 antworteten.",
        ),
        (
            "Nobody consumes q: all 5 members answered. 10.0.0.7@1#2 had it last. Seen by ann: It waits. Let it.",
            "Niemand liest q: alle 5 antworteten. Zuletzt hatte es 10.0.0.7@1#2. Gesehen von ann: It waits. Let it.",
        ),
        ("AVG by 3, CONFIG by 1", "3 mal AVG, 1 mal CONFIG"),
        ("A, B and 2 more", "A, B und 2 weitere"),
        ("4 queues, permission RW, no master", "4 Queues, Recht RW, kein Master"),
        ("4 queues, permission RW", "4 Queues, Recht RW"),
        (
            "east:1: no answer in time (not asked: it is silent)",
            "east:1\uff1akeine Antwort\uff08nicht gefragt: it is silent\uff09",
        ),
        ("needed is {a}", "gebraucht wird {a}"),
        ("once", "einmal"),
    ],
)
def test_a_sentence_is_turned_with_what_it_holds(english: str, german: str) -> None:
    assert GERMAN.turn(english) == german


@pytest.mark.parametrize(
    "words", ["", "A", "orders/east/3", "somebody said something by accident", "once more", "a: b (c)"]
)
def test_what_fits_no_template_stays(words: str) -> None:
    assert GERMAN.turn(words) == words


def test_a_long_hostile_sentence_is_read_in_one_pass() -> None:
    for sentence in ("Nobody consumes " + ": " * 1_900, ". " * 1_900, "Nobody. " + "A had it first. " * 240):
        assert GERMAN.turn(sentence) == sentence


@pytest.mark.usefixtures("catalogues")
def test_the_reader_decides() -> None:
    saying = "all 5 members answered, and none holds it"

    assert in_words(saying) == saying
    with translation.override("zh-hans"):
        assert in_words(saying) == "全部 5 个成员已应答，都不持有它"  # noqa: RUF001 - Chinese has wide commas
    assert in_words(saying) == saying


@pytest.mark.parametrize("goes_on", ["", ", so that messages that failed there wait"])
@pytest.mark.usefixtures("catalogues")
def test_what_is_added_to_a_finding_is_turned_with_it(goes_on: str) -> None:
    said = f"No member consumes orders/east/1: all 3 members answered, and none holds it{goes_on}."
    first = Finding(FindingKind.ORPHAN_QUEUE, "g", "orders/east/1", said, ())
    [found] = who_may_have([first], {"orders/east/1": "10.0.0.7@1#2"})
    with translation.override("zh-hans"):
        alone, words = in_words(first.sentence), in_words(found.sentence)

    assert words.startswith(alone)
    assert not re.search("[A-Za-z]{2}", words.replace("orders/east/1", ""))
    assert "10.0.0.7@1#2" in words


@pytest.mark.usefixtures("catalogues")
def test_a_proof_of_an_idle_member_is_one_saying() -> None:
    with translation.override("zh-hans"):
        assert in_words("it subscribes to orders, which has 3 queues").startswith("它订阅 orders")


def test_a_sentence_beyond_all_bounds_is_left_alone() -> None:
    with translation.override("zh-hans"):
        assert in_words("once" + " " * 4_000) == "once" + " " * 4_000


def test_chinese_sentences_stand_together_and_english_ones_apart() -> None:
    assert together(["A joined.", "It took 2 s."]) == "A joined. It took 2 s."
    assert together(["A 加入。", "用时 2 s。"]) == "A 加入。用时 2 s。"


def test_sayings_in_a_row_are_turned_however_many_there_are() -> None:
    row = "; ".join(["all 2 members answered", *(f"q{n} by {n}" for n in range(1, 9)), "not asked: once"])

    assert GERMAN.turn(row) == "\uff1b".join(
        ["alle 2 antworteten", *(f"{n} mal q{n}" for n in range(1, 9)), "nicht gefragt: einmal"]
    )


def test_a_receipt_of_several_brokers_is_chinese_as_a_whole() -> None:
    told = Probe(
        {f"127.0.0.1:{port}": frozenset("AB") for port in (1, 2, 3)},
        trouble=str(NoAnswer(Failure.TIMEOUT, "127.0.0.1:4")),
        left_out=("left out: 127.0.0.1:5: the connection could not be made (refused)",),
    )
    with translation.override("zh-hans"):
        words = in_words(told_of(told))

    assert not {"notified", "members", "brokers", "left", "answer", "connection"} & set(re.findall("[a-z]+", words))
    assert words.count("\uff1b") == 5


def test_how_long_a_member_was_silent_before_it_left_is_chinese_as_a_whole() -> None:
    with translation.override("zh-hans"):
        words = in_words("it had answered nothing for 130 s, and was listed all the time")

    assert not re.search("[a-z]{2,}", words), words


def test_a_sentence_that_goes_on_after_a_semicolon_is_turned_without_its_capital() -> None:
    found = "4 queues were taken or dropped; brokers list different members: west does not have C. Who asks there"
    with translation.override("zh-hans"):
        said = in_words(f"{found} divides the queues by fewer.")

    assert "的成员列表不一致" in said
    assert "brokers" not in said
