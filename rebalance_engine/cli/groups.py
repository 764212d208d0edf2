"""The consumer groups of a cluster: who is online, what they consume, and whether the brokers agree about it.

    evenkeel groups --namesrv 127.0.0.1:9876
    evenkeel groups --namesrv 127.0.0.1:9876 --online

It asks every master for its groups, and for the members of each group. The exit status is 1 if nobody answered.
"""

from __future__ import annotations

import argparse
import sys

from rebalance_engine.cli.asking import add_asking_arguments, as_json, ask
from rebalance_engine.cli.terminal import Column, count, paper_of, safe, show, table
from rebalance_engine.network.admin import Admin
from rebalance_engine.network.looking import ids_of
from rebalance_engine.network.surveying import SURVEY_S, GroupLine, Survey, look_at_groups

UNKNOWN = "?"
MOST_TROUBLES = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """State what the command takes."""
    parser.description = __doc__
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    add_asking_arguments(parser, timeout_s=SURVEY_S)
    parser.add_argument("--online", action="store_true", help="only groups in which somebody is online, or may be")
    parser.add_argument("--own", action="store_true", help="RocketMQ's own groups too")


def run(asked: argparse.Namespace) -> int:
    """List them."""

    async def main(admin: Admin, _: object) -> int:
        survey = await look_at_groups(admin, deadline_s=asked.timeout, own=asked.own)
        groups = [one for one in survey.groups if not asked.online or one.clients or not one.is_complete]
        show([as_json(describe(one)) for one in groups] if asked.json else _lines(survey, groups))
        return 0 if any(heard.value is not None for heard in survey.configs.values()) else 1

    return ask(asked, main)


def describe(line: GroupLine) -> dict[str, object]:
    """Say what is known of a group; None is unknown."""
    return {
        "group": line.group,
        "members": len(line.clients) if line.is_complete else None,
        "members_at_least": len(line.clients),
        "by_broker": {
            name: None if heard.trouble is not None else len(ids_of(heard.value)) for name, heard in line.lists.items()
        },
        "model": next((told.message_model.value for told in line.told if told.message_model), None),
        "topics": sorted({topic for told in line.told for topic in told.subscription_table}),
        "brokers_agree": line.agree if line.is_complete else None,
        "missing": {name: heard.why for name, heard in line.lists.items() if heard.trouble is not None},
    }


def _lines(survey: Survey, groups: list[GroupLine]) -> list[str]:
    paper = paper_of(sys.stdout)
    rows = [_row(line) for line in sorted(groups, key=lambda line: (not line.clients, line.group))]
    columns = [
        Column("GROUP", shrinks=True),
        Column("MEMBERS", is_number=True),
        Column("MODEL"),
        Column("TOPICS", shrinks=True),
        Column("BROKERS"),
    ]
    where = f" on {safe(survey.cluster)}" if survey.cluster else ""
    lines = [f"{_how_many(survey, len(rows))}{where}"]
    if rows:
        lines += ["", *table(columns, rows, paper)]
    troubles = [
        *(heard.why for heard in survey.name_servers.values() if heard.trouble is not None),
        *(heard.why for heard in survey.configs.values() if heard.trouble is not None),
        *(
            f"{line.group}: {heard.why}"
            for line in groups
            for heard in line.lists.values()
            if heard.trouble is not None
        ),
    ]
    if troubles:
        lines += ["", paper.ink(f"Missing: {len(troubles):,}", "bold")]
        lines += [f"  {safe(trouble)}" for trouble in troubles[:MOST_TROUBLES]]
    if len(troubles) > MOST_TROUBLES:
        lines.append(f"  and {len(troubles) - MOST_TROUBLES:,} more")
    return lines


def _how_many(survey: Survey, seen: int) -> str:
    """Count groups, as far as that is known: a master that did not answer may have more, and nobody's word is none."""
    answered = [heard.value is not None for heard in survey.configs.values()]
    if not any(answered):
        return "It is unknown which groups there are: no broker said so"
    if all(answered) and all(heard.value is not None for heard in survey.name_servers.values()):
        return count(seen, "group")
    return f"{count(seen, 'group')}, and perhaps more"


def _row(line: GroupLine) -> list[str]:
    known = describe(line)
    members = (
        str(len(line.clients)) if line.is_complete else f"{len(line.clients)}+{UNKNOWN}" if line.clients else UNKNOWN
    )
    topics = [safe(topic, 100) for told in line.told[:1] for topic in sorted(told.subscription_table)]
    agree = "agree" if line.agree else "differ"
    brokers = (
        agree if line.is_complete else f"{agree}, {sum(h.trouble is not None for h in line.lists.values())} missing"
    )
    model = str(known["model"] or "").lower()
    return [safe(line.group, 100), members, model, ", ".join(topics), brokers if line.clients else ""]
