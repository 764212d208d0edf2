// What would be, against what is: the grammar of the two maps of a dry run. Pure.
//
// A column is: ok, none (nobody would have it), two, away (it is not there then) or stray (it is not there yet). A cell
// is: ok (kept), gain, gave (given away), two.
import { judge } from "./owners.js";
import { unpack } from "../live/runs.js";
import { fill, gettext } from "./words.js";
import { shown } from "./shown.js";

/** `{holders, wanted, comes, goes, ...}` of a picture as `dashboard/plans/picturing.py` makes it. */
export function judgePlan(state) {
  return {
    ...judge(state),
    isHeld: state.is_held,
    comes: new Set(unpack(state.comes)),
    goes: new Set(unpack(state.goes)),
    silent: new Set(state.silent),
    joins: new Set(state.joins),
    leaves: new Set(state.leaves),
  };
}

/** How it is. */
export const HELD = {
  judge: judgePlan,
  loadWords: ({ isHeld }) => (isHeld ? gettext("held (mean %(mean)s)") : gettext("should hold (mean %(mean)s)")),
  columnKind({ holders, silent, comes, isShared }, number) {
    const count = holders[number].length;
    if (comes.has(number)) return "stray";
    if (isShared) return "ok";
    if (count > 1) return "two";
    return count || silent.size ? "ok" : "none";
  },
  cellsOf({ holders, isShared }, number) {
    const look = !isShared && holders[number].length > 1 ? "two" : "ok";
    return holders[number].map((client) => [client, look, false]);
  },
};

/** How it would be. */
export const PLANNED = {
  judge: judgePlan,
  loadWords: () => gettext("would hold (mean %(mean)s)"),
  columnKind({ wanted, goes, isShared, knowsTarget }, number) {
    if (goes.has(number)) return "away";
    if (!knowsTarget || isShared) return "ok";
    if (wanted[number].length > 1) return "two";
    return wanted[number].length ? "ok" : "none";
  },
  cellsOf({ holders, wanted, goes, isShared, knowsTarget }, number) {
    if (!knowsTarget || goes.has(number)) return [];
    const isTwo = !isShared && wanted[number].length > 1;
    const cells = wanted[number].map((client) => {
      if (isTwo) return [client, "two", false];
      return [client, holders[number].includes(client) ? "ok" : "gain", false];
    });
    for (const client of holders[number]) if (!wanted[number].includes(client)) cells.push([client, "gave", false]);
    return cells;
  },
};

/** The picture as one of the two maps takes it: with the loads of its own time, and who joins or leaves. */
export function asMap(picture, grammar) {
  const [joins, leaves] = [new Set(picture.joins), new Set(picture.leaves)];
  const members = picture.members.map((cell) => ({
    ...cell,
    load: grammar === HELD ? (joins.has(cell.client) ? null : cell.held) : picture.head.is_target_known ? cell.target : null,
    isAbsent: grammar === HELD && joins.has(cell.client),
    state: leaves.has(cell.client) && grammar === PLANNED ? "left" : joins.has(cell.client) && grammar === HELD ? "silent" : "here",
    words: leaves.has(cell.client) ? gettext("leaves") : joins.has(cell.client) ? gettext("joins") : "",
  }));
  return { ...picture, members };
}

/** The sentence under the maps. */
export function describePlan(picture, { number }, client) {
  const { holders, wanted, comes, goes, silent, joins, leaves, knowsTarget, isShared } = picture;
  const [has, gets] = [holders[number], wanted[number]];
  const values = { has: list(has), gets: list(gets) };
  const parts = [];
  if (comes.has(number)) parts.push(fill(gettext("A new queue; %(gets)s would take it."), values));
  else if (goes.has(number)) parts.push(fill(gettext("Would not be there any more; %(has)s has it now."), values));
  else if (!knowsTarget) parts.push(fill(gettext("%(has)s has it; what would be cannot be known."), values));
  else if (isShared) parts.push(gettext("This group broadcasts: every member has it."));
  else if (gets.length > 1) parts.push(fill(gettext("Two owners would have it: %(gets)s. Each message would be consumed twice."), values));
  else if (!gets.length) parts.push(fill(gettext("%(has)s has it; nobody would. Its messages would wait."), values));
  else if (has.length === 1 && has[0] === gets[0]) parts.push(fill(gettext("Stays with %(gets)s."), values));
  else if (has.includes(gets[0])) parts.push(fill(gettext("%(has)s have it; %(gets)s would keep it."), values));
  else parts.push(fill(gettext("Goes from %(has)s to %(gets)s."), values));
  if (silent.size) parts.push(gettext("Not all members tell all that they hold, so somebody else may have it now."));
  if (client !== null && joins.has(client)) parts.push(fill(gettext("%(client)s is new."), { client: name(client) }));
  if (client !== null && leaves.has(client)) parts.push(fill(gettext("%(client)s leaves."), { client: name(client) }));
  return parts.join(" ");
}

const list = (clients) => (clients.length ? clients.slice(0, 4).map((each) => name(each)).join(", ") + (clients.length > 4 ? " …" : "") : gettext("nobody"));

const name = (client) => shown(client, 48);
