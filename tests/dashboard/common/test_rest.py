from dashboard.common.rest import Rest


def test_what_did_not_answer_is_left_alone_until_its_time_is_over_or_it_answers() -> None:
    now = [100.0]
    rest = Rest(for_s=30, clock=lambda: now[0])
    assert not rest.is_on

    rest.begin()
    now[0] = 129.9
    assert rest.is_on
    now[0] = 130.0
    assert not rest.is_on

    rest.begin()
    rest.end()
    assert not rest.is_on
