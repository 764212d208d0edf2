import pytest

from rebalance_engine.harmless import harmless


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("orders 订单 é", "orders 订单 é"),
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("one\ntwo\r", "one\\ntwo\\r"),
        ("\u202eabc", "\\u202eabc"),
        ("\x9b31m", "\\x9b31m"),
    ],
)
def test_what_a_terminal_would_obey_is_escaped_and_nothing_else(text: str, shown: str) -> None:
    assert harmless(text) == shown
