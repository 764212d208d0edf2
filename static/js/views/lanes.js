// Handoffs of one round: a lane each, from the old owner to the new one; hatched while nobody has the queue, and hatched
// in grey while it is unknown whether anybody has it.
import { between, clock, span, ticks } from "../lib/time.js";
import { draw } from "../lib/svg.js";
import { fill, gettext } from "../lib/words.js";
import { shown } from "../lib/shown.js";
import { widthOf } from "../lib/widths.js";

const [NAMES, LEAST_WHO, LEAST_WORDS, ROW, HEAD] = [190, 110, 120, 20, 22];
const [LEAST_WIDTH, WORDS_ABOVE, LINE] = [760, 30, 15]; // px; in a narrower place words stand above the bars, not beside them
const [PER_LETTER, PER_MONO, PER_BOLD, PER_TICK] = [6.4, 6.8, 7, 64];
const [SHORT_NAME, NAME] = [22, 28];
const WHOLE = 13; // how tall that is which nobody has, or two
const BEFORE_MS = 60_000; // of what was taken long before the round no more is drawn

/** Draw the lanes of a round into `host`. */
export function drawLanes(host, story) {
  if (!host || !story?.lanes.length) return host?.replaceChildren();
  const end = story.closed_at ?? story.now;
  const instants = story.lanes.flatMap((lane) => [lane.dropped_at, lane.taken_at, lane.first_pull_at, lane.gone_at]).filter((at) => at !== null);
  const isWaiting = story.lanes.some((lane) => lane.is_waiting || lane.is_shared || lane.is_unknown);
  const since = Math.max(Math.min(story.opened_at, ...instants), story.opened_at - BEFORE_MS);
  const until = Math.max(isWaiting ? end : 0, story.opened_at, ...instants, since + 200);
  const margin = (until - since) * 0.06 + 20;
  const isNarrow = host.clientWidth > 0 && host.clientWidth < LEAST_WIDTH - 160;
  const width = isNarrow ? host.clientWidth : Math.max(LEAST_WIDTH, host.clientWidth);
  const who = Math.max(LEAST_WHO, ...story.lanes.map((lane) => widthOf(whoOf(lane), PER_LETTER) + 20));
  const words = Math.max(LEAST_WORDS, ...story.lanes.map((lane) => widthOf(said(lane)[1], PER_BOLD) + 20));
  const [left, right] = isNarrow ? [0, width] : [NAMES + who, width - words];
  const rows = story.lanes.map((lane) => (isNarrow ? ROW + WORDS_ABOVE + (fitsBeside(lane, width) ? 0 : LINE) : ROW));
  const scale = (at) => left + ((at - since + margin) / (until - since + 2 * margin)) * (right - left);
  const height = HEAD + rows.reduce((sum, row) => sum + row, 0) + 4;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, "data-narrow": isNarrow });
  const room = Math.floor(((right - left) * (until - since)) / (until - since + 2 * margin) / PER_TICK);
  const begins = scale(since) < PER_TICK / 2; // no room before it: its words begin there
  for (const at of ticks(0, until - since, Math.max(1, Math.min(6, room)))) {
    const x = scale(since + at);
    svg.append(draw("path", { class: "grid-line", d: `M${x} ${HEAD - 4}V${height}` }));
    if (!at || x - scale(since) > (begins ? 1.6 : 1) * PER_TICK) svg.append(draw("text", { x, y: 12, "text-anchor": x < PER_TICK / 2 ? "start" : "middle" }, at ? `+${span(at)}` : clock(since, { millis: true })));
  }
  svg.append(draw("path", { class: "lane-cause", d: `M${scale(story.opened_at)} ${HEAD - 4}V${height}` }));
  const lasts = story.closed_at === null ? end : Infinity; // what lasts goes on after a round that has ended
  let y = HEAD;
  story.lanes.forEach((lane, i) => {
    const group = drawLane(lane, y + rows[i] - ROW, scale, since - margin, until + margin, isWaiting ? lasts : until + margin);
    group.prepend(draw("rect", { class: "hit", y, width: "100%", height: rows[i] }));
    group.append(...wordsOf(lane, y, isNarrow, width));
    svg.append(group);
    y += rows[i];
  });
  host.replaceChildren(svg);
}

