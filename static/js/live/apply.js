// From one state to the next: `apply(old, diff)`. `dashboard/push/group_diffs.py` does the same; `tests/diffs/` holds both.
import { changed, lineUp } from "./shifts.js";
import { unpack } from "./runs.js";

/** A message does not follow the state that it was to be applied to: ask again. */
export class OutOfStep extends Error {}

export function applyGroup(old, message) {
  if (message.kind === "group.snapshot") return message.state;
  if (!old) throw new OutOfStep("a diff without a snapshot before it");
  const members = membersAfter(old.members, message);
  const clients = members.map((cell) => cell.client);
  const line = lineUp(old.members.map((cell) => cell.client), clients);
  const after = (owners, queuesOf) => (owners ? changed(new Map([...old.members, ...members].map((cell) => [cell.client, queuesOf(cell)])), owners, line, clients) : new Map());
  const target = after(message.target, (cell) => cell.target);
  const held = after(message.held, (cell) => cell.held ?? []);
  return {
    head: message.head ?? old.head,
    queues: old.queues,
    members: members.map((cell) => withQueues(cell, target.get(cell.client), held.get(cell.client))),
    strays: message.strays ?? old.strays,
    faults: message.faults ?? old.faults,
  };
}

/** Rows of the overview by their ids. */
export function applyOverview(old, message) {
  if (message.kind === "overview.snapshot") return new Map(message.rows.map((row) => [row.id, row]));
  if (!old) throw new OutOfStep("a diff without a snapshot before it");
  const rows = new Map(old);
  for (const id of message.gone) rows.delete(id);
  for (const row of message.put) rows.set(row.id, row);
  return rows;
}

/** Members with the queues that they had before: none of who was none, or whose queues are or were unknown. */
function membersAfter(old, { gone, put, places }) {
  const left = new Set(unpack(gone));
  const members = old.filter((cell, number) => !left.has(number));
  const was = new Map(old.map((cell) => [cell.client, cell]));
  put.forEach((cell, i) => {
    if (!(places[i] >= 0 && places[i] <= members.length)) throw new OutOfStep(`${cell.client} comes to place ${places[i]} of ${members.length}`);
    const before = was.get(cell.client);
    members.splice(places[i], 0, before ? { ...cell, target: before.target, held: cell.held && (before.held ?? []) } : cell);
  });
  if ([...left].some((number) => number >= old.length)) throw new OutOfStep(`a member goes who is none of ${old.length}`);
  return members;
}

function withQueues(cell, target, held) {
  if (cell.held === null && held?.length) throw new OutOfStep(`what ${cell.client} holds changed, but it is unknown`);
  return { ...cell, target: target ?? cell.target, held: cell.held === null ? null : held ?? cell.held };
}
