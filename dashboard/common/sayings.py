"""Sentences that are stored in English, in the reader's language.

Findings, what proves them, causes of rounds, what came of an order and why a question makes no sense are composed by
code that knows no reader: the engine, the watcher, background tasks. They are stored as they were composed, once, and
history, terminal and API have the same words. A page turns them: the catalogue ``sayings`` has the template of each
(``{owners} members hold {queue}``), found in the code by ``tests/house/sayings.py``. What a template puts in is a
name, a figure, or a saying itself. What fits no template stays as it is.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from django.conf import settings
from django.utils.translation import get_language, to_locale

DOMAIN = "sayings"
LONGEST = 4_000  # characters of a sentence that is turned
DEEPEST = 4  # sayings in sayings
MOST_IN_A_ROW = 40  # sayings of a list
PLAIN = 4  # letters of its own that tell a template from others
NUMBER = "n"  # what this hole has is one
BEFORE = "{sentence}"  # a whole sentence, behind which a template adds one more
HOLE = re.compile(r"\{(\w+)\}")
JOINT = re.compile(r", |; | \(| and ")  # at which one saying is put behind another
BETWEEN_HAN = re.compile("(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])")


class Template(NamedTuple):
    """A saying: texts with holes between them, one more than holes; and how the other language puts it."""

    texts: tuple[str, ...]
    holes: tuple[str, ...]
    translation: str
    is_plain: bool

    def fits(self, sentence: str) -> dict[str, str] | None:
        """Give what stands in the holes; None where the sentence is another one.

        Each text is taken where it stands first: one pass, however the names in the sentence are chosen.
        """
        first, last = self.texts[0], self.texts[-1]
        if not self.holes:
            return {} if sentence == first else None
        end = len(sentence) - len(last)
        if end < len(first) or not sentence.startswith(first) or not sentence.endswith(last):
            return None
        place, found = len(first), {}
        for hole, text in zip(self.holes, (*self.texts[1:-1], None), strict=True):
            at = end if text is None else sentence.find(text, place, end)
            if at < 0:
                return None
            found[hole] = sentence[place:at]
            place = at + len(text or "")
        return found


class Sayings:
    """All templates of one language; what tells most is tried first."""

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        told = list(pairs)
        self._besides = _longest_first(_besides(*pair) for pair in told if pair[0].startswith(BEFORE))
        every = _longest_first(_template(*pair) for pair in told if not pair[0].startswith(BEFORE))
        self._by_start: dict[str, list[Template]] = {}
        for each in every:
            self._by_start.setdefault(each.texts[0][:1], []).append(each)
        self._rows = [each for each in every if any("; " in text for text in each.texts)]
        self._added = [each for each in every if JOINT.match(each.texts[0])]

    def turn(self, sentence: str, depth: int = DEEPEST) -> str:
        """Put a sentence into the other language; what fits no template stays."""
        if depth < 0:
            return sentence
        for way in (self._as_sentences, self._as_list):
            if (turned := way(sentence, depth)) is not None:
                return turned
        templates = self._by_start.get(sentence[:1], ()) if sentence else ()
        whole = self._by_one(sentence, (*templates, *self._by_start.get("", ())), depth)
        return self._in_parts(sentence, depth) if whole is None else whole

    def _by_one(self, sentence: str, templates: Sequence[Template], depth: int) -> str | None:
        for each in _by_end(sentence, templates):
            found = each.fits(sentence)
            if found is None or not found.get(NUMBER, "0").replace(",", "").isdigit():
                continue
            values = {hole: self.turn(text, depth - 1) for hole, text in found.items()}
            if each.is_plain or all(map(_is_name, found.values())):
                return _put(each.translation, values)
        return None

    def _as_sentences(self, sentence: str, depth: int) -> str | None:
        """Turn a sentence and one that is added to it: the last one by which that can be told."""
        end = len(sentence)
        for _ in range(MOST_IN_A_ROW):
            end = sentence.rfind(". ", 0, end)
            if end < 0:
                break
            added = self._by_one(sentence[end + 2 :], self._besides, depth)
            if added is not None:
                return self.turn(sentence[: end + 1], depth) + added
        return None

    def _as_list(self, sentence: str, depth: int) -> str | None:
        """Turn sayings in a row, if each is one by itself: one template may take some of them for names."""
        parts = sentence.split("; ")
        if not 2 <= len(parts) <= MOST_IN_A_ROW or depth < 1:
            return None
        if (whole := self._by_one(sentence, self._rows, depth)) is not None:
            return whole
        turned = [self._part(part, depth - 1) for part in parts]
        is_each = all(one != other for one, other in zip(parts, turned, strict=True))
        return "\uff1b".join(turned) if is_each else None

    def _part(self, part: str, depth: int) -> str:
        """Turn a part of a row; one that is a sentence elsewhere has a small letter here."""
        turned = self.turn(part, depth)
        if turned != part:
            return turned
        whole = part[:1].upper() + part[1:]
        turned = self.turn(whole, depth)
        return part if turned == whole else turned

    def _in_parts(self, sentence: str, depth: int) -> str:
        """Turn a saying that is added to something, or some in a row."""
        for joint in JOINT.finditer(sentence):
            rest = self._by_one(sentence[joint.start() :], self._added, depth)
            if rest is not None:
                return self.turn(sentence[: joint.start()], depth - 1) + rest
        for between, put in (("; ", "\uff1b"), (", ", ", ")):
            parts = sentence.split(between)
            turned = [self.turn(part, depth - 1) for part in parts] if len(parts) > 1 else parts
            if turned != parts:
                return put.join(turned)
        said, _, besides = sentence.removesuffix(")").partition(" (")
        if besides and sentence.endswith(")"):
            turned = [self.turn(said, depth - 1), self.turn(besides, depth - 1)]
            return "{}\uff08{}\uff09".format(*turned) if turned != [said, besides] else sentence
        who, _, what = sentence.partition(": ")
        turned_what = self.turn(what, depth - 1) if what else what
        return f"{who}\uff1a{turned_what}" if turned_what != what else sentence


class _Catalogue(gettext.GNUTranslations):
    """A compiled catalogue whose words can be listed."""

    _catalog: dict[object, str]

    def pairs(self) -> list[tuple[str, str]]:
        return [(key, text) for key, text in self._catalog.items() if isinstance(key, str) and key and text]


def in_words(sentence: str) -> str:
    """Put a stored sentence into the language that is read; one that nobody translated stays as it is."""
    language = get_language() or ""
    if not sentence or len(sentence) > LONGEST or language.startswith("en"):
        return sentence
    return _turned(sentence, language, tuple(map(str, settings.LOCALE_PATHS)))


def together(sentences: Iterable[str]) -> str:
    """Put whole sentences into one text; Chinese ones have no space between them."""
    return re.sub("(?<=[\u3002\uff01\uff1f\uff1b]) ", "", " ".join(sentences))


@lru_cache(maxsize=4_096)
def _turned(sentence: str, language: str, paths: tuple[str, ...]) -> str:
    sayings = _sayings(language, paths)
    return sentence if sayings is None else sayings.turn(sentence)


@lru_cache(maxsize=8)
def _sayings(language: str, paths: tuple[str, ...]) -> Sayings | None:
    """Read the templates of a language; there are none for English, nor where nothing is compiled."""
    for path in paths:
        file = Path(path) / to_locale(language) / "LC_MESSAGES" / f"{DOMAIN}.mo"
        if file.is_file():
            with file.open("rb") as compiled:
                return Sayings(_Catalogue(compiled).pairs())
    return None


def _is_name(text: str) -> bool:
    return " " not in text.removesuffix(" UTC")


def _put(translation: str, values: dict[str, str]) -> str:
    text = HOLE.sub(lambda found: values.get(found[1], found[0]), translation)
    return BETWEEN_HAN.sub("", text.replace("{{", "{").replace("}}", "}"))


def _by_end(sentence: str, templates: Sequence[Template]) -> Sequence[Template]:
    """Put those first that end as a whole sentence does, where it is one: others would take its end for a name's."""
    if not sentence.endswith("."):
        return templates
    return sorted(templates, key=lambda each: not each.texts[-1].endswith("."))


def _longest_first(templates: Iterable[Template]) -> list[Template]:
    return sorted(templates, key=lambda each: -sum(map(len, each.texts)))


def _besides(key: str, translation: str) -> Template:
    return _template(key.removeprefix(BEFORE).lstrip(), translation.removeprefix(BEFORE))


def _template(key: str, translation: str) -> Template:
    parts = HOLE.split(key)
    texts = tuple(part.replace("{{", "{").replace("}}", "}") for part in parts[::2])
    holes = tuple(parts[1::2])
    return Template(texts, holes, translation, not holes or sum(map(str.isalpha, "".join(texts))) >= PLAIN)
