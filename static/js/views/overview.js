// The overview: rows are kept true by pushes; maps in the small and findings are asked for, gathered.
import { AsOf } from "./as-of.js";
import { Follower } from "../live/follower.js";
import { GroupList } from "./group-list.js";
import { causeWords, divisionWords, isBound, isShared, roundWhen, stateOf } from "../lib/state.js";
import { drawSmall, drawStrip } from "./small.js";
import { glyph } from "./glyphs.js";
import { fill, gettext, ngettext } from "../lib/words.js";
import { gather, getJson, openSocket, refreshParts } from "./live.js";
import { lookWords } from "../lib/looked.js";
import { make } from "../lib/svg.js";
import { mountSearching } from "./searching.js";
import { shown } from "../lib/shown.js";
import { HARD } from "../lib/time.js";

const STRIP_MS = 600000;
const MANY = 200; // groups: to count them all anew takes the server a while

export function mountOverview(page) {
  const facts = JSON.parse(page.querySelector("#facts").textContent);
  const asOf = new AsOf(page, { now: facts.now, watched: facts.watched, changes: facts.streams, aside: facts.aside });
  if (!page.querySelector("#groups")) return () => asOf.close();
  let groups = new GroupList(page, facts);
  let { items, rows } = groups;
  let smalls = new Map(Object.entries(facts.smalls).map(([id, small]) => [Number(id), small]));
  const changed = new Set();
  const owed = new Set(); // rows whose maps were asked for in vain
  const behinds = new Map();
  let noted = new Set(facts.rows.filter((row) => row.is_behind).map((row) => row.id)); // that are behind, as filters count
  const standings = new Map(facts.aside.map((stream) => [stream, "aside"]));

  const tell = gather(async () => groups.tell(), 1500);

  const refresh = gather(() => renew("findings"), 700);

  const recount = gather(() => renew("counts"), facts.count > MANY ? 20000 : 1500);

  /** A row is painted with its map, and with the figures of the state that the map shows: they never disagree. */
  const repaint = gather(async () => {
    const ids = [...new Set([...changed, ...owed])].slice(0, 200);
    for (const id of ids) changed.delete(id);
    const [{ value: answer, reason }] = await Promise.allSettled([getJson(`${location.pathname}groups/smalls?ids=${ids}`)]);
    for (const id of ids) {
      smalls.set(id, answer?.smalls[id] ?? { ...smalls.get(id), map: null, figures: {} });
      if (reason) owed.add(id);
      else owed.delete(id);
      asOf.keep(`row ${id}`, () => draw(id, items.get(id)));
    }
    asOf.note("rows", Boolean(reason));
    if (reason) throw reason;
    if (changed.size || owed.size) repaint();
  }, 250);

  /** How groups fared lately becomes another thing without any change. */
  const fare = gather(async () => {
    const ids = [...items.keys()].slice(0, 200);
    if (!ids.length) return;
    try {
      const { fared } = await getJson(`${location.pathname}groups/fared?ids=${ids}`);
      for (const id of ids) {
        if (!fared[id] || !smalls.has(id)) continue;
        smalls.set(id, { ...smalls.get(id), ...fared[id] });
        groups.isBehind(id, fared[id].lag);
        asOf.keep(`row ${id}`, () => draw(id, items.get(id)));
      }
      asOf.note("figures", false);
      tell();
    } catch (error) {
      asOf.note("figures", true);
      throw error;
    }
  }, 700);

  async function renew(part) {
    try {
      await refreshParts(page, withPart(part));
      asOf.note(part, false);
    } catch (error) {
      asOf.note(part, true);
      throw error;
    }
  }

  function drawAll() {
    for (const [id, item] of items) asOf.keep(`row ${id}`, () => draw(id, item));
  }

  function draw(id, item) {
    const small = smalls.get(id);
    const now = asOf.now();
    markAge(item, lookWords({ lookedAt: small?.looked_at ?? null, silent: asOf.ageOf(item.dataset.stream), now }));
    if (changed.has(id)) return;
    fillRow(item, rows.get(id), small, now);
    drawSmall(item.querySelector('[data-is="map"]'), small?.map ?? null);
    drawRounds(id, item);
  }

  function drawRounds(id, item) {
    const now = asOf.now();
    const { rounds = [], bands = null, figures = {} } = smalls.get(id) ?? {};
    const still = asOf.ageOf(items.get(id).dataset.stream) === null ? { ...rows.get(id), ...figures } : {};
    drawStrip(item.querySelector('[data-is="strip"]'), rounds, { since: now - STRIP_MS, until: now, bands, now: still });
  }

  function take(row, stream) {
    if (!groups.take(row, stream)) return;
    changed.add(row.id);
    repaint();
  }

  /** Of which groups something changed that no rebalance has seen yet: rows that come say it too, and filters count it. */
  function note(behind) {
    const isNew = noted.size !== behind.size || [...behind].some((id) => !noted.has(id));
    noted = behind;
    if (isNew) recount();
    for (const [id, row] of rows) {
      const isBehind = behind.has(id);
      if (Boolean(row.is_behind) === isBehind || !items.has(id)) continue;
      rows.set(id, { ...row, is_behind: isBehind });
      draw(id, items.get(id));
    }
  }

  /** A cluster is put aside, or watched again, or was deleted: its groups are no more then. */
  function stand({ stream, standing }) {
    const before = standings.get(stream) ?? "watched";
    if (!standing || standing === before) return;
    standings.set(stream, standing);
    if (standing === "gone") {
      socket.leave(stream);
      if (asOf.isAllGone()) end();
      else for (const [id, item] of items) if (item.dataset.stream === stream) groups.drop(id);
    }
    drawAll();
    refresh();
    recount();
  }

  /** All that is shown was deleted: it stays as it was last, and there is nothing to ask for any more. */
  function end() {
    endAsking();
    for (const part of page.querySelectorAll('[data-part="aside"], [data-part="servers"]')) part.replaceChildren(); // that was of before
  }

  function endAsking() {
    clearInterval(faring);
    endSearch();
    for (const each of [refresh, recount, repaint, tell, fare]) each.end();
  }

  function onMessage(message, result) {
    asOf.heard(message);
    stand(message);
    if (message.behind) behinds.set(message.stream, message.behind);
    if (message.behind) note(new Set([...behinds.values()].flat()));
    if (result !== "applied") return;
    asOf.keep("list", () => {
      for (const row of message.rows ?? message.put) take(row, message.stream);
      for (const id of message.gone ?? []) groups.drop(id);
    });
    tell();
    asOf.cameTo(message.stream, message.seq);
    page.body.dataset.seq = message.seq;
    refresh();
    recount();
  }

  const onBack = () => {
    refresh();
    fare();
    recount();
    if (owed.size) repaint();
  };
  const socket = openSocket(page, asOf, { onBack });
  for (const [stream, seq] of Object.entries(facts.streams)) {
    socket.follow(new Follower(stream, { seq, state: new Map(rows) }), onMessage);
  }
  drawAll();
  const widths = new ResizeObserver(() => items.forEach((item, id) => drawRounds(id, item))); // else signs are squeezed
  widths.observe(page.querySelector("#groups .scale"));
  const endSearch = mountSearching(page, { take: relist, note: (isBehind) => asOf.note("list", isBehind) });

  /** Another list stands in the place of the one before: what follows is about its rows. */
  function relist(fresh) {
    groups = new GroupList(page, fresh);
    ({ items, rows } = groups);
    smalls = new Map(Object.entries(fresh.smalls).map(([id, small]) => [Number(id), small]));
    for (const each of [changed, owed]) each.clear();
    widths.disconnect();
    widths.observe(page.querySelector("#groups .scale"));
    drawAll();
  }

  const clock = setInterval(() => {
    refresh(); // backoffs end by themselves
    drawAll();
  }, 5000);
  const faring = setInterval(fare, 10000);
  return () => {
    clearInterval(clock);
    endAsking();
    widths.disconnect();
    asOf.close();
    socket.close();
  };
}

