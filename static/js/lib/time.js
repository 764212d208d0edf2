// Times as people read them; `dashboard/common/spans.py` writes the same.
import { gettext } from "./words.js";

const two = (number) => String(number).padStart(2, "0");

export const HARD = "\u00a0"; // a space at which no line ends: a number, its sign and its units stay together

/** `235 ms`, `4.2 s`, `1 min 09 s`, `2 h 05 min`, `3 d 04 h`. */
export const span = (ms) => (ms === null || ms === undefined ? gettext("unknown") : inUnits(ms).replaceAll(" ", HARD));

function inUnits(ms) {
  if (ms < 1000) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < 59950) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} min`;
  return `${Math.floor(seconds / 86400)} d ${two(Math.floor((seconds % 86400) / 3600))} h`;
}

/** A duration that is known between two bounds; two that read alike are one figure, `≈ 3 min 56 s`; at least 0 is none. */
export function between([low, high]) {
  if (!low && high === null) return gettext("unknown");
  if (low === high) return span(low);
  if (high === null) return `≥${HARD}${span(low)}`;
  if (!low) return `≤${HARD}${span(high)}`;
  const [least, most] = [span(low), span(high)];
  return least === most ? `≈${HARD}${most}` : `${least}${HARD}– ${most}`;
}

/** A time of day in UTC, `08:19:05` or with milliseconds. */
export function clock(ms, { millis = false } = {}) {
  const text = new Date(ms).toISOString();
  return millis ? text.slice(11, 23) : text.slice(11, 19);
}

/** An age that does not flicker: whole seconds below a minute. */
export const age = (ms) => (ms < 60000 ? `${Math.max(0, Math.floor(ms / 1000))}${HARD}s` : span(ms));

const STEPS = [0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600].map((s) => s * 1000);

/** Round instants between two, at most `most` of them. */
export function ticks(since, until, most) {
  const step = STEPS.find((each) => (until - since) / each <= most) ?? 86400000;
  const found = [];
  for (let at = Math.ceil(since / step) * step; at <= until; at += step) found.push(at);
  return found;
}
