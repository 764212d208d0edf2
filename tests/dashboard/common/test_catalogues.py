from __future__ import annotations

import gettext
from pathlib import Path

from dashboard.common.catalogues import compile_into

WORDS = """\
msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=1; plural=0;\\n"

msgid "queue"
msgstr "队列"

msgid "one queue, left alone once"
msgid_plural "%(n)s queues"
msgstr[0] "%(n)s 个队列"

#, fuzzy
msgid "guessed"
msgstr "猜测"
"""


def test_words_are_compiled_and_guesses_are_not(tmp_path: Path) -> None:
    source = tmp_path / "words" / "zh_Hans" / "LC_MESSAGES"
    source.mkdir(parents=True)
    (source / "django.po").write_text(WORDS)

    [compiled] = compile_into(tmp_path / "compiled", source=tmp_path / "words")

    assert compiled == tmp_path / "compiled/zh_Hans/LC_MESSAGES/django.mo"
    with compiled.open("rb") as file:
        words = gettext.GNUTranslations(file)
    assert words.gettext("queue") == "队列"
    assert words.ngettext("one queue, left alone once", "%(n)s queues", 2) == "%(n)s 个队列"
    assert words.gettext("guessed") == "guessed"


def test_what_was_compiled_is_written_over(tmp_path: Path) -> None:
    for _time in range(2):
        files = list(compile_into(tmp_path))

    assert sorted(path.name for path in files) == ["django.mo", "djangojs.mo", "sayings.mo"]
    assert sorted(path.name for path in tmp_path.rglob("*.*")) == ["django.mo", "djangojs.mo", "sayings.mo"]
