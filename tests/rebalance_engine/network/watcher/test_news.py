from dataclasses import replace

from rebalance_engine.events import EXACT, ConsumeType, MemberSeen, Origin, Source
from rebalance_engine.model import MessageModel
from rebalance_engine.network.watcher.news import is_same, merged

SOURCE = Source(origin=Origin.ADMIN_ANSWER)


def seen(at: int, language: str | None = None, *, is_orderly: bool | None = None) -> MemberSeen:
    return MemberSeen(
        at=at, source=SOURCE, exactness=EXACT, group="G", client="A", language=language, is_orderly=is_orderly
    )


def test_the_same_at_another_time_is_the_same() -> None:
    assert is_same(seen(1, "JAVA"), seen(2, "JAVA"))
    assert not is_same(seen(1, "JAVA"), seen(2, "GO"))
    assert not is_same(None, seen(1))


def test_what_a_broker_and_the_member_say_is_put_together() -> None:
    both = merged(seen(1, "JAVA"), seen(2, is_orderly=True))

    assert (both.language, both.is_orderly, both.at) == ("JAVA", True, 2)
    assert merged(None, seen(1)) == seen(1)


def test_that_it_takes_messages_by_pop_a_member_alone_knows() -> None:
    pops = replace(seen(1), consume_type=ConsumeType.POP)
    of_broker = replace(seen(2, "JAVA"), consume_type=ConsumeType.PUSH, message_model=MessageModel.CLUSTERING)

    both = merged(pops, of_broker)
    no_more = merged(merged(both, seen(3)), of_broker)

    assert (both.language, both.consume_type) == ("JAVA", ConsumeType.POP)
    assert no_more.consume_type is ConsumeType.PUSH
