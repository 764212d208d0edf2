// From one state to the next: `apply(old, diff)`. `dashboard/push/group_diffs.py` does the same; `tests/diffs/` holds both.
import { differ } from "./runs.js";

/** A message does not follow the state that it was to be applied to: ask again. */
export class OutOfStep extends Error {}

export function applyGroup(old, message) {
  if (message.kind === "group.snapshot") return message.state;
  if (!old) throw new OutOfStep("a diff without a snapshot before it");
  const gone = new Set(message.gone);
  let members = old.members.filter((cell) => !gone.has(cell.client));
  message.put.forEach((cell, i) => {
    members = put(members, cell, message.after[i]);
  });
  const place = new Map(members.map((cell, number) => [cell.client, number]));
  for (const owners of message.owners) {
    const number = place.get(owners.client);
    if (number === undefined) throw new OutOfStep(`${owners.client} got other queues, but is no member`);
    members[number] = toggle(members[number], owners);
  }
  return {
    head: message.head ?? old.head,
    queues: old.queues,
    members,
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

function put(members, cell, after) {
  const others = members.filter((each) => each.client !== cell.client);
  if (after === null) return [cell, ...others];
  const place = others.findIndex((each) => each.client === after);
  if (place < 0) throw new OutOfStep(`${cell.client} comes after ${after}, which is no member`);
  return [...others.slice(0, place + 1), cell, ...others.slice(place + 1)];
}

function toggle(cell, owners) {
  if (cell.held === null && owners.held.length) {
    throw new OutOfStep(`what ${cell.client} holds changed, but it was unknown`);
  }
  return {
    ...cell,
    target: differ(cell.target, owners.target),
    held: cell.held === null ? null : differ(cell.held, owners.held),
  };
}
