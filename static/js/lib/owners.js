// Who holds and who should hold each queue, and what that comes to: the grammar of the map. Pure.
//
// A column is: ok, let (somebody should let go), none (nobody has it), two (two have it), perhaps (two said to have it,
// but who said so first may have let go), unknown (nobody is known to have it, but somebody does not tell all, or takes
// messages by POP, or a broker does not tell who is a member), disputed (not every NameServer has it in its route, so
// that it is perhaps not there; two may hold it all the same). A cell is: ok, let, two, claim (of one who perhaps has
// it), want (should take it), maybe (wanted by a member that does not tell all); `ring` marks the one of two owners that is right.
import { keyOf } from "./columns.js";
import { unpack } from "../live/runs.js";

const NOBODY = [];
const UNASKED = [null, "not asked"]; // why no answer is known, as `dashboard/groups/models/members.py` has it

const OF_GRPC = /^.+@[0-9]+@[0-9]+@[0-9a-z]{6,13}$/; // as `dashboard/groups/kinds.py` has it

/** Whether a member seems to come through a proxy, by its id: it owns no queues, and cannot be asked. */
export const isProxied = (cell) => cell.held === null && !cell.strategy && OF_GRPC.test(cell.client);

/** Whether a member may hold more than it told: of several connections under its id only one can be asked. */
export const isPartial = (cell) => cell.held !== null && cell.registrations > 1;

/** Whether nothing is known of a member because nobody has asked it yet. */
export const isUnasked = (cell) => cell.held === null && UNASKED.includes(cell.missing ?? null) && !isProxied(cell);

export function judge(state) {
  const queues = queuesOf(state);
  const holders = queues.map(() => NOBODY);
  const wanted = queues.map(() => NOBODY);
  const silent = new Set();
  const unasked = new Set(); // of the silent
  const proxied = new Set(); // of the silent
  const partial = new Set(); // none of the silent
  const add = (lists, number, client) => {
    if (number < lists.length) lists[number] = lists[number].length ? [...lists[number], client] : [client];
  };
  for (const cell of state.members) {
    if (cell.held === null) silent.add(cell.client);
    if (isUnasked(cell)) unasked.add(cell.client);
    if (isProxied(cell)) proxied.add(cell.client);
    if (isPartial(cell)) partial.add(cell.client);
    for (const number of unpack(cell.held ?? [])) add(holders, number, cell.client);
    for (const number of unpack(cell.target)) add(wanted, number, cell.client);
  }
  return {
    members: state.members,
    queues,
    holders,
    wanted,
    silent,
    unasked,
    proxied,
    partial,
    untold: state.head.untold ?? [],
    popping: state.head.popping ?? 0,
    perhaps: new Set(unpack(state.head.perhaps_twice ?? [])),
    disputed: new Set(unpack(state.head.disputed ?? [])),
    isShared: state.head.model === "BROADCASTING",
    knowsTarget: state.head.is_target_known,
  };
}

const known = new WeakMap(); // diffs keep the list of queues: it is read once

/** The queues in the order of their numbers. */
export function queuesOf(state) {
  let queues = known.get(state.queues);
  if (!queues) {
    queues = state.queues.flatMap(({ topic, broker, ids }) => unpack(ids).map((id) => ({ topic, broker, id })));
    known.set(state.queues, queues);
  }
  return queues;
}

export function columnKind(picture, number) {
  const { holders, wanted, silent, partial, untold = [], popping = 0, isShared, knowsTarget } = picture;
  const count = holders[number].length;
  const isDisputed = picture.disputed?.has(number);
  if (isShared) return isDisputed ? "disputed" : count || silent.size ? "ok" : "none";
  if (count > 1) return picture.perhaps?.has(number) ? "perhaps" : "two";
  if (isDisputed) return "disputed";
  if (count === 0) return silent.size || partial?.size || untold.length || popping ? "unknown" : "none";
  return knowsTarget && !wanted[number].includes(holders[number][0]) ? "let" : "ok";
}

/** The cells of one queue: `[client, kind, ring]` each. */
export function cellsOf(picture, number) {
  const { holders, wanted, silent, partial, isShared, knowsTarget } = picture;
  const isTwo = !isShared && holders[number].length > 1;
  const cells = holders[number].map((client) => {
    const isWanted = wanted[number].includes(client);
    if (isTwo) return [client, picture.perhaps?.has(number) ? "claim" : "two", isWanted];
    return [client, isWanted || !knowsTarget ? "ok" : "let", false];
  });
  for (const client of wanted[number]) {
    if (!holders[number].includes(client)) cells.push([client, silent.has(client) || partial?.has(client) ? "maybe" : "want", false]);
  }
  return cells;
}

/** Queues whose holder changed from one to one other: `[number, from, to]`. */
export function movesBetween(before, after) {
  const moves = [];
  if (!isSame(before.queues, after.queues)) return moves;
  after.holders.forEach((now, number) => {
    const was = before.holders[number];
    const to = now.filter((client) => !was.includes(client));
    const from = was.filter((client) => !now.includes(client));
    if (to.length === 1 && from.length === 1) moves.push([number, from[0], to[0]]);
  });
  return moves;
}

const isSame = (some, others) =>
  some === others || (some.length === others.length && some.every((queue, number) => keyOf(queue) === keyOf(others[number])));

/** Faults and loads for a glance. */
export function tally(picture) {
  const found = { ok: 0, let: 0, none: 0, two: 0, perhaps: 0, unknown: 0, disputed: 0 };
  picture.queues.forEach((_, number) => found[columnKind(picture, number)]++);
  return found;
}
