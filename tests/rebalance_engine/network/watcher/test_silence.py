from rebalance_engine.network.watcher.silence import MOST_SERVERS, Silences

BOTH = frozenset({"names:1", "east:1"})


def test_a_server_is_silent_since_the_first_question_that_it_did_not_answer() -> None:
    silences = Silences()
    silences.answered("east:1", 5)
    for at in (10, 20):
        silences.missed("east:1", "east", at, "refused")
        silences.missed("names:1", None, at, "late")

    names, east = silences.silent(BOTH)

    assert (names.server, names.broker, names.since, names.answered_at, names.why) == ("names:1", "", 10, None, "late")
    assert (east.server, east.broker, east.since, east.answered_at) == ("east:1", "east", 10, 5)
    assert silences.answered_at == 5


def test_a_server_that_answers_again_is_silent_no_more() -> None:
    silences = Silences()
    silences.missed("east:1", "east", 10, "refused")
    silences.answered("east:1", 20)

    assert silences.silent(BOTH) == ()
    assert silences.has_told("east:1")
    assert silences.answered_at == 20


def test_a_server_that_nobody_asks_any_more_is_not_named() -> None:
    silences = Silences()
    silences.missed("gone:1", "gone", 10, "refused")

    assert silences.silent(BOTH) == ()


def test_many_silent_servers_are_named_up_to_a_bound() -> None:
    silences = Silences()
    servers = [f"broker-{number}:1" for number in range(MOST_SERVERS + 5)]
    for server in servers:
        silences.missed(server, "b", 10, "refused")

    assert len(silences.silent(frozenset(servers))) == MOST_SERVERS
