import pytest

from rebalance_engine.model import MessageQueue
from rebalance_engine.producer import Sent
from rebalance_engine.producer.send_loop import Error, Failed
from rebalance_engine.remoting.requests.producing import SendMessageResponse
from rebalance_engine.simulation.breach import Breach, Weather
from rebalance_engine.simulation.clock import EPOCH, Clock
from rebalance_engine.simulation.sending import SendBook

QUEUE = MessageQueue("orders", "east", 0)
FAILED = Failed(error=Error.CLIENT, text="nobody is there")


@pytest.fixture
def book() -> SendBook:
    made = SendBook(Clock(), Weather(), ("east",))
    made.begun(b"P 0")
    return made


def sent(offset: int) -> Sent:
    return Sent(queue=QUEUE, response=SendMessageResponse(msg_id="1", queue_id=0, queue_offset=offset))


def test_a_message_is_where_its_producer_heard(book: SendBook) -> None:
    book.stored(QUEUE, 3, b"P 0")

    book.ended(b"P 0", sent(3))

    book.check_ended()


def test_a_message_that_is_not_where_its_producer_heard(book: SendBook) -> None:
    book.stored(QUEUE, 3, b"P 0")

    with pytest.raises(Breach, match="P 0 is not at orders/east/0 4"):
        book.ended(b"P 0", sent(4))


def test_a_message_that_nobody_sent(book: SendBook) -> None:
    with pytest.raises(Breach, match="a message at 0 that nobody sent"):
        book.stored(QUEUE, 0, b"P 1")


def test_a_message_is_stored_once_where_nothing_is_wrong(book: SendBook) -> None:
    book.stored(QUEUE, 0, b"P 0")

    with pytest.raises(Breach, match="P 0 is stored 2 times"):
        book.stored(QUEUE, 1, b"P 0")


def test_a_lost_answer_excuses_a_second_one_and_a_failure(book: SendBook) -> None:
    book.weather.turns_foul(EPOCH, EPOCH + 10, "east")

    book.stored(QUEUE, 0, b"P 0")
    book.stored(QUEUE, 1, b"P 0")
    book.ended(b"P 0", FAILED)


def test_what_was_given_up_may_still_arrive(book: SendBook) -> None:
    book.weather.turns_foul(EPOCH, EPOCH + 10, "east")
    book.ended(b"P 0", FAILED)

    book.stored(QUEUE, 0, b"P 0")

    book.check_ended()


def test_a_message_that_cannot_be_sent_though_nothing_is_wrong(book: SendBook) -> None:
    with pytest.raises(Breach, match="P 0 could not be sent"):
        book.ended(b"P 0", FAILED)


def test_a_call_that_never_ends(book: SendBook) -> None:
    book.clock.run_until(EPOCH + 99_000)

    with pytest.raises(Breach, match="nobody was told"):
        book.check_ended()
