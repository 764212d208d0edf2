// One row of the overview: a group's map in the small, and its last rounds on the axis that all rows share.
import { draw } from "../lib/svg.js";
import { glyphOf } from "../lib/glyphs.js";
import { goingOn } from "../lib/bands.js";

const [WIDTH, HEIGHT] = [116, 20];
const FAULTS = ["small-none", "small-held", "small-two", "small-unknown"];

/** Bands of members down, bins of queues across; a bin with a fault is all of its colour. */
export function drawSmall(svg, small) {
  svg.replaceChildren();
  if (!small || !small.columns) return;
  const [wide, tall] = [Math.min(WIDTH / small.columns, 8), small.bands.length ? HEIGHT / small.bands.length : HEIGHT];
  const box = (look, x, y, height) => draw("rect", { class: look, x: x * wide, y, width: wide - (wide > 3 ? 1 : 0.2), height });
  svg.append(draw("rect", { class: "small-ground", width: small.columns * wide, height: HEIGHT }));
  small.bands.forEach((bins, row) => {
    for (const bin of bins) if (small.faults[bin] === 1 || small.faults[bin] === 3) svg.append(box("small-held", bin, row * tall, Math.max(1, tall - 1)));
  });
  small.faults.forEach((fault, bin) => {
    if (fault === 0 || fault === 2 || (fault === 3 && !small.bands.some((bins) => bins.includes(bin)))) svg.append(box(FAULTS[fault], bin, 0, HEIGHT));
  });
}

/** Rounds as stems; below them when queues had two owners, and none, as far as it is known; `now` are how many still have. */
export function drawStrip(svg, rounds, { since, until, bands = null, now = {} }) {
  const width = Math.max(160, svg.clientWidth || 400);
  const scale = (at) => 6 + (Math.max(0, at - since) / (until - since)) * (width - 12);
  svg.setAttribute("viewBox", `0 0 ${width} 46`);
  svg.replaceChildren(draw("path", { class: "axis-line", d: `M0 38.5H${width}` }));
  for (let at = 2; at < 10; at += 2) {
    const x = Math.round(scale(since + at * 60000)) + 0.5;
    svg.append(draw("path", { class: "grid-line", d: `M${x} 4V38` }));
  }
  if (bands) svg.append(...bandsOf(upTo(until, bands, now), scale, since, until));
  const most = Math.max(1, ...rounds.map((round) => round.moves));
  for (const round of rounds.slice(-60)) {
    const x = scale(round.opened_at);
    const y = 26 - (16 * (round.moves ?? most / 2)) / most;
    const [path, isHollow] = glyphOf(round.cause);
    const end = scale(round.closed_at ?? until);
    svg.append(draw("rect", { class: "strip-open", x, y: 34, width: Math.max(1, end - x), height: 4 }));
    svg.append(draw("path", { class: round.moves === null ? "stem is-unknown" : "stem", d: `M${x} 38V${y + 5}` }), draw("path", { class: isHollow ? "glyph hollow" : "glyph", d: path, transform: `translate(${x} ${y}) scale(.85)` }));
  }
}

/** What is so still goes on until now: figures beside the strip say it too. */
function upTo(until, bands, { orphans = null, doubles = null }) {
  const options = { read: bands.until, looked: until };
  return { ...bands, none: goingOn(bands.none, { ...options, now: orphans }), two: goingOn(bands.two, { ...options, now: doubles }) };
}

function bandsOf({ two, none, perhaps_none: perhaps = [], until: known }, scale, since, until) {
  const bar = (look, y) => ([from, to, queues]) => to > since && draw("rect", { class: look, x: scale(from), y, width: Math.max(1.5, scale(Math.min(to, until)) - scale(from)), height: 3, opacity: queues > 1 ? 1 : 0.7 });
  const parts = [...two.map(bar("strip-two", 39.5)), ...none.map(bar("strip-none", 43)), ...perhaps.map(bar("strip-perhaps", 43))].filter(Boolean);
  if (until - known > 20000) parts.push(draw("rect", { class: "strip-unknown", x: scale(known), y: 4, width: scale(until) - scale(known), height: 42 }));
  return parts;
}
