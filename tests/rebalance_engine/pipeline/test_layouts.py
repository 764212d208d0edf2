import pytest

from rebalance_engine.pipeline.layouts import BROKER, CPP, GO, HISTORY, JAVA4, JAVA5, Layout, find_layout

LINES = [
    (
        "2026-11-21 16:13:42.651 INFO  [12627] [main] [o.a.r.c.i.c.DefaultMQPushConsumerImpl#?:?] - the consumer",
        JAVA5,
    ),
    ("2026-11-21 16:13:42.651 WARN  [7] [a] b [c] [RocketmqRemoting#run:12] - x", JAVA5),
    ("2026-11-21 08:21:41,763 INFO RocketmqClient - doRebalance\r", JAVA4),
    ("2026-11-21 08:21:41,401 DEBUG io.netty.util.NetUtil - -Djava.net.preferIPv4Stack: false", JAVA4),
    ("2026-11-21 16:17:58 INFO HeartbeatThread_2 - new consumer connected", BROKER),
    ("[2026-11-21 16:17:58.123456](info):Add mq:MessageQueue[addMessageQueue:12]", CPP),
    ('time="2026-11-21T16:17:58+08:00" level=info msg="MessageQueue do balance done"', GO),
    ('time="2026-11-21T16:17:58.123456+08:00" level=info msg="MessageQueue do balance done"', GO),
    ('time="2026-11-21T08:17:58.5Z" level=info msg="MessageQueue do balance done"', GO),
    ('{"v":1,"event":"MemberJoined","at":1700000000000}', HISTORY),
]


@pytest.mark.parametrize(("line", "layout"), LINES)
def test_a_line_tells_its_layout(line: str, layout: Layout) -> None:
    assert find_layout([line]) is layout


def test_most_lines_decide() -> None:
    trace = ["\tat java.base/java.lang.Thread.run(Thread.java:840)"] * 9

    assert find_layout([*trace, LINES[2][0], LINES[0][0], LINES[1][0]]) is JAVA5


@pytest.mark.parametrize("line", ["", "hello", "2026-11-21", "21 Nov 2026 INFO main - x", "20"])
def test_a_foreign_line_has_no_layout(line: str) -> None:
    assert find_layout([line]) is None


def test_the_layouts_that_no_real_log_has_proved_say_so() -> None:
    assert [layout.name for layout in (JAVA5, JAVA4, BROKER, CPP, GO) if not layout.is_verified] == ["cpp", "go"]
