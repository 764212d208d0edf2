from pathlib import Path

import pytest

from rebalance_engine.embedded.settings import EmbeddedSettings
from rebalance_engine.embedded.transactions import GIVEN_UP_TOPIC
from rebalance_engine.remoting.bodies.clients import HeartbeatData, ProducerData
from rebalance_engine.remoting.codes import ResponseCode
from rebalance_engine.remoting.messages import decode_messages
from rebalance_engine.remoting.requests.contract import Refused, Response
from rebalance_engine.remoting.requests.membership import HeartBeat
from rebalance_engine.remoting.requests.producing import CheckTransactionState, EndTransaction, SendMessageResponse
from tests.rebalance_engine.embedded.desk import START, Desk, messages, pulling, sending, settings

COMMIT, ROLLBACK, UNKNOWN = 8, 12, 0
INTERVAL_MS = 30_000


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return opened(tmp_path)


def opened(directory: Path, version: str = "5.5.0", **more: int) -> Desk:
    made = Desk(directory, EmbeddedSettings(membership=settings(version), **more))  # type: ignore[arg-type]  # numbers
    made.put_topic("orders", 2)
    return made


@pytest.fixture
def producer(desk: Desk) -> int:
    return begun(desk)


def begun(desk: Desk) -> int:
    channel = desk.connect()
    beat = HeartbeatData(client_id="P", producer_data_set=(ProducerData(group_name="PG"),))
    desk.get(channel, HeartBeat(body=beat))
    return channel


def prepare(desk: Desk, channel: int, body: str = "half", **properties: str) -> SendMessageResponse:
    given = {"TRAN_MSG": "true", "PGROUP": "PG", "UNIQ_KEY": f"id of {body}", "TAGS": "T", **properties}
    return desk.get(channel, sending("orders", body, 1, **given))


def ending(sent: SendMessageResponse, what: int = COMMIT, *, offset: int | None = None, group: str = "PG",
           checked: bool = False) -> EndTransaction:  # fmt: skip
    return EndTransaction(
        producer_group=group,
        tran_state_table_offset=sent.queue_offset if offset is None else offset,
        commit_log_offset=int(sent.msg_id[-16:], 16),
        commit_or_rollback=what,
        msg_id="x",
        from_transaction_check=checked,
    )


def asked(desk: Desk) -> list[CheckTransactionState]:
    questions = [push.request for push in desk.pushed if isinstance(push.request, CheckTransactionState)]
    desk.pushed.clear()
    return questions


def answering(question: CheckTransactionState, what: int) -> EndTransaction:
    """As ``MQClientAPIImpl.endTransactionOneway`` after a check."""
    return EndTransaction(
        producer_group="PG",
        tran_state_table_offset=question.tran_state_table_offset,
        commit_log_offset=question.commit_log_offset,
        commit_or_rollback=what,
        msg_id=question.msg_id or "",
        from_transaction_check=True,
    )


def seen(desk: Desk, topic: str = "orders", queue_id: int = 1) -> list[bytes]:
    end = desk.broker.core.store.end(topic, queue_id)
    return [decode_messages(data)[0].body for data in desk.broker.core.store.messages(topic, queue_id, 0, end)]


# ---- decided by the producer ----


def test_a_prepared_message_is_seen_by_nobody_until_it_is_committed(desk: Desk, producer: int) -> None:
    consumer = desk.connect()
    desk.join(consumer, "G", "orders")
    sent = prepare(desk, producer, SHARE="a")
    waiting = desk.begin(consumer, pulling("orders", 0, 1))
    assert (sent.queue_id, sent.queue_offset, sent.transaction_id) == (1, 0, "id of half")
    assert (consumer, waiting) not in desk.answers

    assert desk.get(producer, ending(sent)) == Response()

    (got,) = messages(desk.answers[consumer, waiting])
    assert (got.topic, got.queue_id, got.queue_offset, got.body) == ("orders", 1, 0, b"half")
    assert (got.sys_flag & 12, got.prepared_transaction_offset) == (COMMIT, int(sent.msg_id[-16:], 16))
    kept = got.properties
    assert kept["SHARE"] == "a" and kept["__transactionId__"] == "id of half"
    assert not kept.keys() & {"TRAN_MSG", "REAL_TOPIC", "REAL_QID"}


def test_one_that_is_rolled_back_is_never_seen_nor_asked_about(desk: Desk, producer: int) -> None:
    sent = prepare(desk, producer)

    assert desk.get(producer, ending(sent, ROLLBACK)) == Response()
    desk.wait(10 * INTERVAL_MS)

    assert (seen(desk), asked(desk)) == ([], [])


@pytest.mark.parametrize(
    ("change", "remark"),
    [
        ({"group": "other"}, "The producer group wrong"),
        ({"offset": 7}, "The transaction state table offset wrong"),
    ],
)
def test_who_ends_what_he_did_not_begin_is_refused(
    desk: Desk, producer: int, change: dict[str, str | int], remark: str
) -> None:
    sent = prepare(desk, producer)

    refused = desk.refused(producer, ending(sent, **change))  # type: ignore[arg-type]  # as there

    assert (refused.code, refused.remark, seen(desk)) == (ResponseCode.SYSTEM_ERROR, remark, [])


def test_what_was_not_prepared_cannot_be_ended(desk: Desk, producer: int) -> None:
    sent = desk.send(producer, "orders", "plain", 1)

    refused = desk.refused(producer, ending(sent))

    assert refused.remark == "Find prepared transaction message failed"
    assert seen(desk) == [b"plain"]


