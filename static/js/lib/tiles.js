// A large map in the large: tiles of queues (one topic on one broker, cut into pieces) by bands of members. Pure.
import * as owners from "./owners.js";

const MOST_QUEUES = 400; // in one tile's columns: what a zoom shows in cells
const MOST_BANDS = 40;
const NOT_HELD = new Set(["want", "maybe", "gave"]);

/** When cells are too many to be read one by one: tiles. */
export const isLarge = (state, queues) => queues > 1200 || state.members.length > 400;

/** Pieces of columns: `{key, topic, broker, start, numbers, none, two, unknown}`. */
export function pieces(picture, columns, grammar = owners) {
  const cut = [];
  for (const column of columns) {
    if (column.isStray) continue;
    const last = cut.at(-1);
    const isSame = last && last.topic === column.topic && last.broker === column.broker && last.numbers.length < MOST_QUEUES;
    const piece = isSame ? last : { topic: column.topic, broker: column.broker, start: column.id, numbers: [], none: 0, two: 0, unknown: 0, let: 0 };
    if (!isSame) cut.push(piece);
    piece.numbers.push(column.number);
    const found = grammar.columnKind(picture, column.number);
    const kind = found === "perhaps" ? "unknown" : found; // a tile has one mark for what is not known
    if (kind in piece) piece[kind]++;
  }
  return cut.map((piece) => ({ ...piece, key: `${piece.topic}/${piece.broker}/${piece.start}` }));
}

/** Bands of members, and in each tile how many queues they hold (`grid`), and how many of these they get (`gains`). */
export function tiles(picture, state, cut, grammar = owners) {
  const size = Math.max(1, Math.ceil(state.members.length / MOST_BANDS));
  const bands = Math.ceil(state.members.length / size);
  const bandOf = new Map(state.members.map((cell, i) => [cell.client, Math.floor(i / size)]));
  const grid = cut.map(() => new Array(bands).fill(0));
  const gains = cut.map(() => new Array(bands).fill(0));
  cut.forEach(({ numbers }, x) => {
    for (const number of numbers) {
      for (const [client, look] of grammar.cellsOf(picture, number)) {
        if (NOT_HELD.has(look)) continue;
        grid[x][bandOf.get(client)]++;
        if (look === "gain") gains[x][bandOf.get(client)]++;
      }
    }
  });
  return { size, bands, grid, gains, most: Math.max(1, ...grid.flat()) };
}
