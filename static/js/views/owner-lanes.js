// Who had each queue over time: a lane for each queue on the scale of the time bar, by topic and broker. Owners alternate
// between two looks; above them stands when two had a queue, and when nobody.
import { LEFT, RIGHT } from "./time-bar.js";
import { clock, span, ticks } from "../lib/time.js";
import { draw, make } from "../lib/svg.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { goingOn, inParts, ownersBetween, ownersNow } from "../lib/bands.js";
import { noAnswer } from "../lib/partly.js";
import { shown } from "../lib/shown.js";

const [LANE, TITLE, HEAD, PER_LETTER] = [15, 20, 16, 6.4];
const LEAST_NAME = 8; // letters: of fewer nobody is told from another

/** Draw into a section; `told` is null before it was asked for. `at` is the instant that the page shows. */
export function drawOwners(section, told, { until, at = null, looked = null }) {
  if (!told) return; // the room that is kept stays
  section.hidden = !told.queues.length;
  if (section.hidden) return;
  const host = section.querySelector('[data-is="owners"]');
  const width = Math.max(320, host.clientWidth);
  const scale = (when) => LEFT + ((Math.min(Math.max(when, told.since), until) - told.since) / (until - told.since)) * (width - LEFT - RIGHT);
  const rows = lanesOf(told.queues);
  const height = HEAD + rows.reduce((sum, { queue }) => sum + (queue ? LANE : TITLE), 0) + 4;
  const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, height });
  for (const tick of ticks(told.since, until, Math.max(2, Math.floor((width - LEFT) / 120)))) {
    svg.append(draw("path", { class: "grid-line", d: `M${scale(tick)} ${HEAD - 2}V${height}` }), draw("text", { x: scale(tick), y: 10, "text-anchor": "middle" }, clock(tick)));
  }
  let y = HEAD;
  for (const { title, queue } of rows) {
    svg.append(queue ? laneOf(queue, told, y, scale, until, looked) : draw("text", { class: "of-lanes", x: 0, y: y + 14 }, shown(title, 80)));
    y += queue ? LANE : TITLE;
  }
  svg.append(draw("path", { class: "playhead", d: `M${scale(at ?? until)} ${HEAD - 2}V${height}` }));
  host.replaceChildren(svg);
  section.querySelector('[data-is="owners-note"]').textContent = noteOf(told);
  tabulate(section.querySelector('[data-is="owners-table"]'), told);
}

export function noteOf({ queues, count, changed, is_whole: isWhole }) {
  const words = [fill(ngettext("%(n)s queue", "%(n)s queues", count), { n: count })];
  if (queues.length < count) words.push(fill(whichOf(queues.length, changed), { n: queues.length }));
  if (!isWhole) words.push(gettext("the oldest is left out"));
  return words.join(", ");
}

/** Which of too many queues are shown: those that changed hands, the first of them, or the first of all. */
function whichOf(n, changed) {
  if (!changed) return gettext("the first %(n)s of them shown: none changed hands");
  return changed > n ? gettext("%(n)s of them shown: the first of those that changed hands") : gettext("%(n)s of them shown: those that changed hands");
}

/** Lanes under a title for each topic and broker. */
function lanesOf(queues) {
  const rows = [];
  let last = null;
  for (const queue of queues) {
    const title = `${queue.topic}/${queue.broker}`;
    if (title !== last) rows.push({ title });
    rows.push({ queue });
    last = title;
  }
  return rows;
}

/** When not everybody answered: who has left since, and who does not answer still. */
const doubtsOf = ({ doubts = [], told_until: told }) => (told === null ? doubts : [...doubts, [told, Infinity]]);

const SILENT = (client) => fill(gettext("perhaps %(client)s, who did not answer"), { client: shown(client) });
const NOBODY = (isKnown, inPart) => (isKnown ? gettext("no owner") : noAnswer(inPart));

const bothWords = (who) => fill(gettext("two owners: %(who)s"), { who: who.map((client) => shown(client, 64)).join(", ") });

/** The ends of their ids, as far as there is room: by these they are told apart. Empty where there is too little. */
export function bothNames(who, wide) {
  const room = Math.floor((wide - 6) / PER_LETTER / who.length) - 3;
  const names = who.map((client) => client.slice(client.indexOf("@") + 1));
  return names.some((name) => room < Math.min(LEAST_NAME, name.length)) ? "" : names.map((name) => shown(name, room)).join(" + ");
}

/** The ids of several connections, where these alone are why it is unknown then. */
const partlyIn = (low, { told_until: toldUntil, in_part: inPart = [] }) => (toldUntil !== null && low >= toldUntil ? inPart : []);

