r"""A by-config assignment as Java: what stock members would need to be given, one strategy object for each.

Names are written as string literals, escaped as the Java Language Specification has it (3.3, 3.10.5): ``\uXXXX`` is
read before anything else, so that quotes, backslashes and line ends need escapes of their own. No name from outside
stands anywhere else: in a comment it could end it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from rebalance_engine.model import MessageQueue

MOST_CALLS = 1_000  # of one method: its code must stay below 64 KiB (JVMS 4.7.3)
_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}

HEAD = """\
import java.util.ArrayList;
import java.util.List;

import org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueByConfig;
import org.apache.rocketmq.common.message.MessageQueue;

/**
 * What each member of the group is to consume, version {version} of its by-config assignment in Evenkeel.
 *
 * Give each consumer its own, before it starts:
 * {{@code consumer.setAllocateMessageQueueStrategy(ByConfigAssignment.forClient(clientId))}}, where the client id is
 * what {{@code consumer.buildMQClientId()}} answers once address and instance name are set.
 *
 * A stock member answers the same list for every topic that it is asked about, its retry topic included, and does not
 * learn of later versions: restart it with a new one.
 */
public final class ByConfigAssignment {{
    public static final String CLUSTER = {cluster};
    public static final String GROUP = {group};
    public static final int VERSION = {version};

    private ByConfigAssignment() {{
    }}

    /** The strategy of one member; an {{@link IllegalArgumentException}} for a client that nothing is said about. */
    public static AllocateMessageQueueByConfig forClient(String clientId) {{
        AllocateMessageQueueByConfig strategy = new AllocateMessageQueueByConfig();
        strategy.setMessageQueueList(queuesOf(clientId));
        return strategy;
    }}

    /** The queues of one member; an {{@link IllegalArgumentException}} for a client that nothing is said about. */
    public static List<MessageQueue> queuesOf(String clientId) {{
"""

TAIL = """\
        throw new IllegalArgumentException("nothing is said about the client " + clientId);
    }
"""

ADD = """\

    /** Adds the queues of one topic on one broker from {@code first} to {@code last}. */
    private static void add(List<MessageQueue> queues, String topic, String broker, int first, int last) {
        for (int number = first; number <= last; number++) {
            queues.add(new MessageQueue(topic, broker, number));
        }
    }
}
"""


@dataclass(frozen=True, slots=True)
class Naming:
    """What the class says of itself."""

    cluster: str
    group: str
    version: int


def write_java(assignment: Mapping[str, Iterable[MessageQueue]], naming: Naming) -> str:
    """Write the class, in ASCII."""
    members = [(client, _calls(queues)) for client, queues in sorted(assignment.items())]
    parts = [
        HEAD.format(cluster=literal(naming.cluster), group=literal(naming.group), version=naming.version),
        *_choices([client for client, _ in members]),
    ]
    for number, (_, calls) in enumerate(members):
        parts.append(_member(number, calls))
    return "".join([*parts, ADD])


def literal(text: str) -> str:
    """Write a string literal: ASCII, in UTF-16 units, which lone surrogates are too."""
    return f'"{"".join(map(_escaped, text))}"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if " " <= character <= "~":
        return character
    if character < " " or character == "\x7f":
        return f"\\{ord(character):03o}"
    units = character.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[place]:02x}{units[place + 1]:02x}" for place in range(0, len(units), 2))


def _choices(clients: list[str]) -> list[str]:
    """Write who gets which method; in several methods where there are many clients."""
    if len(clients) <= MOST_CALLS:
        return [*(_choice(number, client) for number, client in enumerate(clients)), TAIL]
    chunks = [range(start, min(start + MOST_CALLS, len(clients))) for start in range(0, len(clients), MOST_CALLS)]
    parts = [
        f"        List<MessageQueue> of{n} = among{n}(clientId);\n        if (of{n} != null) {{\n"
        f"            return of{n};\n        }}\n"
        for n in range(len(chunks))
    ]
    parts.append(TAIL)
    for n, chunk in enumerate(chunks):
        parts.append(f"\n    private static List<MessageQueue> among{n}(String clientId) {{\n")
        parts += [_choice(number, clients[number]) for number in chunk]
        parts.append("        return null;\n    }\n")
    return parts


def _choice(number: int, client: str) -> str:
    return f"        if ({literal(client)}.equals(clientId)) {{\n            return member{number}();\n        }}\n"


def _member(number: int, calls: list[str]) -> str:
    chunks = [calls[start : start + MOST_CALLS] for start in range(0, len(calls), MOST_CALLS)] or [[]]
    parts = [f"\n    private static List<MessageQueue> member{number}() {{\n"]
    parts.append("        List<MessageQueue> queues = new ArrayList<>();\n")
    if len(chunks) == 1:
        parts += [f"        {call}\n" for call in chunks[0]]
    else:
        parts += [f"        member{number}Part{n}(queues);\n" for n in range(len(chunks))]
    parts.append("        return queues;\n    }\n")
    if len(chunks) > 1:
        for n, chunk in enumerate(chunks):
            parts.append(f"\n    private static void member{number}Part{n}(List<MessageQueue> queues) {{\n")
            parts += [f"        {call}\n" for call in chunk]
            parts.append("    }\n")
    return "".join(parts)


def _calls(queues: Iterable[MessageQueue]) -> list[str]:
    """Write one call for neighbours."""
    calls, ordered = list[str](), sorted(set(queues))
    place = 0
    while place < len(ordered):
        end = place
        while end + 1 < len(ordered) and ordered[end + 1] == ordered[end]._replace(queue_id=ordered[end].queue_id + 1):
            end += 1
        first = ordered[place]
        names = f"{literal(first.topic)}, {literal(first.broker)}"
        calls.append(f"add(queues, {names}, {first.queue_id}, {ordered[end].queue_id});")
        place = end + 1
    return calls
