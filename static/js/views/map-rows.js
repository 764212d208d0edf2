// The rows of the map: members, and who left a moment ago; their signs, and which letters of their ids tell them apart.
import { HARD, age } from "../lib/time.js";
import { cellsOf, isPartial, isProxied, isUnasked } from "../lib/owners.js";
import { count } from "../live/runs.js";
import { causeOfDeparture, glyphOf } from "../lib/glyphs.js";
import { draw, make } from "../lib/svg.js";
import { fill, gettext } from "../lib/words.js";
import { lateOf } from "../lib/late.js";
import { shown } from "../lib/shown.js";
import { rateInShort } from "../lib/rates.js";

const LONGEST_NAME = 40; // letters
const LONGEST_END = 10; // letters of it that are never cut
const PLAIN = /^[ -~]*$/; // of other names no letter may be parted from what belongs to it
const FEW_ROWS = 50; // of more those are drawn that a piece of the map has to do with

/** Members as rows, in their order; then who left a moment ago, because their queues still tell their story. */
export function rowsOf(state, extra, picture, columns, isZoomed) {
  const late = lateOf(state.members, extra.seen, extra.now, extra.heard);
  const rows = state.members.map((cell) => ({
    client: cell.client,
    name: shown(cell.client, LONGEST_NAME),
    state: cell.state ?? (cell.held === null ? "silent" : late.has(cell.client) ? "late" : "here"),
    held: cell.held === null || cell.load === null ? null : count(cell.load ?? cell.held),
    isPartial: isPartial(cell),
    words: cell.words ?? seenWords(cell, extra),
    isAbsent: cell.isAbsent ?? false,
  }));
  const here = new Set(rows.map((row) => row.client));
  for (const gone of extra.left) {
    if (!here.has(gone.client) && gone.until > extra.now) {
      const place = rows.findIndex((row) => row.client > gone.client);
      rows.splice(place < 0 ? rows.length : place, 0, rowOfGone(gone, age(extra.now - gone.at)));
    }
  }
  if (!isZoomed || rows.length <= FEW_ROWS) return rows;
  const busy = new Set();
  for (const { number } of columns) {
    if (number !== null) for (const [client] of cellsOf(picture, number)) busy.add(client);
  }
  return rows.filter((row) => busy.has(row.client));
}

/** `short` is for a phone, where there is no room to say how it went: its sign does. */
const rowOfGone = ({ client, departure, words }, since) => ({
  client,
  name: shown(client, LONGEST_NAME),
  state: "left",
  held: 0,
  departure,
  words: fill(gettext("%(how)s %(age)s ago"), { how: words, age: since }),
  short: fill(gettext("gone %(age)s ago"), { age: since }),
});

/** When a member told last what it holds; without `seen`, as in a round that is kept, only whether it did. */
export function seenWords(cell, extra) {
  if (isProxied(cell)) return gettext("through a proxy");
  if (extra.seen === null) return cell.held === null ? gettext("no answer") : "";
  const at = extra.seen.get(cell.client) ?? null;
  if (isUnasked(cell)) return at === null ? gettext("not asked yet") : fill(gettext("not asked for %(age)s"), { age: age(extra.now - at) });
  if (cell.held === null) {
    return at === null ? gettext("never answered") : fill(gettext("no answer for %(age)s"), { age: age(extra.now - at) });
  }
  return at === null ? "" : fill(gettext("seen %(age)s ago"), { age: age(extra.now - at) });
}

export function signOf(row) {
  if (row.state === "left") return draw("path", { d: glyphOf(causeOfDeparture(row.departure))[0], transform: "scale(.75)" });
  return row.state === "silent" || row.state === "late" ? draw("circle", { r: 3, "stroke-dasharray": "2 1.5" }) : draw("circle", { r: 3 });
}

/** How many first letters each id has in common with its neighbours: those are written quietly. */
export function tailsOf(clients) {
  const common = (a, b) => {
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    return i;
  };
  if (clients.length < 2) return clients.map((client) => client.indexOf("@") + 1);
  return clients.map((client, i) => {
    const same = Math.max(i ? common(client, clients[i - 1]) : 0, i + 1 < clients.length ? common(client, clients[i + 1]) : 0);
    const border = Math.max(client.lastIndexOf("@", same), client.lastIndexOf("#", same), client.lastIndexOf("-", same), client.lastIndexOf(".", same)) + 1;
    return border <= same ? border : 0;
  });
}

/**
 * An id in two parts: the front gives way where there is no room, the end, by which it is told apart, never does.
 * `same`: how many first letters it has in common with its neighbours; `isSame`: that is the whole front.
 */
export function halvesOf(name, same) {
  const isTold = same > 0 && same < name.length && name.length - same <= LONGEST_END;
  const cut = isTold ? same : PLAIN.test(name) ? Math.max(0, name.length - LONGEST_END) : 0;
  return { front: name.slice(0, cut), end: name.slice(cut), isSame: cut > 0 && cut <= same };
}

/** How much a member consumes, by committed offsets: with a bound where it is not known of all that it holds. */
export function rateOf(known, row) {
  const place = make("span", { class: "rate", title: gettext("messages a second, by the offsets that are committed of its queues in the last minute") });
  if (row.state === "left" || row.held === 0) return place;
  if (!known || known.rate === null) place.append("–");
  else place.append(fill(gettext("%(rate)s msg/s"), { rate: `${known.isWhole ? "" : `≥${HARD}`}${rateInShort(known.rate)}` }));
  return place;
}
