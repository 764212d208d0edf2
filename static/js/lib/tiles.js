// A large map in the large: tiles of queues (one topic on one broker, cut into pieces) by bands of members. Pure.
import { cellsOf, columnKind } from "./owners.js";

const MOST_QUEUES = 400; // in one tile's columns: what a zoom shows in cells
const MOST_BANDS = 40;

/** When cells are too many to be read one by one: tiles. */
export const isLarge = (state, queues) => queues > 1200 || state.members.length > 400;

/** Pieces of columns: `{key, topic, broker, start, numbers, none, two, unknown}`. */
export function pieces(picture, columns) {
  const found = [];
  for (const column of columns) {
    if (column.isStray) continue;
    const last = found.at(-1);
    const isSame = last && last.topic === column.topic && last.broker === column.broker && last.numbers.length < MOST_QUEUES;
    const piece = isSame ? last : { topic: column.topic, broker: column.broker, start: column.id, numbers: [], none: 0, two: 0, unknown: 0, let: 0 };
    if (!isSame) found.push(piece);
    piece.numbers.push(column.number);
    const kind = columnKind(picture, column.number);
    if (kind in piece) piece[kind]++;
  }
  return found.map((piece) => ({ ...piece, key: `${piece.topic}/${piece.broker}/${piece.start}` }));
}

/** Bands of members, and in each tile how many queues they hold; `wants` is what they should take. */
export function tiles(picture, state, cut) {
  const size = Math.max(1, Math.ceil(state.members.length / MOST_BANDS));
  const bands = Math.ceil(state.members.length / size);
  const bandOf = new Map(state.members.map((cell, i) => [cell.client, Math.floor(i / size)]));
  const grid = cut.map(({ numbers }) => {
    const counts = new Array(bands).fill(0);
    for (const number of numbers) {
      for (const [client, kind] of cellsOf(picture, number)) {
        if (kind !== "want" && kind !== "maybe") counts[bandOf.get(client)]++;
      }
    }
    return counts;
  });
  return { size, bands, grid, most: Math.max(1, ...grid.flat()) };
}
