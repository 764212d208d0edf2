// A large map in the large: tiles of queues (one topic on one broker, cut into pieces) by bands of members. Pure.
import * as owners from "./owners.js";

const MOST_QUEUES = 400; // in one tile's columns: what a zoom shows in cells
const MOST_BANDS = 40;
const NOT_HELD = new Set(["want", "maybe", "gave"]);
const MOST_CELLS = 50 * 220; // members by queues: 200 and their retry topic's, which are few
const [MOST_COLUMNS, MOST_ROWS] = [250, 100]; // columns of 4 px have room in a page; rows of 10 px on a screen

/** When cells are too many to be read one by one: tiles. */
export const isLarge = ({ members }, queues) => members.length * queues > MOST_CELLS || queues > MOST_COLUMNS || members.length > MOST_ROWS;

/**
 * Pieces of columns: `{key, name, topic, broker, start, numbers, none, two, unknown}`. Where they would be more than `most`, one
 * has the queues of its topic on all brokers, and `broker` is null.
 */
export function pieces(picture, columns, grammar = owners, most = Infinity) {
  const drawn = columns.filter((column) => !column.isStray);
  const byBroker = cut(drawn, (column) => column.broker, (column) => column.id);
  const all = byBroker.length <= most ? byBroker : cut(drawn, () => null, (_column, place) => place);
  return all.map((piece) => ({ ...piece, ...counted(piece.numbers, picture, grammar), ...named(piece) }));
}

function cut(columns, brokerOf, startOf) {
  const found = [];
  let [topic, place] = [null, 0];
  for (const column of columns) {
    place = column.topic === topic ? place + 1 : 0;
    topic = column.topic;
    const last = found.at(-1);
    const broker = brokerOf(column);
    const isSame = last && last.topic === topic && last.broker === broker && last.numbers.length < MOST_QUEUES;
    if (!isSame) found.push({ topic, broker, start: startOf(column, place), numbers: [] });
    found.at(-1).numbers.push(column.number);
  }
  return found;
}

/** What a piece is called: in the address, and by its columns. No broker's name has a star. */
function named({ topic, broker, start }) {
  const key = `${topic}/${broker ?? "*"}/${start}`;
  return { key, name: broker === null ? topic : key };
}

function counted(numbers, picture, grammar) {
  const kinds = { none: 0, two: 0, unknown: 0, let: 0 };
  for (const number of numbers) {
    const found = grammar.columnKind(picture, number);
    const kind = found === "perhaps" || found === "disputed" ? "unknown" : found; // a tile has one mark for what is not known
    if (kind in kinds) kinds[kind]++;
  }
  return kinds;
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

/** The columns of a piece, out of all, by its key: of one broker by the first of 400 ids, of a whole topic by its place. */
export function columnsOf(key) {
  const end = key.lastIndexOf("/");
  const middle = key.lastIndexOf("/", end - 1);
  const [topic, broker, start] = [key.slice(0, middle), key.slice(middle + 1, end), Number(key.slice(end + 1))];
  if (broker === "*") return (columns) => columns.filter((column) => !column.isStray && column.topic === topic).slice(start, start + MOST_QUEUES);
  return (columns) => columns.filter((column) => column.topic === topic && column.broker === broker && column.id >= start && column.id < start + MOST_QUEUES);
}
