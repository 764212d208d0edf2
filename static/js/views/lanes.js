// Handoffs of one round: a lane each, from the old owner to the new one; hatched while nobody has the queue, and hatched
// in grey while it is unknown whether anybody has it. A queue without owner, or with two, of which no handoff tells has a
// lane too.
import { between, clock, span, ticks } from "../lib/time.js";
import { draw } from "../lib/svg.js";
import { fill, gettext } from "../lib/words.js";
import { noAnswer } from "../lib/partly.js";
import { shown } from "../lib/shown.js";
import { widthOf } from "../lib/widths.js";

const [NAMES, LEAST_WHO, LEAST_WORDS, ROW, HEAD] = [190, 110, 120, 20, 22];
const [MOST_LEFT, OF_WIDTH, OF_BAR] = [270, 0.26, 0.5]; // where all would not leave half of the width to the bars, names and words take two lines
const [LEAST_WIDTH, WORDS_ABOVE, BELOW, LINE] = [760, 34, 4, 15]; // px; in a narrower place words stand above the bars, not beside them
const [PER_LETTER, PER_MONO, PER_BOLD, PER_TICK] = [6.4, 6.8, 7, 76];
const [SHORT_NAME, NAME, NAME_OF_MEMBER] = [22, 28, 18];
const WORD = /[\u2e80-\uffff]\s*|[^\s\u2e80-\uffff]+\s*/gu; // Chinese is broken anywhere
const WHOLE = 13; // how tall that is which nobody has, or two
const BEFORE_MS = 60_000; // what was longer before the round is not on the axis

/** Draw the lanes of a round into `host`. */
export function drawLanes(host, told) {
  if (!host || !told?.lanes.length) return host?.replaceChildren();
  const story = { ...told, lanes: told.lanes.map((lane) => ({ ...lane, in_part: told.in_part ?? [] })) };
  const end = story.closed_at ?? story.now;
  const isWaiting = story.lanes.some((lane) => lane.is_waiting || lane.is_shared || lane.is_unknown);
  const lasts = story.closed_at === null ? end : Infinity; // what lasts goes on after a round that has ended
  const bars = story.lanes.map((lane) => (lane.why ? barsBeside(lane) : barsOf(lane, { end: isWaiting ? lasts : Infinity, had: hadSince(lane, story.lanes) })));
  const [since, until] = reachOf(story, bars.flat(), isWaiting ? end : 0);
  const margin = (until - since) * 0.06 + 20;
  const isNarrow = host.clientWidth > 0 && host.clientWidth < LEAST_WIDTH - 160;
  const width = isNarrow ? host.clientWidth : Math.max(LEAST_WIDTH, host.clientWidth);
  const { left, right, isStacked } = isNarrow ? { left: 0, right: width } : columns(story.lanes, width);
  const rows = story.lanes.map((lane) => (isNarrow ? ROW + WORDS_ABOVE + BELOW + (fitsBeside(lane, width) ? 0 : LINE) : isStacked ? ROW + LINE : ROW));
  const scale = (at) => left + ((at - since + margin) / (until - since + 2 * margin)) * (right - left);
  const height = HEAD + rows.reduce((sum, row) => sum + row, 0) + 4;
  const across = rulesOf(rows, height, isNarrow);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height, "data-narrow": isNarrow });
  const room = Math.floor(((right - left) * (until - since)) / (until - since + 2 * margin) / PER_TICK);
  const begins = scale(since) < PER_TICK / 2; // no room before it: its words begin there
  for (const at of ticks(0, until - since, Math.max(1, Math.min(6, room)))) {
    const x = scale(since + at);
    svg.append(draw("path", { class: "grid-line", d: across(x) }));
    if (!at || x - scale(since) > (begins ? 1.6 : 1) * PER_TICK) svg.append(draw("text", { x, y: 12, "text-anchor": x < PER_TICK / 2 ? "start" : "middle" }, at ? `+${span(at)}` : clock(since, { millis: true })));
  }
  svg.append(draw("path", { class: "lane-cause", d: across(scale(story.opened_at)) }));
  let y = HEAD;
  story.lanes.forEach((lane, i) => {
    const group = drawLane(lane, bars[i], y + (isStacked ? LINE / 2 : isNarrow ? rows[i] - ROW - BELOW : 0), scale, [since - margin, until + margin]);
    group.prepend(draw("rect", { class: "hit", y, width: "100%", height: rows[i] }));
    group.append(...(isStacked ? stacked(lane, y, left, width - right) : wordsOf(lane, y, isNarrow, width)));
    svg.append(group);
    y += rows[i];
  });
  host.replaceChildren(svg);
}

