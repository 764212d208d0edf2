"""Find words in templates that no catalogue can reach: text, and attributes that people read, outside of a mark.

What is to be typed as it stands has ``translate="no"``, which also keeps the browser's own translation away.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from django.template.base import Lexer, TokenType

READ = frozenset({"title", "aria-label", "placeholder", "alt", "content"})
BLOCK = re.compile(r"blocktrans(late)?\b")
UNSEEN = re.compile(r"{%\s*comment\s*%}.*?{%\s*endcomment\s*%}|{% block view %}.*?{% endblock view %}", re.DOTALL)
WORD = re.compile(r"[^\W\d_]{2,}")
SILENT = frozenset({"script", "style", "kbd", "code"})
VOID = frozenset({"input", "img", "br", "meta", "link"})
VALUE = "\N{BLACK SQUARE}"
# Names, units and formats: the same in all languages.
NAMES = frozenset({"API", "CSV", "Evenkeel", "JSON", "Java", "UTC"})


class _Words(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        is_silent = tag in SILENT or values.get("translate") == "no"
        for name, value in attrs:
            if name in READ and not is_silent and (tag != "meta" or values.get("name") == "description"):
                self._see(value or "")
        if is_silent and tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._open and self._open[-1] == tag:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if not self._open:
            self._see(data)

    def _see(self, text: str) -> None:
        words = [word for word in WORD.findall(text.replace(VALUE, " ")) if word not in NAMES]
        if words:
            self.found.append(" ".join(text.split()))


def literals_of(source: str) -> list[str]:
    """Give the texts of a template that are not marked for translation."""
    parser, inside = _Words(), False
    for token in Lexer(_plain(source)).tokenize():
        if token.token_type is TokenType.BLOCK:
            if BLOCK.match(token.contents):
                inside = True
            elif token.contents.startswith("endblocktrans"):
                inside = False
            elif not inside:
                parser.feed(VALUE)
        elif token.token_type is TokenType.VAR and not inside:
            parser.feed(VALUE)
        elif token.token_type is TokenType.TEXT and not inside:
            parser.feed(token.contents)
    parser.close()
    return parser.found


def _plain(source: str) -> str:
    """Leave out comments, and the name of the view that a page mounts."""
    return UNSEEN.sub("", source)