/** The queue, from whom to whom, and what it cost. */
function wordsOf(lane, y, isNarrow, width) {
  const line = y + ROW / 2 + 4;
  const [look, words] = said(lane);
  const whole = `${lane.from ? shown(lane.from) : noneBefore(lane)} → ${lane.to ? shown(lane.to) : noneYet(lane)}`;
  return [
    draw("text", { class: "queue", x: 0, y: line }, shown(lane.queue, isNarrow ? SHORT_NAME : NAME), draw("title", {}, shown(lane.queue))),
    draw("text", isNarrow ? { x: 0, y: line + LINE } : { x: NAMES, y: line }, whoOf(lane), draw("title", {}, whole)),
    draw("text", isNarrow && !fitsBeside(lane, width) ? { class: look, x: 0, y: line + 2 * LINE } : { class: look, x: "100%", y: line, "text-anchor": "end" }, words),
  ];
}

/** Whether what a handoff cost has room beside the name of its queue; where not, it has a line of its own. */
export function fitsBeside(lane, width) {
  return widthOf(shown(lane.queue, SHORT_NAME), PER_MONO) + widthOf(said(lane)[1], PER_BOLD) + 8 <= width;
}

/** What a handoff cost in time; and how many messages came twice, at least, where that is known. */
function said(lane) {
  const [look, words] = verdict(lane);
  return [look, lane.twice ? fill(gettext("%(words)s, ≥ %(n)s twice"), { words, n: lane.twice }) : words];
}

function drawLane(lane, y, scale, first, last, end) {
  const group = draw("g");
  const bar = (look, from, to, top, tall) => {
    const [begin, stop] = [Math.max(from, first), Math.min(to, last)];
    if (begin >= stop) return;
    group.append(draw("rect", { class: look, x: scale(begin), y: y + top, width: Math.max(1, scale(stop) - scale(begin)), height: tall }));
    if (tall === WHOLE && to > last) group.append(draw("path", { class: "lane-on", d: `M${scale(last) - 8} ${y + top + 2}l5 4.5l-5 4.5` }));
  };
  const [dropped, taken] = [lane.dropped_at, lane.taken_at];
  const letGo = lane.from && dropped === null && taken !== null && !lane.is_shared && lane.overlap[1] !== null ? taken + lane.overlap[1] : null;
  if (letGo !== null) bar("lane-old", first, last, 4, 5);
  else if (lane.from && dropped !== null) bar("lane-old", first, dropped, 4, 5);
  else if (lane.is_shared) bar("lane-old", first, taken, 4, 5);
  else if (lane.is_first_seen && taken !== null) bar("lane-unknown", first, taken, 3, WHOLE);
  if (lane.to && taken !== null) bar("lane-new", taken, letGo ?? last, 10, 5);
  const two = lane.is_overlap ? "lane-two" : "lane-maybe-two";
  if (lane.is_shared) bar(two, taken, end, 3, WHOLE);
  else if (letGo !== null) bar(two, taken, letGo, 3, WHOLE);
  else if (dropped !== null && taken !== null && taken < dropped) bar(two, taken, dropped, 3, WHOLE);
  else if (lane.is_unknown) {
    const known = dropped + (lane.unowned[0] ?? 0);
    bar("lane-none", dropped, known, 3, WHOLE);
    bar("lane-unknown", known, end, 3, WHOLE);
  } else if (dropped !== null) bar(lane.is_gap ? "lane-none" : "lane-maybe-none", dropped, taken ?? (lane.is_gone ? (lane.gone_at ?? dropped + lane.unowned[1]) : end), 3, WHOLE);
  else if (lane.is_gap && taken !== null) bar("lane-none", taken - lane.unowned[0], taken, 3, WHOLE);
  const pull = pullIn(lane, first, last);
  if (pull !== null) group.append(draw("path", { class: "lane-pull", d: `M${scale(pull)} ${y + 2}V${y + ROW - 2}` }));
  if (lane.twice && pull !== null) group.append(draw("circle", { class: "lane-again", cx: scale(pull), cy: y + ROW / 2, r: 3 }, draw("title", {}, gettext("consumed again from here"))));
  return group;
}