/** Draws a line at an instant, from above to below; where words stand above the bars, beside these alone: it would run through them. */
export function rulesOf(rows, height, isNarrow) {
  if (!isNarrow) return (x) => `M${x} ${HEAD - 4}V${height}`;
  const bars = rows.map((row, i) => HEAD + rows.slice(0, i + 1).reduce((sum, each) => sum + each, 0) - ROW - BELOW);
  return (x) => `M${x} ${HEAD - 6}v6${bars.map((y) => `M${x} ${y}v${ROW}`).join("")}`;
}

/** From when to when the axis is: it has all that nobody had, or two, but for what was long before the round. */
export function reachOf(story, bars, least) {
  const told = story.lanes.flatMap((lane) => [lane.dropped_at, lane.taken_at, lane.first_pull_at, lane.gone_at]);
  const ends = bars.filter((bar) => bar.tall === WHOLE).flatMap(({ from, to }) => [from, to]);
  const instants = [...told, ...ends].filter((at) => Number.isFinite(at));
  const since = beginOf(story.opened_at, instants);
  return [since, Math.max(least, story.opened_at, ...instants, since + 200)];
}

/** Where the axis begins: at the first that happened, but for what was long before the round. That comes in from the left. */
export const beginOf = (openedAt, instants) => Math.min(openedAt, ...instants.filter((at) => at >= openedAt - BEFORE_MS));

/** Where the bars begin and end, in px: they have half of the width at least; for that, names and words take two lines. */
export function columns(lanes, width) {
  const who = Math.max(LEAST_WHO, ...lanes.map((lane) => widthOf(whoOf(lane), PER_LETTER) + 20));
  const words = Math.max(LEAST_WORDS, ...lanes.map((lane) => widthOf(said(lane)[1], PER_BOLD) + 20));
  if (width - NAMES - who - words >= OF_BAR * width) return { left: NAMES + who, right: width - words, isStacked: false };
  const left = Math.min(Math.max(NAMES, who), MOST_LEFT, Math.floor(OF_WIDTH * width));
  return { left, right: Math.max(left + OF_BAR * width, width - words), isStacked: true };
}

/** Words in at most two lines of so many px, as even as they can be; what has no room ends in three dots. */
export function wrapped(words, room) {
  if (widthOf(words, PER_BOLD) <= room) return [words];
  const parts = words.match(WORD) ?? [];
  const cuts = parts.slice(1).map((_, i) => [parts.slice(0, i + 1), parts.slice(i + 1)].map((line) => line.join("").trimEnd()));
  const longest = (lines) => Math.max(...lines.map((line) => widthOf(line, PER_BOLD)));
  const lines = cuts.reduce((best, each) => (longest(each) < longest(best) ? each : best), [words]);
  return lines.map((line) => fitting(line, room));
}

function fitting(line, room) {
  if (widthOf(line, PER_BOLD) <= room) return line;
  const letters = [...line];
  while (letters.length && widthOf([...letters, "…"].join(""), PER_BOLD) > room) letters.pop();
  return `${letters.join("").trimEnd()}…`;
}

/** The queue above from whom to whom; and what it cost. */
function stacked(lane, y, left, right) {
  const [look, words] = said(lane);
  const lines = wrapped(words, right - 12);
  const first = y + (ROW + LINE) / 2 + 4 - LINE / 2;
  const begin = lines.length > 1 ? first : first + LINE / 2;
  const letters = Math.min(NAME_OF_MEMBER, Math.max(8, Math.floor(((left - 12) / PER_LETTER - 3) / 2)));
  return [
    draw("text", { class: "queue", x: 0, y: first }, shown(lane.queue, Math.min(NAME, Math.floor((left - 8) / PER_MONO))), draw("title", {}, shown(lane.queue))),
    draw("text", { x: 0, y: first + LINE }, whoOf(lane, letters), draw("title", {}, wholeOf(lane))),
    draw("text", { class: look, "text-anchor": "end" }, ...lines.map((line, i) => draw("tspan", { x: "100%", y: begin + i * LINE }, line)), draw("title", {}, words)),
  ];
}

