from rebalance_engine.events import EXACT, MemberSeen, Origin, Source
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
