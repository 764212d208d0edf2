"""Make the catalogues of words anew: ``make messages`` reads all words of the project and merges what was translated.

==========  ======================================================  ===============================
domain      words from                                              put into pages by
==========  ======================================================  ===============================
django      templates and the dashboard's Python: marked ones       Django
djangojs    ``static/js``: marked ones                              ``lib/words.js``
sayings     sentences that are stored in English: all of them in    ``dashboard/common/sayings.py``
            the files that ``SAYINGS`` names
==========  ======================================================  ===============================

A new word stands in the catalogue with an empty translation; one that nobody says any more is dropped.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from enum import Enum
from pathlib import Path

import django
from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po

from dashboard.api.reported import ABOUT, NEEDED
from rebalance_engine.effects import Failure
from rebalance_engine.events import Departure, DropReason, Missing, Origin
from rebalance_engine.findings.unrest import OF_MEMBERS
from tests.house.project import ROOT, files, is_vendored
from tests.house.sayings import operations_in, sayings_of

LANGUAGE = "zh_Hans"
CATALOGUES = ROOT / "dashboard" / "locale" / LANGUAGE / "LC_MESSAGES"
KEYWORDS: dict[str, tuple[int | tuple[int, str], ...] | None] = {
    "_": None,
    "gettext": None,
    "gettext_lazy": None,
    "gettext_noop": None,
    "ngettext": (1, 2),
    "ngettext_lazy": (1, 2),
    "pgettext": ((1, "c"), 2),
    "pgettext_lazy": ((1, "c"), 2),
    "npgettext": ((1, "c"), 2, 3),
}
SAYINGS = (
    "dashboard/clusters/calling.py",
    "dashboard/audit/queries.py",
    "dashboard/clusters/orders.py",
    "dashboard/clusters/recording/routes.py",
    "dashboard/config/carrying.py",
    "dashboard/demo/control.py",
    "dashboard/demo/orders.py",
    "dashboard/demo/stage.py",
    "dashboard/groups/acknowledging.py",
    "dashboard/groups/beside.py",
    "dashboard/groups/deciding.py",
    "dashboard/groups/partly.py",
    "dashboard/groups/recording/configured.py",
    "dashboard/groups/recording/exactly.py",
    "dashboard/groups/recording/killed.py",
    "dashboard/groups/recording/members.py",
    "dashboard/groups/recording/orders.py",
    "dashboard/groups/rules.py",
    "dashboard/groups/storing.py",
    "dashboard/groups/unjudged.py",
    "dashboard/groups/vanished.py",
    "dashboard/plans/assignments.py",
    "dashboard/plans/operations.py",
    "dashboard/plans/parameters.py",
    "dashboard/plans/questions.py",
    "dashboard/plans/trying.py",
    "rebalance_engine/findings/*.py",
    "rebalance_engine/network/probe.py",
    "rebalance_engine/allocation/__init__.py",
    "rebalance_engine/allocation/consistent_hash.py",
    "rebalance_engine/allocation/contract.py",
    "rebalance_engine/allocation/rooms.py",
    "rebalance_engine/allocation/weighing.py",
    "rebalance_engine/allocation/weighted.py",
    "rebalance_engine/network/admin.py",
    "rebalance_engine/network/asking.py",
    "rebalance_engine/network/gate.py",
    "rebalance_engine/network/link.py",
    "rebalance_engine/network/transport.py",
    "rebalance_engine/network/watcher/bounds.py",
)
# Their values are stored, and shown as they are.
NAMED: tuple[type[Enum], ...] = (Departure, DropReason, Failure, Missing, Origin)
# What Python's reader of JSON says.
JSON = (
    "Expecting value",
    "Expecting property name enclosed in double quotes",
    "Expecting ',' delimiter",
    "Expecting ':' delimiter",
    "Extra data",
    "Illegal trailing comma before end of object",
    "Illegal trailing comma before end of array",
    "Invalid control character at",
    "Invalid \\escape",
    "Invalid \\uXXXX escape",
    "Unterminated string starting at",
    "{what}: line {line} column {column} (char {place})",
)
# What stands in the audit log as it was done.
DONE = (
    "grant a role",
    "make a report token",
    "make an API token",
    "make the first admin",
    "order a report",
    "reset a password",
    "revoke a report token",
    "revoke an API token",
    "switch the canary off",
    "switch the canary on",
    "change a role",
    "take back a role",
    "add a person",
    "change a person",
    "delete a person",
    "change a password",
    "add a group of people",
    "change a group of people",
    "delete a group of people",
    "add a cluster",
    "change a cluster",
    "remove a cluster",
)
# What is stored of before, in words that nothing says any more: to be left out when no row is so old.
ONCE = (
    "{author} let every member compute anew, by order {command}",
    "the group was probed less than {AT_MOST_EVERY_S} s ago",
)
# What Django marks in pages of its admin, and has no Chinese for.
OF_DJANGO = (
    "Model name",
    "Add link",
    "After you\u2019ve created a user, you\u2019ll be able to edit more user options.",
    "Change or view list link",
)
OF_DJANGOS_SCRIPTS = (
    "(click to clear)",
    'Choose %s by selecting them and then select the "Choose" arrow button.',
    "Choose all %s",
    "Choose selected %s",
    'Remove %s by selecting them and then select the "Remove" arrow button.',
    "Remove all %s",
    "Remove selected %s",
)
WORDS = (
    "flapping",
    "joined",
    "left",
    "nobody",
    "none",
    "nothing",
    "once",
    "somebody",
    "storm",
)  # put into sayings; alone they look like names
HEADER = """\
# The words of Evenkeel's pages in Chinese. `make messages` finds what is new; what it cannot do is translate.
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Content-Transfer-Encoding: 8bit\\n"
"Language: zh_Hans\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

