from dashboard.common.fields import as_it_was, observed_at, printable, source_columns
from rebalance_engine.events import EXACT, Exactness, MemberJoined, Origin, Source
from tests.dashboard.story import T0


def fact(exactness: Exactness, observed: int | None = None) -> MemberJoined:
    source = Source(origin=Origin.BROKER_LOG, broker="east", detail="broker.log:3", observed_at=observed)
    return MemberJoined(at=T0, source=source, exactness=exactness, group="g", client="A")


def test_an_exact_fact_has_itself_as_both_bounds() -> None:
    columns = source_columns(fact(EXACT))

    assert (columns["at_low"], columns["at"], columns["at_high"]) == (T0, T0, T0)
    assert (columns["origin"], columns["observed_by"], columns["detail"]) == ("broker log", "east", "broker.log:3")


def test_a_bound_that_is_not_there_is_unknown() -> None:
    columns = source_columns(fact(Exactness.at_most(T0 + 5)))

    assert (columns["at_low"], columns["at_high"]) == (None, T0 + 5)


def test_a_fact_was_observed_when_it_happened_unless_it_says_otherwise() -> None:
    assert observed_at(fact(EXACT)) == T0
    assert observed_at(fact(EXACT, T0 + 7)) == T0 + 7


def test_texts_for_people_are_made_storable() -> None:
    odd = "a\0b\ud800<é>"

    assert printable(odd) == r"a\u0000b\ud800<é>"
    assert as_it_was(printable(odd)) == odd
    assert as_it_was(r"C:\users\u0041") == r"C:\users\u0041"