/** When the new owner pulled first, where the lane has that time: who had the queue long since began before it. */
export const pullIn = ({ first_pull_at: at }, first, last) => (at !== null && at >= first && at <= last ? at : null);

/** What a handoff came to: known where there is a lower bound, perhaps where nothing but an upper one is. */
export function verdict(lane) {
  const { from, unowned, overlap, is_waiting: isWaiting, is_shared: isShared, is_overlap: isOverlap, is_gap: isGap, is_unknown: isUnknown, is_first_seen: isFirstSeen } = lane;
  if (isUnknown && unowned[0]) return ["word-unknown", fill(gettext("%(span)s no owner, then unknown: no answer"), { span: span(unowned[0]) })];
  if (isUnknown) return ["word-unknown", gettext("unknown: no answer")];
  if (isShared && isOverlap) return ["word-two", fill(gettext("%(span)s two owners so far"), { span: between(overlap) })];
  if (isShared) return ["word-unknown", fill(gettext("perhaps two owners so far, %(span)s"), { span: between(overlap) })];
  if (isOverlap && lane.is_older) return ["word-two", fill(gettext("%(span)s two owners, since an earlier round"), { span: between(overlap) })];
  if (isOverlap) return ["word-two", fill(gettext("%(span)s two owners"), { span: between(overlap) })];
  if (lane.is_gone) return [isGap ? "word-none" : "word-unknown", gone(lane)];
  if (isWaiting && !isGap) return ["word-unknown", fill(gettext("perhaps no owner so far, %(span)s"), { span: between(unowned) })];
  if (isWaiting) return ["word-none", fill(gettext("%(span)s no owner so far"), { span: between(unowned) })];
  if (isGap) return ["word-none", fill(gettext("%(span)s no owner"), { span: between(unowned) })];
  if (lane.is_perhaps_gap || lane.is_perhaps_overlap) return ["word-unknown", perhaps(lane)];
  if (isFirstSeen) return ["word-unknown", gettext("owner before unknown")];
  if (!from) return ["", gettext("nobody had it before")];
  return ["", unowned[1] === 0 ? gettext("no gap") : gettext("owner before unknown")];
}

function perhaps({ unowned, overlap, is_perhaps_gap: isGap, is_perhaps_overlap: isOverlap }) {
  if (isOverlap && overlap[1] === null) return isGap ? gettext("perhaps none or two") : gettext("perhaps two owners");
  if (isGap && isOverlap) return fill(gettext("perhaps none or two, %(span)s"), { span: between([0, Math.max(unowned[1], overlap[1])]) });
  if (isGap) return fill(gettext("perhaps no owner, %(span)s"), { span: between(unowned) });
  return fill(gettext("perhaps two owners, %(span)s"), { span: between(overlap) });
}

/** A queue that nobody took until it left the route. */
function gone({ unowned, is_gap: isGap, is_perhaps_gap: isPerhaps }) {
  if (isGap) return fill(gettext("%(span)s no owner, then queue gone"), { span: between(unowned) });
  return isPerhaps ? fill(gettext("queue gone, perhaps no owner before, %(span)s"), { span: between(unowned) }) : gettext("queue gone");
}

const whoOf = (lane) => `${lane.from ? short(lane.from) : noneBefore(lane)} → ${lane.to ? short(lane.to) : noneYet(lane)}`;
const noneBefore = (lane) => (lane.is_first_seen ? gettext("unknown") : gettext("nobody"));
const noneYet = (lane) => (lane.is_gone ? gettext("queue gone") : lane.is_unknown ? gettext("unknown") : gettext("nobody yet"));

/** The part of a client id that tells it from others. */
const short = (client) => shown(client.slice(client.indexOf("@") + 1), 18);
