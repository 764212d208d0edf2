// How far a group is behind in each queue, from what its brokers told last. Pure.
import { age, span } from "./time.js";
import { fill, gettext } from "./words.js";
import { keyOf } from "./columns.js";

export const LONG_MS = 60000;

/** By queue: `{lag, since, at, isOld, isKept, looks}`; lag null is unknown, `since` when the last consumed message was
 * stored; `isKept`: of a past instant, and nothing else was told between `at` and then. A broker that never told is a queue without a name. */
export function lagsOf(brokers) {
  const found = new Map();
  for (const { broker, at, missing, queues, looks, is_kept: isKept = false } of brokers) {
    queues.forEach(([topic, id, lag, since], i) => {
      const mine = looks.map(([when, all]) => [when, all[i]]);
      found.set(keyOf({ topic, broker, id }), { lag, since, at, isOld: missing !== null, isKept, looks: mine });
    });
    if (missing !== null && !queues.length) found.set(keyOf({ topic: "", broker, id: "" }), { lag: null, since: null, at, isOld: true, isKept, looks: [] });
  }
  return found;
}

/** The lags to add up below a map: of its columns; where members own no queues, by POP or through a proxy, all that are told. */
export const addedUp = (columns, lags) => (columns.length ? columns.map((column) => lags?.get(keyOf(column)) ?? null) : [...(lags?.values() ?? [])]);

/** The highest lag of a minute: what all lines are measured by. */
export const mostOf = (lags) => Math.max(1, ...lags.flatMap((each) => each?.looks.map(([, lag]) => lag ?? 0) ?? []));

/** All together, as far as it is known, and as of when the oldest of it. */
export function totalOf(lags) {
  const known = lags.filter((each) => each !== null && each.lag !== null && !each.isOld);
  return {
    lag: known.length ? known.reduce((sum, { lag }) => sum + lag, 0) : null,
    isWhole: known.length === lags.length,
    at: known.length && !known.some(({ isKept }) => isKept) ? Math.min(...known.map(({ at }) => at)) : null,
  };
}

/** A number in the room of a cell: `999`, `1.2k`, `35k`, `4.1M`. */
export function inShort(lag) {
  if (lag < 1000) return String(lag);
  const [value, unit] = lag < 999500 ? [lag / 1000, "k"] : [lag / 1000000, "M"];
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)}${unit}`;
}

/** The path of a minute in a box; where it is unknown it breaks. One look alone is a short stroke. */
export function lineOf(looks, { x, y, width, height, since, until, most }) {
  const at = (when) => (x + (Math.max(0, when - since) / (until - since)) * width).toFixed(1);
  const up = (lag) => (y + height - (lag / most) * height).toFixed(1);
  let d = "";
  let isOpen = false;
  for (const [when, lag] of looks) {
    if (when < since) continue;
    if (lag !== null) d += `${isOpen ? "L" : "M"}${at(when)} ${up(lag)}`;
    isOpen = lag !== null;
  }
  if (!d) return null;
  return d.includes("L") ? d : `${d}h1.5`;
}

/** What the sentence under the map says of it; empty where nothing was ever told. */
export function lagWords(each, now) {
  if (!each) return "";
  if (each.lag === null) return gettext("Lag unknown: no offset of it was ever committed.");
  const values = { lag: each.lag, age: age(now - each.at), span: each.since === null ? null : span(Math.max(1000, each.at - each.since)) };
  if (each.isKept) return fill(gettext("Lag %(lag)s, and nothing else was told in the %(age)s after it."), values);
  if (each.isOld) return fill(gettext("Lag %(lag)s as of %(age)s ago: its broker did not tell since."), values);
  if (!each.lag) return fill(gettext("Lag 0, told %(age)s ago."), values);
  if (each.since === null) return fill(gettext("Lag %(lag)s, told %(age)s ago."), values);
  return fill(gettext("Lag %(lag)s, the first waits %(span)s at most; told %(age)s ago."), values);
}
