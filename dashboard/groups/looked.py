"""How old is what a row of the overview shows, in words, and whether it is grey for it. Pure.

``static/js/lib/looked.js`` says the same of rows that are kept true; ``tests/words/looks.json`` holds both to it.
"""

from __future__ import annotations

from dataclasses import dataclass

from django.utils.translation import gettext as _

from dashboard.clusters.silences import STALE_MS
from dashboard.common.spans import age

OLD_MS = 60_000  # twice as long as a watcher takes to ask all members again, where it has few of them to ask


@dataclass(frozen=True, slots=True)
class Looked:
    """How old a row is: ``short`` for the eye, ``words`` for who has it read; both empty where there is nothing yet."""

    is_old: bool
    short: str = ""
    words: str = ""


def look_words(*, looked_at: int | None, watched_at: int | None, now: int) -> Looked:
    """Say how old a row is. It is old where its cluster is silent, or where it should have been looked at again.

    Args:
        looked_at: of when the oldest answer is on which it rests; None: there is none.
        watched_at: when anything of its cluster answered last; None: nothing ever did.
    """
    if watched_at is None:
        return Looked(True, _("cluster never answered"), _("nothing of its cluster has answered yet"))
    is_silent = now - watched_at > STALE_MS
    if looked_at is None and not is_silent:
        return Looked(False)
    old = now - min(watched_at if looked_at is None else looked_at, watched_at if is_silent else now)
    words = _("as of %(age)s ago") % {"age": age(old)}
    if is_silent or old > OLD_MS:
        return Looked(True, words, words)
    return Looked(False, _("%(span)s ago") % {"span": age(old)}, words)
