// The sentence under the map: what the cell under the crosshair is. Pure.
import { columnKind } from "./owners.js";
import { age, clock, span } from "./time.js";
import { lateOf } from "./late.js";
import { fill, gettext } from "./words.js";
import { lagWords } from "./lag.js";
import { shown } from "./shown.js";

/** Say how a queue stands, and what it is to the member of the row. */
export function describe(picture, column, client, { now, owners = null, away = [], seen = new Map(), heard = {}, lag = null } = {}) {
  if (away.includes(column.broker)) return gettext("The broker is away: there is nothing to read, and no fault of the group.");
  if (column.isAbsent) return gettext("It was in no route then, and nobody is known to have held it.");
  if (column.isStray) return gettext("Held, though no route has it: other members do not know it, so nobody misses it.");
  const kind = columnKind(picture, column.number);
  const held = picture.holders[column.number];
  const wanted = picture.wanted[column.number];
  const values = { held: list(held), wanted: list(wanted), silent: list(asked(picture)), proxied: list([...(picture.proxied ?? [])]), partial: list([...(picture.partial ?? [])]), claims: claims(held, seen, now) };
  const parts = [fill(sentenceOf(kind, picture, wanted, held.length > 0), values), ...story(kind, owners, now), lagWords(lag, now), lateHolder(picture, held, seen, now, heard)];
  if (client !== null) parts.push(fill(gettext("Row %(client)s: %(role)s."), { client: name(client), role: roleOf(picture, column.number, client) }));
  return parts.filter(Boolean).join(" ");
}

/** That who has it has told nothing since a while: it may not answer. */
function lateHolder(picture, held, seen, now, heard) {
  const late = lateOf(picture.members ?? [], seen, now, heard);
  const [client] = held.filter((each) => late.has(each));
  return client === undefined ? "" : fill(gettext("%(client)s told so %(age)s ago, and nothing since."), { client: name(client), age: age(now - late.get(client)) });
}

function disputed(isHeld) {
  return isHeld
    ? gettext("Held by %(held)s; NameServers disagree whether it is there, so that what is wanted is unknown.")
    : gettext("Held by nobody who is known; NameServers disagree whether it is there.");
}

function sentenceOf(kind, picture, wanted, isHeld) {
  if (kind === "disputed") return disputed(isHeld);
  if (picture.isShared) return gettext("Broadcasting: every member has it.");
  const isWanted = wanted.length > 0;
  switch (kind) {
    case "two":
      return gettext("Two owners: %(held)s; wanted by %(wanted)s. Messages may be consumed twice while this lasts.");
    case "perhaps":
      return gettext("Perhaps two owners: %(claims)s. Who told it first may have let go before the other took it.");
    case "none":
      return isWanted ? gettext("Held by nobody; wanted by %(wanted)s, not yet taken.") : gettext("Held by nobody, and nobody is to take it.");
    case "unknown":
      if (picture.popping && !picture.silent.size && !picture.partial?.size && !picture.untold.length) return gettext("Owned by nobody: who takes messages by POP takes its messages too.");
      if (!picture.silent.size && picture.partial?.size && !picture.untold.length)
        return isWanted
          ? gettext("Unknown who holds it: only one connection of %(partial)s can be asked; wanted by %(wanted)s.")
          : gettext("Unknown who holds it: only one connection of %(partial)s can be asked.");
      if (!picture.silent.size) return fill(gettext("Unknown who holds it: %(untold)s did not tell who is a member."), { untold: list(picture.untold) });
      if (picture.silent.size === picture.proxied?.size && !picture.partial?.size) return gettext("Held by nobody who can be asked: %(proxied)s may take its messages through a proxy.");
      if (asked(picture).length === picture.unasked?.size)
        return isWanted ? gettext("Unknown who holds it: not asked yet are %(silent)s; wanted by %(wanted)s.") : gettext("Unknown who holds it: not asked yet are %(silent)s.");
      return isWanted
        ? gettext("Unknown who holds it: no answer from %(silent)s; wanted by %(wanted)s.")
        : gettext("Unknown who holds it: no answer from %(silent)s.");
    case "let":
      return isWanted ? gettext("Held by %(held)s, who should let go; wanted by %(wanted)s.") : gettext("Held by %(held)s, who should let go.");
    default:
      return picture.knowsTarget ? gettext("Held by %(held)s, as wanted.") : gettext("Held by %(held)s; what is wanted is unknown.");
  }
}

function story(kind, owners, now) {
  if (!owners?.length) return [];
  const [latest] = owners;
  if (kind === "none" && latest.until !== null) {
    const values = { client: name(latest.client), left: latest.left ?? latest.reason, at: clock(latest.until), span: span(now - latest.until) };
    return [fill(gettext("Last owner %(client)s (%(left)s), until %(at)s, %(span)s ago."), values)];
  }
  if (latest.until !== null) return [];
  const values = { client: name(latest.client), at: clock(latest.at), span: span(now - latest.at) };
  return [fill(kind === "unknown" ? gettext("%(client)s told last to have it, since %(at)s.") : gettext("Since %(at)s (%(span)s)."), values)];
}

function roleOf(picture, number, client) {
  const holds = picture.holders[number].includes(client);
  const wants = picture.wanted[number].includes(client);
  if (picture.proxied?.has(client)) return gettext("comes through a proxy: it owns no queues, and cannot be asked");
  if (picture.unasked?.has(client)) return wants ? gettext("should have it; not asked yet") : gettext("not asked yet");
  if (picture.silent.has(client)) return wants ? gettext("should have it; does not answer") : gettext("does not answer");
  if (holds) return wants || !picture.knowsTarget ? gettext("holds it") : gettext("holds it, should let go");
  if (picture.partial?.has(client)) return wants ? gettext("should have it; another connection of it may") : gettext("another connection of it may have it");
  return wants ? gettext("should take it") : gettext("has nothing to do with it");
}

/** The silent members, but for those that cannot be asked. */
const asked = ({ silent, proxied }) => [...silent].filter((client) => !proxied?.has(client));

/** Who says to hold a queue, and how long ago each told last. */
const claims = (clients, seen, now) =>
  clients.map((client) => (seen.get(client) ? fill(gettext("%(client)s (told %(age)s ago)"), { client: name(client), age: age(now - seen.get(client)) }) : name(client))).join(", ");

const name = (client) => shown(client, 48);

const list = (clients) =>
  clients.length ? clients.slice(0, 4).map((client) => name(client)).join(", ") + (clients.length > 4 ? " …" : "") : gettext("nobody");
