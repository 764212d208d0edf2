from rebalance_engine.events import EXACT, Exactness, MemberSeen, Origin, Source
from rebalance_engine.model import MessageModel
from rebalance_engine.network.watcher.known import Known, KnownGroup


def seen(at: int, model: MessageModel | None) -> MemberSeen:
    source = Source(origin=Origin.ADMIN_ANSWER)
    return MemberSeen(at=at, source=source, exactness=EXACT, group="G", client="A", message_model=model)


def test_a_group_has_another_model_since_the_last_look_that_told_the_one_before() -> None:
    group, (clustering, broadcasting) = KnownGroup(), MessageModel
    told = [group.since_told(seen(at, model), at - 1) for at, model in ((5, clustering), (7, clustering), (8, None))]

    assert told == [Exactness.at_most(5), Exactness.at_most(7), EXACT]
    assert group.since_told(seen(9, broadcasting), 8) == Exactness.between(6, 9)


def test_nothing_is_known_before_anybody_watched() -> None:
    assert (Known().at, Known().brokers, Known().members) == (None, {}, {})
