"""The page of producers as plain values for its template."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dashboard.producers.absences import Absence
from dashboard.producers.canaries import Seen as Canary
from dashboard.producers.counting import LONGEST_SEND_MS, Counted, count, heard_until
from dashboard.producers.drawing import Box, draw, name_bands, steps, ticks
from dashboard.producers.picking import Pick, Steps, steps_of
from dashboard.producers.queries import Producers, Seen, avoids_none, steps_for
from dashboard.producers.standing import LATELY_MS, Standing
from dashboard.producers.words import band_words, kind_words, skip_words, trouble_words, why_words

LINES = (100, 550, 3_000)
STEPS = (*LINES, 15_000)
LONGEST_MS = 600_000
LEAST_MS = 120_000


Estimates = Mapping[tuple[int, str], int]  # by key of the cluster and broker: what a canary waited for it


def rows_of(read: Producers, estimates: Estimates, *, now: int) -> list[dict[str, object]]:
    """Give each producer with a cell for each broker; None where it has nothing to do with one."""
    return [_row(row, read, estimates, now) for row in read.rows]


def canary_of(seen: Canary, *, obstacle: str, now: int) -> dict[str, object]:
    """Give the canary of a cluster: how it is switched, what it tells of each broker, and why it cannot be switched."""
    standings = {each.broker: each for each in seen.standings}
    troubles = {broker: (trouble_words(trouble), detail) for broker, trouble, detail in seen.troubles}
    brokers = sorted(standings.keys() | troubles.keys())
    return {
        "seen": seen,
        "obstacle": obstacle,
        "steps": steps_of(""),
        "brokers": [_by_canary(broker, standings.get(broker), troubles.get(broker), now) for broker in brokers],
    }


def _by_canary(broker: str, each: Standing | None, trouble: tuple[str, str] | None, now: int) -> dict[str, object]:
    median_ms = each.median_ms(now) if each is not None else None
    lately = each.lately(now) if each is not None else ()
    steps = steps_of("")
    stage = 0 if median_ms is None else steps.stage_of_latency(median_ms)
    return {
        "broker": broker,
        "median_ms": median_ms,
        "sends": len(lately),
        "failed": each.failed(now) if each is not None else 0,
        "alone_ms": steps.rows[stage - 1][1] if stage else 0,
        "trouble": trouble,
        "picture": draw(Box(300, 46, now - LATELY_MS, now), lately, (), LINES),
    }


def history_of(row: Seen, read: Producers, *, now: int, at: int | None = None) -> list[dict[str, object]]:
    """Give the last minutes of one producer, broker by broker, on one axis of time; ``at`` is where somebody looks."""
    told = [send.at for each in row.kept for send in each.sends]
    told += [backoff.at for each in row.kept for backoff in each.backoffs if now - backoff.at < LONGEST_MS]
    since = min(now - LEAST_MS, max(min(told, default=now), now - LONGEST_MS))
    if at is not None:
        since = min(since, at)
    box = Box(1_000, 96, since, now)
    playhead = None if at is None else box.x(at)
    heard = heard_until(row.kept)
    return [
        _history(each, box, read.absences.get((row.cluster.pk, each.broker), ()), playhead, heard)
        for each in row.kept
        if each.told_at is not None
    ]


def _history(
    each: Standing, box: Box, absences: Sequence[Absence], playhead: float | None, heard: int
) -> dict[str, object]:
    bands = name_bands(box, each.backoffs)
    shown = [send for send in each.sends if send.at >= box.since]
    first = [send.at for send in each.sends[:1]] if each.sends_since is None else [each.sends_since + LONGEST_SEND_MS]
    since = max([box.since, *first])
    return {
        "broker": each.broker,
        "picture": {
            **draw(box, each.sends, each.backoffs, STEPS),
            "playhead": playhead,
            "away": [_away(box, absence) for absence in absences if _is_seen(absence, box)],
        },
        "ticks": ticks(box),
        "steps": steps(box, STEPS),
        "bands": [
            {"x": band.x, "anchor": "end" if band.is_end else "start", "words": band_words(band.backoff)}
            for band in bands
        ],
        "sends": len(each.sends),
        "failed": sum(not send.is_fine for send in shown),
        "failed_share": share(sum(not send.is_fine for send in shown), len(shown)),
        "per_second": rate(len(shown), box.until - box.since),
        "length_ms": box.until - box.since,
        "counted": _figures(count(each, since=since, now=box.until, heard=heard)),
        "since": box.since,
        "until": box.until,
        "backoffs": list(reversed(each.backoffs)),
        "away_ms": next((max(0, box.until - absence.at) for absence in absences if absence.until is None), None),
        "were_away": [absence for absence in absences if absence.until is not None and _is_seen(absence, box)],
    }


def _is_seen(absence: Absence, box: Box) -> bool:
    return absence.at < box.until and (absence.until is None or absence.until > box.since)


def _away(box: Box, absence: Absence) -> dict[str, float]:
    """Place a time in which a broker is, or was, away."""
    until = box.until if absence.until is None else absence.until
    return {"x": box.x(absence.at), "width": round(max(2.0, box.x(until) - box.x(absence.at)), 1)}


def rate(count: int, length_ms: int) -> str:
    """Write how many sends a second were told; of those that went well only the slowest of each report is."""
    return f"{1_000 * count / length_ms:.1f}"


def share(part: int, whole: int) -> int | None:
    """Give a share in percent, rounded up: at most so many failed, since each failure is told. None: none was told."""
    return -(-100 * part // whole) if whole else None


def told_of(row: Seen) -> list[Standing]:
    """Give how a producer stands to the brokers of which it told, also such of which no more is kept of then."""
    return [each for each in row.standings if each.told_at is not None or each.is_cut]


def ladder_of(row: Seen, steps: Steps, *, now: int) -> list[dict[str, object]]:
    """Give the steps, and how many of the sends that were told in the last minute fall into each, by broker.

    A count is None where nothing is known of it, and at least so many where sends of then are not kept, or where the
    slowest of each report alone was told: others may have been as slow, or quicker.
    """
    heard = heard_until(row.standings)
    return [
        {
            "from_ms": low,
            "alone_ms": length,
            "counts": [_count(each, steps, place, now, heard) for each in told_of(row)],
        }
        for place, (low, length) in enumerate(steps.rows, 1)
    ]


def _count(each: Standing, steps: Steps, place: int, now: int, heard: int) -> dict[str, object]:
    counted = _lately(each, now, heard)
    if counted is not None:
        fall = [(steps.stage_of_latency(low), steps.stage_of_latency(high), n) for low, high, n in counted.spans]
        in_part = any(low != high and low <= place <= high for low, high, _n in fall)
        n = sum(n for low, high, n in fall if low == high == place)
        return {"n": n if n or not in_part else None, "is_bound": in_part, "is_kept": True}
    sends, is_whole = each.lately(now), each.keeps_sends(now)
    stages = [steps.stage_of_latency(send.latency_ms) for send in sends]
    n = stages.count(place)
    if not is_whole:
        return {"n": n or None, "is_bound": True, "is_kept": False}
    slower = any(stage >= place and send.is_fine for stage, send in zip(stages, sends, strict=True))
    return {"n": n if n or not slower else None, "is_bound": slower, "is_kept": True}


def _lately(each: Standing, now: int, heard: int) -> Counted | None:
    return count(each, since=now - LATELY_MS, now=now, heard=heard)


def _figures(counted: Counted | None, of_all: int | None = None) -> dict[str, object] | None:
    """Give what is exact of counted sends; ``of_all`` is how many were counted at all brokers, None: not at each."""
    if counted is None:
        return None
    low, high = counted.median_ms
    return {
        "sends": counted.sends,
        "failed": counted.failed,
        "failed_share": f"{100 * counted.failed / counted.sends:.1f}",
        "per_second": f"{counted.per_second:.1f}",
        "since": counted.since,
        "until": counted.until,
        "length_ms": counted.until - counted.since,
        "median_low": low,
        "median_high": high,
        "of_all": of_all,
        "share": None if of_all is None else f"{100 * counted.sends / of_all:.0f}",
    }


def picks_of(picks: list[Pick]) -> list[dict[str, object]]:
    """Give what would be picked, in words."""
    return [
        {
            "topic": each.topic,
            "shares": [(broker, count, each.looked) for broker, count in sorted(each.shares.items())],
            "why": [why_words(why) for why in each.why],
            "skipped": [(broker, skip_words(skip)) for broker, skip in sorted(each.skipped.items())],
        }
        for each in picks
    ]


def _row(row: Seen, read: Producers, estimates: Estimates, now: int) -> dict[str, object]:
    steps = steps_for(row)
    cells = {each.broker: _cell(each, steps, (row.cluster.pk, each.broker), read, now) for each in row.standings}
    for broker, counted in _shares(row, now).items():
        cells[broker]["counted"] = counted
    for broker, cell in cells.items():
        cell["canary_ms"] = estimates.get((row.cluster.pk, broker))
    return {
        "seen": row,
        "cells": [cells.get(broker) for broker in read.brokers],
        "is_reporting": row.is_reporting,
        "avoids_none": avoids_none(row),
        "has_steps": bool(steps.rows),
    }


def _shares(row: Seen, now: int) -> dict[str, dict[str, object] | None]:
    """Give what is exact of the last minute by brokers, with each one's share where all that got sends are counted."""
    counted, of_all = counted_of(row, now)
    return {broker: _figures(each, of_all) for broker, each in counted.items()}


