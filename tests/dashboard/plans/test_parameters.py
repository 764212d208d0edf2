import pytest

from dashboard.plans.parameters import read_params
from dashboard.plans.questions import BadQuestion
from rebalance_engine.allocation import strategy


def test_parameters_are_read_as_strategies_take_them() -> None:
    rooms = read_params('{"consumer_idcs": ["room"]}')
    nearby = read_params(
        '{"inner": "AVG", "broker_room": {"rule": "prefix", "separator": "-"},'
        ' "client_room": {"rule": "table", "rooms": {}, "otherwise": "x"}}'
    )

    assert read_params("") == {}
    assert strategy("MACHINE_ROOM", **rooms).name == "MACHINE_ROOM"
    assert strategy("MACHINE_ROOM_NEARBY", **nearby).name == "MACHINE_ROOM_NEARBY-AVG"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("{", "no JSON"),
        ("{]", "no sense from character 2 on; needed is"),
        ("[" * 100_000, "too much to read"),
        ("[]", "no JSON object; needed is"),
        ('{"\\ud800": 1}', "have half a character"),
        ('{"inner": "\\udfff"}', "have half a character"),
        ('{"config": {}}', "'config' is no parameter of a dry run"),
        ('{"virtual_nodes": 1000000}', "a dry run takes 0 to 1,000"),
        ('{"virtual_nodes": "many"}', "a dry run takes 0 to 1,000"),
        ('{"broker_room": {"rule": "pattern", "pattern": "(a+)+$"}}', "no rule by prefix or table"),
        ('{"client_room": "room"}', "no rule by prefix or table"),
        ('{"consumer_idcs": "room"}', "no list of rooms"),
    ],
)
def test_what_could_run_long_or_makes_no_sense_is_refused(text: str, why: str) -> None:
    with pytest.raises(BadQuestion, match=why):
        read_params(text)


def test_all_mistakes_are_said_at_once() -> None:
    with pytest.raises(BadQuestion) as bad:
        read_params('{"config": 1, "virtual_nodes": "many", "consumer_idcs": 3}')
    assert [problem.split()[0] for problem in bad.value.problems] == ["'config'", "virtual_nodes", "consumer_idcs"]