def test_who_does_not_know_yet_is_not_answered_and_asked_later(desk: Desk, producer: int) -> None:
    sent = prepare(desk, producer)
    token = desk.begin(producer, ending(sent, UNKNOWN))
    desk.wait(INTERVAL_MS + 1)

    assert (producer, token) not in desk.answers
    assert len(asked(desk)) == 1


# ---- asked about ----


def test_a_producer_is_asked_about_what_it_forgot_and_its_answer_counts(desk: Desk, producer: int) -> None:
    prepare(desk, producer)
    desk.wait(INTERVAL_MS + 1)

    (question,) = asked(desk)
    (about,) = decode_messages(question.body)
    assert (about.topic, about.queue_id, about.body, question.bname) == ("orders", 1, b"half", "east")
    assert (about.properties["TRANSACTION_CHECK_TIMES"], question.msg_id) == ("1", "id of half")

    desk.get(producer, answering(question, COMMIT))
    desk.wait(10 * INTERVAL_MS)

    assert (seen(desk), asked(desk)) == ([b"half"], [])


def test_nobody_is_asked_about_what_is_fresh(desk: Desk, producer: int) -> None:
    desk.wait(INTERVAL_MS - 1_000)
    desk.get(producer, sending("orders", "late", 1, TRAN_MSG="true", PGROUP="PG", CHECK_IMMUNITY_TIME_IN_SECONDS="60"))
    desk.wait(INTERVAL_MS)
    assert asked(desk) == []

    desk.wait(INTERVAL_MS)

    assert len(asked(desk)) == 1


def test_one_with_a_time_of_its_own_is_not_decided_after_it_but_by_asking(desk: Desk, producer: int) -> None:
    sent = prepare(desk, producer, CHECK_IMMUNITY_TIME_IN_SECONDS="10")
    desk.wait(11_000)

    refused = desk.refused(producer, ending(sent))
    desk.wait(INTERVAL_MS)
    (question,) = asked(desk)
    desk.get(producer, answering(question, COMMIT))

    assert (refused.code, seen(desk)) == (ResponseCode.ILLEGAL_OPERATION, [b"half"])


def test_what_nobody_ever_decides_is_given_up(desk: Desk, producer: int) -> None:
    """``transactionCheckMax`` 15."""
    prepare(desk, producer)
    questions = 0
    for _ in range(20):
        desk.wait(INTERVAL_MS)
        questions += len(asked(desk))
        desk.get(
            producer, HeartBeat(body=HeartbeatData(client_id="P", producer_data_set=(ProducerData(group_name="PG"),)))
        )

    assert (questions, seen(desk), seen(desk, GIVEN_UP_TOPIC, 0)) == (15, [], [b"half"])


def test_while_no_producer_is_there_nothing_is_lost(desk: Desk, producer: int) -> None:
    prepare(desk, producer)
    desk.disconnect(producer)
    desk.wait(2 * INTERVAL_MS)
    assert asked(desk) == []

    again = begun(desk)
    desk.wait(INTERVAL_MS)
    (question,) = asked(desk)
    desk.get(again, answering(question, COMMIT))

    assert seen(desk) == [b"half"]


@pytest.mark.parametrize(("version", "interval_ms"), [("5.5.0", 30_000), ("4.9.7", 60_000)])
def test_releases_ask_at_their_own_pace(tmp_path: Path, version: str, interval_ms: int) -> None:
    desk = opened(tmp_path, version)
    prepare(desk, begun(desk))

    desk.wait(interval_ms - 1)
    assert asked(desk) == []

    desk.wait(1)
    assert len(asked(desk)) == 1


# ---- through a restart ----


@pytest.mark.parametrize("version", ["5.5.0", "4.9.7"])
@pytest.mark.parametrize("crashes", [False, True])
def test_what_was_decided_and_what_not_survives_a_restart(tmp_path: Path, version: str, *, crashes: bool) -> None:
    desk = opened(tmp_path, version, transaction_timeout_ms=1, checks_transactions_every_ms=1_000)
    producer = begun(desk)
    for body, what in (("yes", COMMIT), ("no", ROLLBACK)):
        desk.get(producer, ending(prepare(desk, producer, body), what))
    prepare(desk, producer, "open")
    desk.wait(1_000)  # it was asked about before, too
    desk.pushed.clear()

    desk.restart(crashes=crashes)
    producer = begun(desk)
    desk.wait(1_000)

    (question,) = asked(desk)
    desk.get(producer, answering(question, COMMIT))
    assert (question.msg_id, seen(desk)) == ("id of open", [b"yes", b"open"])


def test_a_delay_begins_with_the_commit(desk: Desk, producer: int) -> None:
    sent = prepare(desk, producer, DELAY="1")
    desk.wait(5_000)

    desk.get(producer, ending(sent))
    early = seen(desk)
    desk.wait(1_001)

    assert (early, seen(desk)) == ([], [b"half"])


def test_one_that_is_too_large_is_refused(tmp_path: Path) -> None:
    desk = opened(tmp_path, max_message_bytes=9)

    answer = desk.ask(begun(desk), sending("orders", "0123456789", TRAN_MSG="true", PGROUP="PG"))

    assert isinstance(answer, Refused) and answer.code == ResponseCode.MESSAGE_ILLEGAL
    assert desk.now == START