/** A row says of when it is; one that should be newer is grey. */
function markAge(item, { isOld, short, words }) {
  item.toggleAttribute("data-stale", isOld);
  for (const [name, text] of [["age", short], ["as-of", words]]) {
    const element = item.querySelector(`[data-is="${name}"]`);
    if (element.textContent !== text) element.textContent = text;
  }
}

function fillRow(item, pushed, small, now) {
  const row = { ...pushed, ...small?.figures };
  const put = (name, text) => {
    const element = item.querySelector(`[data-is="${name}"]`);
    if (element.textContent !== text) element.textContent = text;
  };
  const state = stateOf(row);
  item.dataset.kind = state.kind;
  put("state", state.words);
  put("strategy", divisionWords(row) ? `, ${shown(divisionWords(row), 60)}` : "");
  put("size", sizeOf(row));
  const who = small?.latest?.number === row.round ? small.latest.who : "";
  item.querySelector('[data-is="round"]').replaceChildren(...roundOf(row, who));
  put("when", roundWhen(row, now));
  item.querySelector('[data-is="orphans"]').replaceChildren(figure(row, row.orphans, false));
  item.querySelector('[data-is="doubles"]').replaceChildren(figure(row, row.doubles, isBound(row)));
  for (const [name, cell] of Object.entries(small?.cells ?? {})) item.querySelector(`[data-cell="${name}"]`).replaceChildren(...cellOf(cell));
}

/** As `templates/groups/_cell.html` writes it; the server has put it into words. */
function cellOf({ text, mark, note, below }) {
  return [make("span", { class: "fig", "data-mark": mark, title: note }, text), ...(below ? [make("span", { class: "below" }, below)] : [])];
}

function roundOf({ round, round_cause: cause }, who) {
  if (round === null) return [make("span", { class: "dim" }, gettext("no round seen yet"))];
  return [glyph(cause), ` ${round}: ${causeWords(cause)} `, make("bdi", { class: "who", title: who }, shown(who, 24))];
}

function figure(row, value, isAtLeast) {
  if (isShared(row)) return make("span", { class: "fig", "data-mark": "none", title: gettext("broadcasting: every member has every queue") }, gettext("n/a"));
  if (value === null) return make("span", { class: "fig", "data-mark": "unknown", title: gettext("unknown") }, "–");
  if (value && isAtLeast) return make("span", { class: "fig", "data-mark": "bound", title: gettext("at least: not everybody answers") }, `≥${HARD}${value}`);
  return make("span", { class: "fig", "data-mark": "exact" }, String(value));
}

function sizeOf({ members, queues }) {
  if (members === null || queues === null) return gettext("size unknown");
  const people = fill(ngettext("%(n)s member", "%(n)s members", members), { n: members });
  return `${people}, ${fill(ngettext("%(n)s queue", "%(n)s queues", queues), { n: queues })}`;
}

function withPart(part) {
  const query = new URLSearchParams(location.search);
  query.set("part", part);
  return `${location.pathname}?${query}`;
}