def counted_of(row: Seen, now: int) -> tuple[dict[str, Counted | None], int | None]:
    """Count the sends of the last minute by brokers, and in all; None where not all of them are counted."""
    heard = heard_until(row.standings)
    counted = {each.broker: _lately(each, now, heard) for each in row.standings if not each.is_unheard}
    is_whole = all(
        counted.get(each.broker) or (each.keeps_sends(now) and not each.lately(now)) for each in row.standings
    )
    return counted, sum(each.sends for each in counted.values() if each is not None) if is_whole else None


def _cell(each: Standing, steps: Steps, key: tuple[int, str], read: Producers, now: int) -> dict[str, object]:
    lately, kind = each.lately(now), each.kind(now)
    stage = steps.stage_of(each.backoff_ms or 0) if kind == "backs off" else None
    return {
        "broker": each.broker,
        "kind": kind,
        "is_unheard": each.is_unheard,
        "words": kind_words(kind),
        "told_at": each.told_at,
        "left_ms": each.left_ms(now),
        "until": each.backoff_until,
        "announced_ms": each.backoff_ms,
        "is_isolated": each.is_isolated,
        "stage": stage,
        "stages": [place <= (stage or 0) for place in range(1, len(steps.rows) + 1)],
        "median_ms": each.median_ms(now),
        "sends": len(lately),
        "counted": None,
        "keeps_sends": each.keeps_sends(now),
        "sends_since": each.sends_since,
        "failed": each.failed(now),
        "per_second": rate(len(lately), LATELY_MS),
        "failed_share": share(each.failed(now), len(lately)),
        "picture": draw(Box(300, 46, now - LATELY_MS, now), lately, each.backoffs, LINES),
        "is_away": any(absence.covers(now) for absence in read.absences.get(key, ())),
    }
