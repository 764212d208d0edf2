// The order of the overview's rows, as `dashboard/groups/listing.py` sorts them. Pure.
import { stateOf } from "./state.js";

const GRAVE = ["two", "none", "unknown", "moving", "quiet"]; // gravest first

const KEYS = {
  state: (row) => [GRAVE.indexOf(stateOf(row).kind), -((row.orphans ?? 0) + (row.doubles ?? 0))],
  name: () => [],
  members: ({ members }) => [-(members ?? -1)],
  queues: ({ queues }) => [-(queues ?? -1)],
  round: ({ round_opened_at: opened }) => [-(opened ?? 0)],
  lag: ({ lag }) => [-(lag ?? -1)],
};

/** Below, at or above 0, as one row stands before, beside or behind another. */
export function compare(one, other, sort) {
  const [a, b] = [one, other].map((row) => [...(KEYS[sort] ?? KEYS.state)(row), row.group]);
  const place = a.findIndex((part, i) => part !== b[i]);
  if (place < 0) return 0;
  return a[place] < b[place] ? -1 : 1;
}

/** The id of the row before which a new one stands; null: behind all. */
export const before = (row, rows, sort) => rows.find((other) => compare(row, other, sort) < 0)?.id ?? null;

/** How many of some rows, in the order in which they are shown, would have to move to stand in theirs. */
export function misplaced(rows, sort) {
  const ends = []; // of the longest rows in order: the last of each length
  for (const row of rows) {
    let low = 0;
    for (let high = ends.length; low < high; ) {
      const middle = (low + high) >> 1;
      if (compare(ends[middle], row, sort) <= 0) low = middle + 1;
      else high = middle;
    }
    ends[low] = row;
  }
  return rows.length - ends.length;
}
