"""What the selection of producers says, in the reader's language."""

from __future__ import annotations

from django.utils.translation import gettext as _

from dashboard.common.spans import span
from dashboard.producers.standing import Backoff
from rebalance_engine.network.canary import TOPIC, Trouble
from rebalance_engine.producer import Skip, Why


def why_words(why: Why) -> str:
    """Translate why a queue would be taken."""
    words = {
        Why.IN_TURN: _("next in turn"),
        Why.OTHER_BROKER: _("next in turn on another broker than the one that failed"),
        Why.AVAILABLE: _("next in turn on a broker that does not back off"),
        Why.REACHABLE: _("none is available; this one can be reached"),
        Why.SAME_BROKER: _("next in turn on the broker that failed, to which this version sticks"),
        Why.BETTER_HALF: _("none is available; one of the better half of the fault table"),
        Why.LAST_RESORT: _("none fits; next in turn whatever it is"),
        Why.NOTHING: _("there is no queue to choose"),
    }
    return words.get(why, why.value)


def skip_words(skip: Skip) -> str:
    """Translate why a broker would be passed over."""
    words = {
        Skip.LAST_BROKER: _("it just failed"),
        Skip.OTHER_THAN_LAST: _("it is not the one that failed, which this version insists on"),
        Skip.BACKS_OFF: _("it is left alone"),
        Skip.UNREACHABLE: _("it cannot be reached"),
    }
    return words.get(skip, skip.value)


def kind_words(kind: str) -> str:
    """Translate how a producer stands to a broker."""
    words = {
        "unknown": _("unknown"),
        "backs off": _("leaves it alone"),
        "unreachable": _("unreachable"),
        "available": _("available"),
        "quiet": _("silent since"),
        "not kept": _("whether it left it alone is not kept"),
    }
    return words[kind]


def band_words(backoff: Backoff) -> str:
    """Say of a time in which a broker is left alone for how long that was announced."""
    words = _("isolated %(span)s") if backoff.is_isolated else _("left alone %(span)s")
    return words % {"span": span(backoff.ms)}


def trouble_words(trouble: Trouble) -> str:
    """Translate what is in the way of a canary."""
    words = {
        Trouble.NO_TOPIC: _("its topic %(topic)s does not exist there, and may not be made"),
        Trouble.NOT_MADE: _("its topic %(topic)s does not exist there, and could not be made"),
        Trouble.REFUSED: _("the broker refused its message"),
        Trouble.NO_ANSWER: _("the broker did not answer"),
        Trouble.NOT_ASKED: _("nothing was sent, or too late to tell"),
    }
    return words[trouble] % {"topic": TOPIC}
