// Handoffs of one round: a lane each, from the old owner to the new one; hatched while nobody has the queue.
import { clock, span, ticks } from "../lib/time.js";
import { draw } from "../lib/svg.js";
import { fill, gettext } from "../lib/words.js";
import { shown } from "../lib/shown.js";

const [NAMES, LEAST_WHO, WORDS, ROW, HEAD] = [190, 110, 250, 20, 22];
const PER_LETTER = 6.4;

/** Draw the lanes of a round into `host`. */
export function drawLanes(host, story) {
  if (!host || !story?.lanes.length) return host?.replaceChildren();
  const end = story.closed_at ?? story.now;
  const instants = story.lanes.flatMap((lane) => [lane.dropped_at, lane.taken_at, lane.first_pull_at]).filter((at) => at !== null);
  const isWaiting = story.lanes.some((lane) => lane.is_waiting || lane.is_shared);
  const since = Math.min(story.opened_at, ...instants);
  const until = Math.max(isWaiting ? end : 0, ...instants, since + 200);
  const margin = (until - since) * 0.06 + 20;
  const width = Math.max(760, host.clientWidth);
  const who = Math.max(LEAST_WHO, ...story.lanes.map((lane) => whoOf(lane).length * PER_LETTER + 20));
  const [left, right] = [NAMES + who, width - WORDS];
  const scale = (at) => left + ((at - since + margin) / (until - since + 2 * margin)) * (right - left);
  const height = HEAD + story.lanes.length * ROW + 4;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height });
  for (const at of ticks(0, until - since, 5)) {
    const x = scale(since + at);
    svg.append(draw("path", { class: "grid-line", d: `M${x} ${HEAD - 4}V${height}` }), draw("text", { x, y: 12, "text-anchor": "middle" }, at ? `+${span(at)}` : clock(since, { millis: true })));
  }
  svg.append(draw("path", { class: "lane-cause", d: `M${scale(story.opened_at)} ${HEAD - 4}V${height}` }));
  story.lanes.forEach((lane, i) => svg.append(drawLane(lane, HEAD + i * ROW, scale, since - margin, until + margin, isWaiting ? end : until + margin, story.knew_all_before)));
  host.replaceChildren(svg);
}

function drawLane(lane, y, scale, first, last, end, knewAll) {
  const middle = y + ROW / 2;
  const group = draw("g", {}, draw("rect", { class: "hit", y, width: "100%", height: ROW }));
  group.append(draw("text", { class: "queue", x: 0, y: middle + 4 }, shown(lane.queue, 28), draw("title", {}, shown(lane.queue))));
  group.append(draw("text", { x: NAMES, y: middle + 4 }, whoOf(lane), draw("title", {}, `${lane.from ? shown(lane.from) : gettext("nobody")} → ${lane.to ? shown(lane.to) : gettext("nobody yet")}`)));
  const bar = (look, from, to, top, tall) => from < to && group.append(draw("rect", { class: look, x: scale(from), y: y + top, width: Math.max(1, scale(to) - scale(from)), height: tall }));
  const [dropped, taken] = [lane.dropped_at, lane.taken_at];
  if (lane.from && dropped !== null) bar("lane-old", first, dropped, 4, 5);
  else if (lane.is_shared) bar("lane-old", first, taken, 4, 5);
  if (lane.to && taken !== null) bar("lane-new", taken, last, 10, 5);
  if (lane.is_shared) bar("lane-two", taken, end, 3, 13);
  else if (dropped !== null && taken !== null && taken < dropped) bar("lane-two", taken, dropped, 3, 13);
  else if (dropped !== null) bar("lane-none", dropped, taken ?? end, 3, 13);
  if (lane.first_pull_at !== null) group.append(draw("path", { class: "lane-pull", d: `M${scale(lane.first_pull_at)} ${y + 2}V${y + ROW - 2}` }));
  const [look, words] = verdict(lane, knewAll);
  group.append(draw("text", { class: look, x: "100%", y: middle + 4, "text-anchor": "end" }, words));
  return group;
}

export function verdict({ from, unowned, overlap, is_waiting: isWaiting, is_shared: isShared, is_overlap: isOverlap, is_gap: isGap }, knewAll = false) {
  if (isShared) return ["word-two", fill(gettext("%(span)s two owners so far"), { span: bounds(overlap) })];
  if (isOverlap && overlap[1] !== null) return ["word-two", fill(gettext("%(span)s two owners"), { span: bounds(overlap) })];
  if (isWaiting) return ["word-none", fill(gettext("%(span)s no owner so far"), { span: bounds(unowned) })];
  if (isGap) return ["word-none", fill(gettext("%(span)s no owner"), { span: bounds(unowned) })];
  if (!from && knewAll) return ["", gettext("nobody had it before")];
  return ["", unowned[1] === 0 ? gettext("no gap") : gettext("owner before unknown")];
}

function bounds([low, high]) {
  if (low === high) return span(low);
  if (high === null) return `≥ ${span(low)}`;
  return low ? `${span(low)} – ${span(high)}` : `≤ ${span(high)}`;
}

const whoOf = (lane) => `${short(lane.from)} → ${lane.to ? short(lane.to) : gettext("nobody yet")}`;

/** The part of a client id that tells it from others. */
const short = (client) => (client ? shown(client.slice(client.indexOf("@") + 1), 18) : gettext("nobody"));
