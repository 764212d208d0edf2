from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from dashboard.plans import java
from dashboard.plans.java import Naming, literal, write_java
from rebalance_engine.findings import spell
from rebalance_engine.model import MessageQueue
from tests.peers import maven

NAMING = Naming("shop", "billing", 3)
HOSTILE = ['"; System.exit(1); //', "*/ }", "a\\u000a\\", "\u2028\n\r\t\0\x7f", "\U0001f40a\ud800", "%RETRY%g", "{0}"]
LISTS = {
    "10.0.0.1@7": [MessageQueue("orders", "east", number) for number in (0, 1, 2, 5)],
    **{name: [MessageQueue(name, name, 0)] for name in HOSTILE},
    "nothing": [],
}
PRINTER = """
public final class Printing {
    public static void main(String[] names) throws Exception {
        StringBuilder out = new StringBuilder();
        for (String client : new String[] {CLIENTS}) {
            out.append(ByConfigAssignment.forClient(client).getName());
            for (org.apache.rocketmq.common.message.MessageQueue queue
                    : ByConfigAssignment.forClient(client).allocate("g", client, null, null)) {
                out.append("\\t");
                out.append(hex(queue.getTopic() + "/" + queue.getBrokerName() + "/" + queue.getQueueId()));
            }
            out.append("\\n");
        }
        try {
            ByConfigAssignment.forClient("nobody");
        } catch (IllegalArgumentException refused) {
            out.append(refused.getMessage());
        }
        System.out.println(out);
    }

    private static String hex(String text) {
        StringBuilder out = new StringBuilder();
        for (char unit : text.toCharArray()) {
            out.append(String.format("%04x", (int) unit));
        }
        return out.toString();
    }
}
"""


def test_a_name_is_a_literal_in_ascii_that_nothing_ends() -> None:
    assert literal("10.0.0.1@7") == '"10.0.0.1@7"'
    assert literal('"\\\n\r\t') == '"\\"\\\\\\n\\r\\t"'
    assert literal("\0\x7f") == '"\\000\\177"'
    assert literal("é\U0001f40a\ud800") == '"\\u00e9\\ud83d\\udc0a\\ud800"'
    assert literal("\\u0022") == '"\\\\u0022"'


def test_neighbours_are_one_call_and_names_stand_in_literals_only() -> None:
    text = write_java(LISTS, NAMING)

    assert text.isascii()
    assert 'add(queues, "orders", "east", 0, 2);\n        add(queues, "orders", "east", 5, 5);' in text
    assert "exit(1); //" not in text.replace(literal(HOSTILE[0]), "")
    assert "VERSION = 3;" in text


def units(text: str) -> str:
    return text.encode("utf-16-be", "surrogatepass").hex()


@pytest.mark.java
@pytest.mark.parametrize("release", ["5.5.0", "4.9.7"])
@pytest.mark.parametrize("most_calls", [java.MOST_CALLS, 1])
def test_javac_takes_it_and_each_member_is_given_its_list(
    release: str, most_calls: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(java, "MOST_CALLS", most_calls)
    (tmp_path / "ByConfigAssignment.java").write_text(write_java(LISTS, NAMING))
    clients = ", ".join(map(literal, LISTS))
    (tmp_path / "Printing.java").write_text(PRINTER.replace("CLIENTS", clients))
    path = maven.program("clients", release).class_path
    javac = shutil.which("javac")
    assert javac is not None

    compiled = subprocess.run(
        [javac, "-Xlint:all", "-Werror", "-proc:none", "--release", "8", "-Xlint:-options", "-cp", path, "-d", tmp_path,
         *tmp_path.glob("*.java")],
        capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip
    assert compiled.returncode == 0, compiled.stderr + compiled.stdout
    ran = subprocess.run(
        ["java", "-cp", f"{tmp_path}:{path}", "Printing"], capture_output=True, text=True, check=True, timeout=120
    )

    lines = ran.stdout.splitlines()
    for line, (_client, queues) in zip(lines, LISTS.items(), strict=False):
        assert line.split("\t") == ["CONFIG", *(units(spell(queue)) for queue in queues)]
    assert lines[len(LISTS)] == "nothing is said about the client nobody"
