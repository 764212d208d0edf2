from rebalance_engine.network.watcher.having import Having


def making(*brokers: str) -> Having:
    """Brokers that make a group with its first heartbeat."""
    having = Having()
    for broker in brokers:
        having.makes_heard(broker, is_on=True)
    return having


def test_a_broker_lacked_a_group_until_its_last_answer_without_it() -> None:
    having = making("east", "west")
    having.heard("east", ["H"], 10)
    having.heard("east", ["H"], 20)
    having.heard("west", ["H"], 25)
    before = having.lacked_at("G", "east")
    changed = [having.heard("east", ["G", "H"], at) for at in (30, 40)]

    assert (before, changed) == (20, [True, False])
    assert [having.lacked_at("G", broker) for broker in ("east", "west")] == [20, 25]
    assert (having.of("G"), having.groups, having.told_at) == ({"east"}, frozenset("GH"), 25)


def test_what_a_broker_has_at_its_first_answer_or_that_never_told_came_nobody_knows_when() -> None:
    having = making("east", "west")
    having.heard("east", ["G"], 10)

    assert [having.lacked_at("G", broker) for broker in ("east", "west", "north")] == [None, None, None]


def test_a_broker_that_did_not_answer_bounds_nothing_until_it_answers_again() -> None:
    having = making("east")
    having.heard("east", [], 10)
    having.missed("east")
    silent = having.lacked_at("G", "east")
    having.heard("east", ["H"], 20)

    assert (silent, having.lacked_at("H", "east"), having.lacked_at("G", "east")) == (None, None, 20)


def test_a_group_that_went_and_came_is_as_new_as_any() -> None:
    having = making("east")
    for at, groups in ((10, []), (20, ["G"]), (30, []), (40, ["G"])):
        having.heard("east", groups, at)

    assert having.lacked_at("G", "east") == 30


def test_a_broker_that_makes_no_group_by_itself_may_know_members_of_one_that_it_lacks() -> None:
    having = making("east")
    having.makes_heard("west", is_on=False)
    for broker in ("east", "west"):
        having.heard(broker, [], 10)
    before = [having.lacked_at("G", broker) for broker in ("east", "west")]
    having.makes_heard("east", is_on=False)
    having.makes_heard("east", is_on=True)
    switched = having.lacked_at("G", "east")
    having.heard("east", [], 20)

    assert (before, switched, having.lacked_at("G", "east")) == ([10, None], None, 20)


def test_a_broker_that_is_gone_counts_no_more() -> None:
    having = making("east", "west")
    having.heard("east", ["G"], 10)
    having.heard("west", [], 20)
    having.gone("east")

    assert (having.brokers, having.groups, having.told_at) == ({"west"}, frozenset(), 20)