"""
Found = tuple[str | tuple[str, ...], str | None, str]  # message, context, where


def words_of(domain: str) -> Catalog:
    """Extract all words of one domain anew."""
    catalog = Catalog(locale=LANGUAGE, charset="utf-8")
    for message, context, path in FINDERS[domain]():
        catalog.add(message, context=context, locations=[(path, 1)])
    return catalog


def kept(domain: str) -> Catalog:
    """Read the catalogue as it is."""
    path = CATALOGUES / f"{domain}.po"
    if not path.is_file():
        return Catalog(locale=LANGUAGE, charset="utf-8")
    with path.open("rb") as file:
        return read_po(file, locale=LANGUAGE, charset="utf-8")


def write(domain: str) -> list[str]:
    """Merge; give the words that need a translation."""
    catalog = kept(domain)
    catalog.update(words_of(domain), no_fuzzy_matching=True)
    text = io.BytesIO()
    write_po(text, catalog, width=118, omit_header=True, sort_output=True, ignore_obsolete=True, include_lineno=False)
    CATALOGUES.mkdir(parents=True, exist_ok=True)
    (CATALOGUES / f"{domain}.po").write_text(HEADER + text.getvalue().decode())
    return [str(message.id) for message in kept(domain) if message.id and not is_translated(message.string)]


def is_translated(string: object) -> bool:
    """Ask whether a translation says something in each of its forms."""
    return all(string) if isinstance(string, tuple | list) else bool(string)


def _in_python_and_templates() -> Iterator[Found]:
    from django.conf import settings  # noqa: PLC0415 - see below
    from django.utils.translation import templatize  # noqa: PLC0415 - it needs settings

    if not settings.configured:
        settings.configure()
        django.setup()
    for word in OF_DJANGO:
        yield word, None, "tests/house/messages.py"
    for path in files("dashboard/**/*.py", "dashboard/*.py"):
        yield from _extracted("python", path, (ROOT / path).read_bytes())
    for path in files("templates/**/*.html", "templates/*.html"):
        code = templatize((ROOT / path).read_text(), origin=str(path))
        lines = "\n".join(line.strip() for line in code.splitlines())  # what is left of the markup has no indents
        yield from _extracted("python", path, lines.encode())


def _in_javascript() -> Iterator[Found]:
    for word in OF_DJANGOS_SCRIPTS:
        yield word, None, "tests/house/messages.py"
    for path in files("static/js/**/*.js", "static/js/*.js"):
        if not is_vendored(path):
            yield from _extracted("javascript", path, (ROOT / path).read_bytes())


def _in_sayings() -> Iterator[Found]:
    for kind in NAMED:
        for each in kind:
            yield str(each.value), None, kind.__module__.replace(".", "/") + ".py"
    for word in (*DONE, *JSON, *ONCE, *WORDS, *sorted(cause.value for cause in OF_MEMBERS)):
        yield word, None, "tests/house/messages.py"
    for words in (ABOUT.splitlines()[0], NEEDED):
        yield words, None, "dashboard/api/reported.py"
    for path in files("dashboard/api/*.py"):
        for words in operations_in((ROOT / path).read_text()):
            yield words, None, str(path)
    for path in files(*SAYINGS):
        for saying in sayings_of((ROOT / path).read_text()):
            yield saying, None, str(path)


def _extracted(method: str, path: Path, source: bytes) -> Iterator[Found]:
    options = {"encoding": "utf-8", "parse_template_string": "true"}
    for _line, message, _comments, context in extract(method, io.BytesIO(source), KEYWORDS, options=options):
        yield message, context, str(path)


FINDERS = {"django": _in_python_and_templates, "djangojs": _in_javascript, "sayings": _in_sayings}


def main() -> int:
    """Write all catalogues; say what is to be translated."""
    missing = 0
    for domain in FINDERS:
        for words in write(domain):
            missing += 1
            sys.stdout.write(f"{domain}: to be translated: {words}\n")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
