from __future__ import annotations

from django.utils.translation import override

from dashboard.groups.risks import MOST_KEPT, read_risk, read_risks, risk, risk_words, write_risks

QUEUES = [f"orders/east/{n}" for n in range(MOST_KEPT + 1)]


def test_a_risk_comes_back_as_it_was_written_in_the_readers_language() -> None:
    written = [
        risk("without owner", "without owner:1", QUEUES),
        risk("client offline", "client offline:2", ["A\n\u4e2d"]),
    ]

    with override("zh-hans"):
        text = write_risks(written)
    read = read_risks(text)

    assert read == written
    assert (text.isascii(), text.count("\n")) == (True, 1)
    assert (read[0].count, len(read[0].subjects)) == (MOST_KEPT + 1, MOST_KEPT)
    assert read[0].sentence.startswith("201 queues have no owner: their messages would wait (orders/east/0, ")
    assert read[0].sentence.endswith(" and 189 more)")
    assert read[0].every_subject == tuple(QUEUES)
    with override("zh-hans"):
        assert "queues" not in read[0].words


def test_all_queues_are_kept_also_of_several_topics_and_what_was_tampered_with_is_left_out() -> None:
    queues = [*QUEUES, *(f"a/b/west/{n}" for n in (7, 9, 10))]

    [read] = read_risks(write_risks([risk("retry left out", "k", queues)]))

    assert (read.count, read.every_subject) == (len(queues), tuple(queues))
    value = {**read.as_values(), "rest": {"x/east": [0, -1], "y/east": "all", "z/east": [0, 2**60], "w/east": [3]}}
    assert read_risk(value).every_subject == tuple(QUEUES[:MOST_KEPT])


def test_a_sentence_from_before_is_shown_as_it_is() -> None:
    [read] = read_risks("a %RETRY% queue is left out: failed messages would never be consumed again")

    assert (read.kind, read.sentence) == (
        "",
        "a %RETRY% queue is left out: failed messages would never be consumed again",
    )
    assert read_risk(["tampered"]).sentence == '["tampered"]'
    assert risk_words("a kind of later", 3) == "a kind of later"
