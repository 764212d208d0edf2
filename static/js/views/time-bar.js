// Time as one axis: rounds as stems (height: queues that move, head: the cause), and when queues had no owner, or two.
import { ownerBands } from "../lib/bands.js";
import { causeWords } from "../lib/state.js";
import { clock, span, ticks } from "../lib/time.js";
import { draw } from "../lib/svg.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { glyphOf } from "../lib/glyphs.js";
import { noAnswer } from "../lib/partly.js";
import { widthOf } from "../lib/widths.js";

const [PER_LETTER, PER_BOLD] = [6.4, 7.2];
export const [LEFT, RIGHT] = [104, 24]; // of the scale that owners over time share
const [BASE, TWO, NONE, SAYS, BOTTOM] = [50, 56, 70, 90, 108];

/** Draw the bar into `host`; `until` is its end. Rounds lead to their pages at `base`, any other place to its instant. */
export function drawTimeBar(host, time, { until, base, isShared = false, at = null, onPick = null }) {
  const width = Math.max(320, host.clientWidth);
  const scale = (at) => LEFT + ((at - time.since) / (until - time.since)) * (width - LEFT - RIGHT);
  const svg = draw("svg", { viewBox: `0 0 ${width} ${BOTTOM}`, height: BOTTOM, role: "group", "aria-label": gettext("Rounds over time") });
  svg.append(...axis(time, until, width, scale));
  if (ownerBands(isShared).length) svg.append(...ownerParts(time, width, scale, until));
  else svg.append(draw("text", { x: LEFT, y: TWO + 14 }, gettext("broadcasting: every member has every queue")));
  if (onPick) svg.append(picker(time.since, until, width, onPick));
  const x = scale(at ?? until);
  svg.append(...stems(time.rounds, scale, width, base, x));
  svg.append(draw("path", { class: "now-line", d: `M${x} 4V${NONE + 8}` }), draw("path", { class: "now-head", d: `M${x - 5} 0h10l-5 6z` }));
  host.replaceChildren(svg);
  const causes = new Set(time.rounds.map((round) => round.cause));
  for (const item of host.parentElement.querySelectorAll("[data-rare]")) item.hidden = !causes.has(item.dataset.rare);
}

/** When queues had two owners, and none; and what of that is not known. */
function ownerParts(time, width, scale, until) {
  return [
    band(gettext("two owners"), TWO, width),
    band(gettext("no owner"), NONE, width),
    ...doubted(time, scale, until),
    ...unknown(time, scale, until),
    ...steps(time.two, "band-two", TWO, scale, until),
    ...steps(time.none, "band-none", NONE, scale, until),
    ...perhaps(time.perhaps_none ?? [], scale, until),
    ...later(time.looked ?? until, scale, until),
  ];
}

/** What takes clicks between the stems: each place is an instant. Keys lead there too. */
function picker(since, until, width, onPick) {
  const area = draw("rect", { class: "pick", x: LEFT, y: 0, width: width - LEFT - RIGHT, height: BOTTOM }, draw("title", {}, gettext("Show this instant")));
  area.addEventListener("click", (event) => {
    const box = area.getBoundingClientRect();
    onPick(Math.min(until, since + ((event.clientX - box.left) / box.width) * (until - since)));
  });
  return area;
}

function axis(time, until, width, scale) {
  const parts = [draw("path", { class: "axis-line", d: `M${LEFT} ${BASE + 0.5}H${width - RIGHT}` }), draw("text", { x: 0, y: BASE - 6 }, gettext("moves"))];
  const all = ticks(time.since, until, Math.max(2, Math.floor((width - LEFT) / 120)));
  for (const at of all) {
    const x = Math.round(scale(at)) + 0.5;
    parts.push(draw("path", { class: "grid-line", d: `M${x} 8V${NONE + 8}` }));
    parts.push(draw("text", { x, y: BOTTOM - 4, "text-anchor": "middle" }, clock(at)));
  }
  return parts;
}

const band = (words, y, width) => draw("g", {}, draw("text", { x: 0, y: y + 8 }, words), draw("rect", { class: "band-ground", x: LEFT, y, width: width - LEFT - RIGHT, height: 8 }));

function steps(list, look, y, scale, until) {
  const most = Math.max(1, ...list.map(([, , queues]) => queues));
  return list.map(([since, end, queues]) => {
    const x = scale(since);
    const title = fill(ngettext("%(n)s queue for %(span)s from %(at)s", "%(n)s queues for %(span)s from %(at)s", queues), { n: queues, span: span(end - since), at: clock(since) });
    return draw("rect", { class: look, x, y, width: Math.max(1.5, scale(Math.min(end, until)) - x), height: 8, opacity: 0.4 + (0.6 * queues) / most }, draw("title", {}, title));
  });
}

/** Between the look that saw a queue held last and the one that saw who has it next. */
function perhaps(list, scale, until) {
  return list.map(([since, end, queues]) => {
    const x = scale(since);
    const title = fill(ngettext("perhaps no owner: %(n)s queue within %(span)s from %(at)s", "perhaps no owner: %(n)s queues within %(span)s from %(at)s", queues), { n: queues, span: span(end - since), at: clock(since) });
    return draw("rect", { class: "band-perhaps", x, y: NONE + 0.5, width: Math.max(1.5, scale(Math.min(end, until)) - x), height: 7 }, draw("title", {}, title));
  });
}

