"""What null means in each field of the API's answers that may have it: a part of its OpenAPI description."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TOLD = "null: it is unknown, and `unknown` says why"
NOT_LEAST = "null: nothing is known of how early, or of how much at least"
NOT_MOST = "null: there is no upper bound that is known"
NEVER = "null: that has not happened"
NOT_TOLD = "null: nobody has told it"
NO_ROUND = "null: the group had no round yet"

# by name, or by ``Schema.name`` where one name means several things
MEANINGS: Mapping[str, str] = {
    **dict.fromkeys(("members", "queues", "silent", "strategy", "held", "target"), TOLD),
    **dict.fromkeys(("orphans", "doubles"), "null: it is unknown, or the group broadcasts, as `unknown` says"),
    "is_converged": "null: it is unknown, and `unknown` says why; or there is nothing to hold and nobody",
    **dict.fromkeys(("lag", "lag_at", "end", "committed", "consumed_up_to", "duplicate_messages"), TOLD),
    **dict.fromkeys(("lag_low", "lately_since", "lately_until"), TOLD),
    "waits_since": "null: since when they wait is unknown, as `unknown` says; without a word there, none waits",
    **{f"{name}_ms_{side}": TOLD for name in ("unowned", "overlap") for side in ("low", "high")},
    **dict.fromkeys(("language", "version", "consume_type", "is_orderly", "started_at", "answered_at"), TOLD),
    **dict.fromkeys(("left_ms", "is_isolated", "is_reachable", "median_ms", "canary_ms", "sends", "failed"), TOLD),
    **dict.fromkeys(("exact_median_low_ms", "exact_median_high_ms", "share", "counted_since", "counted_until"), TOLD),
    **dict.fromkeys(("moved_so_far", "to_move", "took_low", "took_high", "opened_low", "members_before"), TOLD),
    **dict.fromkeys(("dropped_at", "taken_at", "first_pull_at", "longest_pause", "twice_unknown"), TOLD),
    **{f"{name}_{side}": TOLD for name in ("unowned", "overlap", "pause") for side in ("low", "high")},
    "moves": "null: it is unknown how many, or a round is not over yet",
    "left": "null: it is unknown how many, or the round is not over yet",
    "told_at": "null: it has told nothing, as `unknown` says where there is one",
    **dict.fromkeys(("avoids_faults", "picks"), TOLD),
    "EstimateOut.trouble": "null: nothing is in its way",
    "BrokerOut.version": NOT_TOLD,
    "model": "null: no member has told whether queues are divided or every member has all",
    **dict.fromkeys(("round", "round_cause", "round_opened_at"), NO_ROUND),
    "round_closed_at": "null: the latest round is open, or the group had none",
    "round_moves": "null: the latest round is open, how many moved in it is unknown, or the group had none",
    "round_left": "null: the latest round is open, how many were left in it is unknown, or the group had none",
    "round_to_move": "null: the latest round is over, how many are to move in it is unknown, or the group had none",
    "rebalanced_at": "null: the group was not looked at yet",
    **dict.fromkeys(("state_at", "seq"), "null: no state of the group was shown yet"),
    "waits_for": "null: nothing is waited for",
    **dict.fromkeys(("dead_letters", "dead_letters_at"), "null: no broker has told of a dead-letter topic"),
    "gone_at": "null: it is there, or when it went is not known",
    **dict.fromkeys(("low", "joined_low", "dropped_low", "taken_low"), NOT_LEAST),
    **dict.fromkeys(("high", "joined_high", "dropped_high", "taken_high"), NOT_MOST),
    "HandoffOut.dropped_high": "null: who had it was lost, and may pull it still: it owned it until `dropped_at` at"
    " most, by which `overlap_high` is told; or nobody is known to have let it go",
    "When.at": "null: it has not happened, or was not seen",
    "held_seen_at": "null: it never told what it holds",
    **dict.fromkeys(("missing", "missing_at"), "null: it answered when it was asked last"),
    "held_by": "null: it is unknown whether anybody holds it, and `unknown` says why",
    "from_client": "null: nobody had it before, or `unknown` says why nobody knows who",
    "to_client": "null: nobody is known to have taken it yet",
    "client_id": "null: it is of no one member",
    **dict.fromkeys(("before", "after"), "null: it was, or is, not there, or what it holds is unknown"),
    "twice": "null: it is unknown, and `unknown` says why",
    "twice_first": "null: no message is known to have been consumed twice",
    "closed_at": "null: it is open, as `unknown` says",
    "not_converged_at": "null: it was never open for too long",
    "superseded_by": "null: no other round has taken over",
    "members_after": "null: it is not over, or who was a member at its end is not known",
    **dict.fromkeys(("longest_unowned", "longest_overlap"), "null: of no queue it is known for certain"),
    "unowned_perhaps_most": "null: of no queue it is possible besides",
    "overlap_perhaps_most": "null: of no queue it is possible besides, or since when is unknown",
    "unowned_unmoved_queues": TOLD,
    "left_open": "null: what somebody holds, or should, is unknown; or it is told of a past instant",
    **dict.fromkeys(("previous", "next"), "null: there is no such round that is kept"),
    "ended_at": "null: a round of it is not over, as `unknown` says",
    **dict.fromkeys(("group_id", "group"), "null: it is of the whole cluster"),
    "confirmed_at": "null: it is suspected so far",
    "seen_at": "null: it rests on something else than what members hold, or is told of a past instant",
    "ends_at": "null: when it must end by itself is not known, or it need not",
    **dict.fromkeys(("backoff_ms", "backoff_until"), "null: no backoff runs that is known"),
    "used_at": "null: no use of it is noted; a use is not where the database was busy just then",
    **dict.fromkeys(("revoked_at", "revoked_by"), "null: it was not revoked"),
    **dict.fromkeys(("reason", "changed_by", "changed_at"), "null: nobody has switched it yet"),
    **{f"{each}.target": "null: it is of the whole cluster or group" for each in ("OrderOut", "OrderRow")},
    **{f"{each}.taken_at": "null: nobody has taken it up yet" for each in ("OrderOut", "OrderRow")},
    "finished_at": NEVER,
    "begun_at": "null: it waits to be taken up",
    "name": "null: all of them",
    "cluster": "null: RocketMQ's own logs",
    "RunOut.at": TOLD,
    "summary": "null: it did not come to its end",
    "page": "null: there is no report with charts",
    "ordered": "null: nobody ordered it, or it is not for the caller to see",
    "broker": "null: it is a NameServer",
    "SilentOut.answered_at": "null: it has never answered",
}


def say_nulls(document: dict[str, Any]) -> dict[str, Any]:
    """Add to an OpenAPI document what null means in each field of an answer that may have it."""
    for schema, each in document["components"]["schemas"].items():
        for name, field in each.get("properties", {}).items():
            meaning = MEANINGS.get(f"{schema}.{name}", MEANINGS.get(name))
            if meaning is not None and may_be_null(field) and "null" not in field.get("description", ""):
                field["description"] = "; ".join(filter(None, (field.get("description"), meaning)))
    return document


def may_be_null(field: Mapping[str, Any]) -> bool:
    """Whether a field's schema allows null."""
    return any(each.get("type") == "null" for each in field.get("anyOf", ()))
