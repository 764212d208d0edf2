"""What stands in columns that have a few words to choose from, and what is said to explain a column: marked likewise.

The words are stored, and told by the API, as they are; lists, rows and filters of the Django admin put them into the
reader's language. Names of RocketMQ and of roles are the same in every one.
"""

from __future__ import annotations

from django.utils.translation import gettext_lazy, gettext_noop, pgettext_lazy

from dashboard.common.sayings import in_words

NAMES = frozenset(
    {
        *("BROADCASTING", "CLUSTERING", "CONSUME_ACTIVELY", "CONSUME_PASSIVELY", "CONSUME_POP"),
        *("viewer", "operator", "admin"),
    }
)
VALUES = {
    "changed": pgettext_lazy("value", "changed"),
    "not asked": pgettext_lazy("value", "not asked"),
    "unchanged": pgettext_lazy("value", "unchanged"),
    "unknown": pgettext_lazy("value", "unknown"),
    "broker back": pgettext_lazy("value", "broker back"),
    "broker gone": pgettext_lazy("value", "broker gone"),
    "config changed": pgettext_lazy("value", "config changed"),
    "heartbeat expired": pgettext_lazy("value", "heartbeat expired"),
    "held changed": pgettext_lazy("value", "held changed"),
    "manual": pgettext_lazy("value", "manual"),
    "many at once": pgettext_lazy("value", "many at once"),
    "member joined": pgettext_lazy("value", "member joined"),
    "member left": pgettext_lazy("value", "member left"),
    "plan changed": pgettext_lazy("value", "plan changed"),
    "route changed": pgettext_lazy("value", "route changed"),
    "strategy changed": pgettext_lazy("value", "strategy changed"),
    "subscription changed": pgettext_lazy("value", "subscription changed"),
    "connection closed": pgettext_lazy("value", "connection closed"),
    "unregistered": pgettext_lazy("value", "unregistered"),
    "error": pgettext_lazy("value", "error"),
    "no permission": pgettext_lazy("value", "no permission"),
    "not online": pgettext_lazy("value", "not online"),
    "refused": pgettext_lazy("value", "refused"),
    "timeout": pgettext_lazy("value", "timeout"),
    "admin answer": pgettext_lazy("value", "admin answer"),
    "agent report": pgettext_lazy("value", "agent report"),
    "broker log": pgettext_lazy("value", "broker log"),
    "client log": pgettext_lazy("value", "client log"),
    "derived": pgettext_lazy("value", "derived"),
    "operator": pgettext_lazy("value", "operator"),
    "simulator": pgettext_lazy("value", "simulator"),
    "broker error": pgettext_lazy("value", "broker error"),
    "client error": pgettext_lazy("value", "client error"),
    "done": pgettext_lazy("value", "done"),
    "expired": pgettext_lazy("value", "expired"),
    "failed": pgettext_lazy("value", "failed"),
    "interrupted": pgettext_lazy("value", "interrupted"),
    "not stored": pgettext_lazy("value", "not stored"),
    "ok": pgettext_lazy("value", "ok"),
    "remoting error": pgettext_lazy("value", "remoting error"),
    "lost": pgettext_lazy("value", "lost"),
    "not in target": pgettext_lazy("value", "not in target"),
    "not subscribed": pgettext_lazy("value", "not subscribed"),
    "offset illegal": pgettext_lazy("value", "offset illegal"),
    "pull expired": pgettext_lazy("value", "pull expired"),
    "stopped": pgettext_lazy("value", "stopped"),
    "closed": pgettext_lazy("value", "closed"),
    "not converged": pgettext_lazy("value", "not converged"),
    "open": pgettext_lazy("value", "open"),
    "superseded": pgettext_lazy("value", "superseded"),
}
EXPLANATIONS = frozenset(
    {
        gettext_noop("JSON, byte for byte as it was digested"),
        gettext_noop("NULL: of before the first round nothing is known"),
        gettext_noop("[[gone at, back at], …], the last ones; NULL: none"),
        gettext_noop("[[gone low, gone at, back low, back at], …], the last ones; NULL: none"),
        gettext_noop("[[missing since, told again], …]; of many the oldest are one; NULL: none"),
        gettext_noop("[[since, until, whether queues went], …]; NULL: none"),
        gettext_noop("[[told last, told again or left], …]; of many the oldest are one; NULL: none"),
        gettext_noop("[[several connections since, until], …]; of many the oldest are one; NULL: none"),
        gettext_noop("batches of facts that wait to be stored"),
        gettext_noop("broker -> topics that it is set to give by POP; NULL: none told of any"),
        gettext_noop("brokers that did not tell who is a member"),
        gettext_noop("brokers with consumeEnable=false"),
        gettext_noop("False: notifyConsumerIdsChangedEnable=false at every broker that has it"),
        gettext_noop("clients that did not answer, and are left alone for a while"),
        gettext_noop("consumed twice, at least, as both members of handoffs reported; NULL: none did"),
        gettext_noop("empty is unknown"),
        gettext_noop("every member list was told then or later, and is stored"),
        gettext_noop("every route was told then or later, and is stored"),
        gettext_noop("host:port of each NameServer, separated by semicolons"),
        gettext_noop("how many of its facts said something new"),
        gettext_noop("members that take messages by POP, from queues that nobody owns"),
        gettext_noop("members with several connections, of which only one can be asked"),
        gettext_noop("messages consumed twice in its handoffs, at least; NULL is unknown"),
        gettext_noop("ms it took at least, by its handoffs; NULL until they are told"),
        gettext_noop("no member told its strategy"),
        gettext_noop("no message waits longer; NULL: none waits, or unknown"),
        gettext_noop("of the body"),
        gettext_noop("of the same queue from the same to the same in its round; 0 is the first"),
        gettext_noop("of the disputed queues, those that nobody is known to hold; no orphans"),
        gettext_noop("of the silent ones, those not asked yet"),
        gettext_noop("of the silent ones, those that seem to come through a proxy: they own nothing"),
        gettext_noop("pattern of cluster names: * is any text"),
        gettext_noop("pattern of group names: * is any text"),
        gettext_noop("queues of which it is unknown what was consumed"),
        gettext_noop("queues that not every NameServer has in its route"),
        gettext_noop("queues that two said to hold, at times that need not overlap; no doubles"),
        gettext_noop("queues whose held is not target, at the last look"),
        gettext_noop("servers that do not answer, since when, and why"),
        gettext_noop("setting -> broker -> when it was looked at last, ms; NULL: never"),
        gettext_noop("since then no broker names it, and nobody is a member"),
        gettext_noop("the client that reported of itself; empty: a command"),
        gettext_noop("the last answer of which nothing waited"),
        gettext_noop("the look that its own words above are from"),
        gettext_noop("the subject, or its digest where it is long"),
        gettext_noop("what its author was warned of, a line each"),
        gettext_noop("what the last whole sweep asked in vain"),
        gettext_noop("what the last whole sweep did not get to"),
        gettext_noop("what the target was computed by; empty is unknown"),
        gettext_noop("when any server answered last; NULL is never"),
        gettext_noop("when anything of it answered last"),
        gettext_noop("when it must end by itself, where that is known"),
        gettext_noop("when it was first known; NULL: nobody kept it"),
        gettext_noop("when its handoffs were told; after its end"),
        gettext_noop("when what was held had last changed, as it closed"),
        gettext_noop("why it cannot be said whether held is target"),
    }
)
ACTIONS = {  # those that are stored under a key of their own, as ``dashboard.auditing`` says them
    "by-config.publish": gettext_lazy("Keep a by-config version"),
    "demo.add_consumer": gettext_lazy("Add a consumer"),
    "demo.heal_broker": gettext_lazy("Heal a broker"),
    "demo.kill_consumer": gettext_lazy("Kill a consumer"),
    "demo.restart_broker": gettext_lazy("Take a broker down for 12 s"),
    "demo.resume_consumer": gettext_lazy("Let a consumer go on"),
    "demo.slow_broker": gettext_lazy("Slow a broker down"),
    "demo.stall_consumer": gettext_lazy("Stall a consumer"),
    "group.recompute": gettext_lazy("Recompute now"),
}


def said(stored: str | None) -> str:
    """Write what is stored in English, an action or a sentence, in the reader's language."""
    words = ACTIONS.get(stored or "")
    return in_words(stored or "") if words is None else str(words)