function laneOf({ id, bars, none, perhaps, two, away = [] }, told, y, scale, until, looked) {
  const { clients, told_until: toldUntil, until: read } = told;
  const group = draw("g", {}, draw("text", { class: "lane-id", x: LEFT - 8, y: y + 11, "text-anchor": "end" }, String(id)));
  group.append(draw("rect", { class: "band-ground", x: LEFT, y: y + 2, width: scale(until) - LEFT, height: LANE - 4 }));
  const box = (look, from, to, words) => {
    const x = scale(from);
    const wide = Math.max(1, scale(to) - x);
    group.append(draw("rect", { class: look, x, y: y + 2, width: wide, height: LANE - 4 }, draw("title", {}, words)));
    return [x, wide];
  };
  for (const [from, to] of away) box("owner-away", from, to, during(gettext("in no route"), from, to, until));
  bars.forEach(([client, from, to, certain], i) => {
    const name = clients[client];
    const [x, wide] = box(i % 2 ? "owner-bar is-next" : "owner-bar", from, certain ?? to ?? until, during(shown(name), from, certain ?? to, until));
    if (certain !== null) box("owner-unknown", certain, to ?? until, during(SILENT(name), certain, to, until));
    const short = shown(name.slice(name.indexOf("@") + 1), Math.max(2, Math.floor((wide - 6) / PER_LETTER)));
    if (wide > 40) group.append(draw("text", { class: "owner-name", x: x + 4, y: y + 11 }, short));
  });
  const owners = ownersNow(bars);
  const upToNow = (steps, now) => goingOn(steps.map((step) => [...step, 1]), { read, looked, now: Number(now) });
  const isOpen = (steps, others) => !owners.most && (steps.at(-1)?.[1] ?? 0) > (others.at(-1)?.[1] ?? 0);
  const noneNow = upToNow(none, toldUntil === null && isOpen(none, perhaps));
  const perhapsNow = upToNow(perhaps, toldUntil === null && isOpen(perhaps, none));
  const twoNow = upToNow(two, owners.told > 1);
  for (const [from, to] of noneNow) {
    for (const [low, high, isKnown] of inParts(from, to, doubtsOf(told))) box(isKnown ? "owner-none" : "owner-unknown", low, high, during(NOBODY(isKnown, partlyIn(low, told)), low, high, until));
  }
  for (const [from, to] of perhapsNow) box("owner-perhaps", from, to, during(gettext("perhaps no owner"), from, to, until));
  for (const [from, to] of twoNow) {
    const who = ownersBetween(bars, from, to).map((client) => clients[client]);
    const [x, wide] = box("owner-two", from, to, during(bothWords(who), from, to, until));
    const names = bothNames(who, wide);
    if (names) group.append(draw("text", { class: "owner-name of-two", x: x + 4, y: y + 11 }, names));
  }
  return group;
}

const during = (words, from, to, until) => `${words}: ${clock(from)} – ${to === null ? gettext("now") : clock(to)}, ${span((to ?? until) - from)}`;

/** A bar as rows of the table: what is certain of it, and what is not. */
function heldIn([client, from, to, certain], clients) {
  const rows = [[from, certain ?? to, shown(clients[client], 64)]];
  return certain === null ? rows : [...rows, [certain, to, SILENT(clients[client])]];
}

/** What began before the window begins with it here. */
const sinceWhen = (from, since) => `${from <= since ? "≤ " : ""}${clock(from, { millis: true })}`;

/** The same as a table, made when it is opened. */
function tabulate(details, told) {
  const build = () => {
    const head = make("tr", {}, ...[gettext("queue"), gettext("owner"), gettext("from"), gettext("until")].map((words) => make("th", {}, words)));
    const rows = told.queues.flatMap(({ topic, broker, id, bars, none, perhaps, two, away = [] }) => {
      const name = shown(`${topic}/${broker}/${id}`, 80);
      const all = [...bars.flatMap((bar) => heldIn(bar, told.clients)), ...perhaps.map(([from, to]) => [from, to, gettext("perhaps no owner")]), ...none.flatMap(([from, to]) => inParts(from, to, doubtsOf(told)).map(([low, high, isKnown]) => [low, high, NOBODY(isKnown, partlyIn(low, told))])), ...two.map(([from, to]) => [from, to, bothWords(ownersBetween(bars, from, to).map((client) => told.clients[client]))]), ...away.map(([from, to]) => [from, to, gettext("in no route")])];
      return all.sort((a, b) => a[0] - b[0]).map(([from, to, words]) => make("tr", {}, make("th", { scope: "row", class: "id" }, name), make("td", {}, words), make("td", {}, sinceWhen(from, told.since)), make("td", {}, to === null ? gettext("now") : clock(to, { millis: true }))));
    });
    const table = make("table", { class: "table" }, make("thead", {}, head), make("tbody", {}, ...rows.slice(0, 2000)));
    details.querySelector(".wide")?.remove();
    details.append(make("div", { class: "wide" }, table));
  };
  details.ontoggle = () => details.open && build();
  if (details.open) build();
}