/** Since the last look nothing is known: no fault there is no sign of health. */
function later(looked, scale, until) {
  const [from, to] = [Math.max(LEFT, scale(looked)), scale(until)];
  if (to - from < 1) return [];
  const title = fill(gettext("not looked at yet: the last look was at %(at)s"), { at: clock(looked) });
  return [TWO, NONE].map((y) => draw("rect", { class: "band-later", x: from, y: y + 0.5, width: to - from, height: 7 }, draw("title", {}, title)));
}

/** While somebody did not answer, who has left since: whoever that was may have had what nobody had. */
function doubted({ doubts = [] }, scale, until) {
  return doubts.map(([from, to]) => {
    const title = fill(gettext("unknown from %(at)s to %(until)s: not everybody answered, or not of all connections, or NameServers disagreed"), { at: clock(from), until: clock(to) });
    const x = scale(from);
    return draw("rect", { class: "band-unknown", x, y: NONE, width: Math.max(1.5, scale(Math.min(to, until)) - x), height: 8 }, draw("title", {}, title));
  });
}

/** From when on somebody does not answer: whoever that is may have what nobody has, or a second time what another has. */
function unknown({ told_until: told, since, in_part: inPart = [] }, scale, until) {
  if (told === null || told >= until) return [];
  const [from, to] = [scale(Math.max(told, since)), scale(until)];
  const words = noAnswer(inPart);
  const title = fill(inPart.length ? gettext("unknown since %(at)s: not each connection of a member can be asked") : gettext("unknown since %(at)s: not everybody has answered since"), { at: clock(told) });
  const rows = [TWO, NONE].map((y) => draw("rect", { class: "band-unknown", x: from, y, width: Math.max(1.5, to - from), height: 8 }, draw("title", {}, title)));
  const isWide = to - from > widthOf(words, 6.2) + 12;
  const text = draw("text", { class: "says-unknown", x: isWide ? (from + to) / 2 : to, y: SAYS, "text-anchor": isWide ? "middle" : "end" }, words, draw("title", {}, title));
  return [...rows, text];
}

function stems(rounds, scale, width, base, playhead) {
  const most = Math.max(1, ...rounds.map((round) => round.moves));
  let free = LEFT;
  return rounds.map((round, i) => {
    const x = Math.max(LEFT, scale(round.opened_at));
    const y = BASE - 12 - (22 * (round.moves ?? most / 2)) / most;
    const isLatest = i === rounds.length - 1;
    const next = rounds[i + 1] ? Math.max(LEFT, scale(rounds[i + 1].opened_at)) : width - RIGHT;
    const perLetter = isLatest ? PER_BOLD : PER_LETTER;
    const [words, isLeft] = labelOf(round, x, ...besidePlayhead(x, free, next, playhead), perLetter);
    free = Math.max(free, words && !isLeft ? x + 10 + widthOf(words, perLetter) : x + 6);
    const [path, isHollow] = glyphOf(round.cause);
    const title = `${round.number}: ${round.words}, ${clock(round.opened_at, { millis: true })}, ${movesIn(round)}`;
    const link = draw("a", { href: `${base}rounds/${round.number}/`, class: isLatest ? "is-latest" : null, "aria-label": title });
    link.append(draw("title", {}, title), draw("rect", { class: "hit", x: x - 8, y: 0, width: 16, height: BASE }),
      draw("path", { class: round.moves === null ? "stem is-unknown" : "stem", d: `M${x} ${BASE}V${y + 5}` }), draw("path", { class: isHollow ? "glyph hollow" : "glyph", d: path, transform: `translate(${x} ${y})` }));
    if (words) link.append(draw("text", { class: "says-round", x: isLeft ? x - 9 : x + 9, y: y + 4, "text-anchor": isLeft ? "end" : null }, words));
    return link;
  });
}

/** Say how many queues move in a round, moved, or lost their owner because all members left. */
export function movesIn({ moves, closed_at: end, is_left: isLeft }) {
  if (isLeft && moves !== null) return `${moves} ${gettext("left without owner")}`;
  if (moves === null) return gettext("how many queues move is unknown");
  return `${moves} ${end === null ? gettext("to move") : gettext("moved")}`;
}

/** The room beside a stem, up to the playhead: no label lies over it. */
export const besidePlayhead = (x, free, next, playhead) => (playhead < x ? [Math.max(free, playhead), next] : [free, playhead > x ? Math.min(next, playhead) : next]);

/** The longest label that has room beside a stem, and whether it stands to its left. */
export function labelOf({ number, words, cause }, x, free, next, perLetter = PER_LETTER) {
  const all = [`${number} ${words}`, `${number} ${causeWords(cause)}`, String(number)];
  const width = (text) => 10 + widthOf(text, perLetter);
  for (const text of all) {
    if (x >= free && x + width(text) < next) return [text, false];
    if (x - width(text) > free) return [text, true];
  }
  return [null, false];
}
