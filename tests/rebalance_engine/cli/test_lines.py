import json
import time

import pytest

from rebalance_engine.cli.lines import put, queue_name, say
from rebalance_engine.model import MessageQueue


def test_a_line_is_one_object_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    before = time.time_ns() // 1_000_000
    say("got", queue="orders/east/0", offset=7, body="é\n")
    say("held", 5, queues=[])
    put({"saw": "ready"})

    first, second, third = map(json.loads, capsys.readouterr().out.splitlines())
    assert first.pop("ms") >= before
    assert first == {"saw": "got", "queue": "orders/east/0", "offset": 7, "body": "é\n"}
    assert (second, third) == ({"ms": 5, "saw": "held", "queues": []}, {"saw": "ready"})


def test_a_queue_is_named_in_three_parts() -> None:
    assert queue_name(MessageQueue("orders", "east", 3)) == "orders/east/3"