/** The queue, from whom to whom, and what it cost. */
function wordsOf(lane, y, isNarrow, width) {
  const line = y + ROW / 2 + 4;
  const [look, words] = said(lane);
  return [
    draw("text", { class: "queue", x: 0, y: line }, shown(lane.queue, isNarrow ? SHORT_NAME : NAME), draw("title", {}, shown(lane.queue))),
    draw("text", isNarrow ? { x: 0, y: line + LINE } : { x: NAMES, y: line }, whoOf(lane), draw("title", {}, wholeOf(lane))),
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

/** Since when the old owner has had a queue that it took in the same round itself; always, where nothing tells of it. */
export function hadSince(lane, lanes) {
  const until = lane.dropped_at ?? lane.taken_at;
  const own = lanes.filter((each) => each.queue === lane.queue && each.to === lane.from && !each.is_first_seen && each.taken_at !== null && each.taken_at <= until);
  return lane.from ? Math.max(-Infinity, ...own.map((each) => each.taken_at)) : -Infinity;
}

/** The bars of a handoff, in the order in which they are drawn; what has no end, or none is known of, goes on for ever. */
export function barsOf(lane, { end, had }) {
  const bars = [];
  const bar = (look, from, to, top, tall) => from < to && bars.push({ look, from, to, top, tall });
  const whole = (look, from, to) => bar(look, from, to, 3, WHOLE);
  const [dropped, taken] = [lane.dropped_at, lane.taken_at];
  const letGo = lane.from && dropped === null && taken !== null && !lane.is_shared && lane.overlap[1] !== null ? taken + lane.overlap[1] : null;
  if (letGo !== null) bar("lane-old", had, Infinity, 4, 5);
  else if (lane.from && dropped !== null) bar("lane-old", had, dropped, 4, 5);
  else if (lane.is_shared) bar("lane-old", had, taken, 4, 5);
  else if (lane.is_first_seen && taken !== null) whole("lane-unknown", -Infinity, taken);
  if (lane.to && taken !== null) bar("lane-new", taken, letGo ?? Infinity, 10, 5);
  const two = lane.is_overlap ? "lane-two" : "lane-maybe-two";
  if (lane.is_shared) whole(two, taken, end);
  else if (letGo !== null) whole(two, taken, letGo);
  else if (dropped !== null && taken !== null && taken < dropped) whole(two, taken, dropped);
  else if (lane.is_unknown) {
    const known = dropped + (lane.unowned[0] ?? 0);
    whole("lane-none", dropped, known);
    whole("lane-unknown", known, end);
  } else if (lane.is_gap && dropped !== null && taken !== null) {
    for (const [look, from, to] of gapOf(lane)) whole(look, from, to);
  } else if (dropped !== null) whole(lane.is_gap ? "lane-none" : "lane-maybe-none", dropped, taken ?? (lane.is_gone ? (lane.gone_at ?? dropped + lane.unowned[1]) : end));
  else if (lane.is_gap && taken !== null) for (const [look, from, to] of gapBefore(lane)) whole(look, from, to);
  return bars;
}

/** The bars of a queue of which no handoff tells: what is only possible below what is certain. */
export function barsBeside({ nobody, perhaps_nobody: perhapsNobody, two, perhaps_two: perhapsTwo }) {
  const kinds = [["lane-maybe-none", perhapsNobody], ["lane-none", nobody], ["lane-maybe-two", perhapsTwo], ["lane-two", two]];
  return kinds.flatMap(([look, times]) => times.map(([from, to]) => ({ look, from, to, top: 3, tall: WHOLE })));
}

/** One lane; what begins before the axis does, or ends after it, has a mark there. */
function drawLane(lane, bars, y, scale, [first, last]) {
  const group = draw("g");
  for (const { look, from, to, top, tall } of bars) {
    const [begin, stop] = [Math.max(from, first), Math.min(to, last)];
    if (begin >= stop) continue;
    group.append(draw("rect", { class: look, x: scale(begin), y: y + top, width: Math.max(1, scale(stop) - scale(begin)), height: tall }));
    if (tall !== WHOLE || look === "lane-unknown") continue;
    if (to > last) group.append(draw("path", { class: "lane-on", d: `M${scale(last) - 8} ${y + top + 2}l5 4.5l-5 4.5` }));
    if (from < first) group.append(draw("path", { class: "lane-on", d: `M${scale(first) + 8} ${y + top + 2}l-5 4.5l5 4.5` }));
  }
  const pull = pullIn(lane, first, last);
  if (pull !== null) group.append(draw("path", { class: "lane-pull", d: `M${scale(pull)} ${y + 2}V${y + ROW - 2}` }));
  if (lane.twice && pull !== null) group.append(draw("circle", { class: "lane-again", cx: scale(pull), cy: y + ROW / 2, r: 3 }, draw("title", {}, gettext("consumed again from here"))));
  return group;
}

/** When the new owner pulled first, where the lane has that time: who had the queue long since began before it. */
export const pullIn = ({ first_pull_at: at = null }, first, last) => (at !== null && at >= first && at <= last ? at : null);

/** The bars of when nobody had what was handed over: perhaps from when it was seen let go until it was seen taken, for certain within. */
export function gapOf({ unowned, dropped_at: dropped, dropped_high: high, taken_at: taken, taken_low: low }) {
  const end = Math.min(taken, low ?? taken);
  const begin = Math.max(dropped, high ?? dropped, end - unowned[0]);
  const sure = [["lane-none", begin, end]];
  return begin === dropped && end === taken ? sure : [["lane-maybe-none", dropped, taken], ...sure];
}

/** The bars of when nobody had what nobody had before: for certain until somebody may have taken it, and then perhaps. */
export function gapBefore({ unowned, taken_at: taken, taken_low: low }) {
  const sure = Math.min(taken, low ?? taken);
  return [["lane-none", sure - unowned[0], sure], ["lane-maybe-none", sure, taken]];
}

/** What a handoff came to: known where there is a lower bound, perhaps where nothing but an upper one is. */
export function verdict(lane) {
  if (lane.why) return verdictBeside(lane);
  const { from, unowned, overlap, is_waiting: isWaiting, is_shared: isShared, is_overlap: isOverlap, is_gap: isGap, is_unknown: isUnknown, is_first_seen: isFirstSeen } = lane;
  if (isUnknown && unowned[0]) return ["word-unknown", fill(gettext("%(span)s no owner, then %(unknown)s"), { span: span(unowned[0]), unknown: noAnswer(lane.in_part) })];
  if (isUnknown) return ["word-unknown", noAnswer(lane.in_part)];
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

/** What a queue came to of which no handoff tells: the longer of what is known, or else of what is possible. */
function verdictBeside(lane) {
  const { unowned, overlap, is_gap: isGap, is_overlap: isOverlap, is_lasting: isLasting } = lane;
  if (isGap && unowned[0] >= overlap[0]) return ["word-none", fill(noOwnerBeside(lane), { span: between(unowned) })];
  if (isOverlap) return ["word-two", fill(isLasting ? gettext("%(span)s two owners so far") : gettext("%(span)s two owners"), { span: between(overlap) })];
  return ["word-unknown", perhaps(lane)];
}

/** Of what may have had nobody since before the round the time is the round's alone: a finding of it may be older. */
function noOwnerBeside({ is_lasting: isLasting, is_of_round: isOfRound }) {
  if (isOfRound) return isLasting ? gettext("%(span)s of this round no owner so far") : gettext("%(span)s of this round no owner");
  return isLasting ? gettext("%(span)s no owner so far") : gettext("%(span)s no owner");
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

export const whoOf = (lane, most) => (lane.why ? gettext("no handoff") : `${lane.from ? short(lane.from, most) : noneBefore(lane)} → ${lane.to ? short(lane.to, most) : noneYet(lane)}`);
const wholeOf = (lane) => lane.why ?? `${lane.from ? shown(lane.from) : noneBefore(lane)} → ${lane.to ? shown(lane.to) : noneYet(lane)}`;
const noneBefore = (lane) => (lane.is_first_seen ? gettext("unknown") : gettext("nobody"));
const noneYet = (lane) => (lane.is_gone ? (lane.is_back ? gettext("gone, now back") : gettext("queue gone")) : lane.is_unknown ? gettext("unknown") : gettext("nobody yet"));

/** The part of a client id that tells it from others. */
const short = (client, most = NAME_OF_MEMBER) => shown(client.slice(client.indexOf("@") + 1), most);
