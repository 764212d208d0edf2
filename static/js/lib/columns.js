// Where the columns of the map stand: topics side by side, retry topics last, brokers within, each queue a column. Pure.
const TOPIC_GAP = 14;
const BROKER_GAP = 6;
const WIDEST = 30;
const NARROWEST = 4;

export const isRetry = (topic) => topic.startsWith("%RETRY%");

/**
 * Columns in the order in which they are shown: `{number, topic, broker, id, isStray, isAbsent}`; retry topics last.
 * `others` are queues of another map beside this one: what is not here has an empty column, so that the two can be compared.
 */
export function order(queues, strays = [], others = []) {
  const all = queues.map((queue, number) => ({ ...queue, number, isStray: false }));
  const seen = new Set(queues.map(keyOf));
  for (const { topic, broker, queue_id: id } of strays) {
    const stray = { topic, broker, id, number: null, isStray: true };
    if (!seen.has(keyOf(stray))) all.push(stray);
    seen.add(keyOf(stray));
  }
  all.push(...others.filter((queue) => !seen.has(keyOf(queue))).map(({ topic, broker, id }) => ({ topic, broker, id, number: null, isStray: true, isAbsent: true })));
  return all.sort(
    (a, b) =>
      isRetry(a.topic) - isRetry(b.topic) || compare(a.topic, b.topic) || compare(a.broker, b.broker) || a.id - b.id,
  );
}

/** Give each column its `x`, and the spans of topics and brokers, within `width` pixels if that is possible. */
export function place(columns, width) {
  let gaps = 0;
  columns.forEach((column, i) => (gaps += gapBefore(columns[i - 1], column)));
  const cell = Math.max(NARROWEST, Math.min(WIDEST, Math.floor((width - gaps) / Math.max(1, columns.length))));
  const topics = [];
  const brokers = [];
  let x = 0;
  const placed = columns.map((column, i) => {
    x += gapBefore(columns[i - 1], column);
    const at = x;
    x += cell;
    extend(topics, column.topic, at, x);
    extend(brokers, `${column.topic}\n${column.broker}`, at, x, column.broker);
    return { ...column, x: at };
  });
  return { columns: placed, topics, brokers, cell, width: x };
}

const PER_DIGIT = 7;

/** How many queues lie between two numbers that are written, of so many digits: few of them need more air to be told apart. */
export const thinning = (cell, digits = 2) =>
  [1, 2, 5, 10, 20, 50, 100].find((step) => step * cell >= Math.max(6 * digits + 5, digits * PER_DIGIT + 2)) ?? 100;

/**
 * The columns whose numbers are written: each has the room that its digits need, next to those of another broker too. Where
 * not all have it, the last of a broker comes after the round ones: it says how many there are. It does not stand beside
 * the one before it then: 0, 2, 3 would read as if there were no 1.
 */
export function numbered(columns, cell) {
  const digits = columns.reduce((most, { id }) => Math.max(most, String(id).length), 1);
  const step = thinning(cell, digits);
  const taken = [];
  const put = (column, i) => {
    const [half, middle] = [(String(column.id).length * PER_DIGIT) / 2, middleOf(column, cell)];
    if (!taken.some(({ from, to }) => middle - half < to + 2 && from < middle + half + 2)) taken.push({ column, i, from: middle - half, to: middle + half });
  };
  columns.forEach((column, i) => column.id % step || put(column, i));
  columns.forEach((column, i) => column.id % step > 1 && isLast(column, columns[i + 1]) && put(column, i));
  return taken.sort((a, b) => a.i - b.i).map(({ column }) => column);
}

/** Where a column's number stands: above its middle; the first of narrow ones is not cut off at the names. */
export const middleOf = (column, cell) => Math.max(column.x + cell / 2, 3 * String(column.id).length); // digits are 6 px wide

const isLast = (column, next) => next?.topic !== column.topic || next.broker !== column.broker;

/** A name cut to the room that it has; the end of a broker's name tells it from others. */
export function fit(text, width, perLetter = 6.7) {
  const most = Math.floor(width / perLetter);
  if (text.length <= most) return text;
  const tail = text.slice(text.lastIndexOf("-") + 1);
  if (tail.length <= most && tail !== text) return tail;
  return most > 2 ? `${text.slice(0, most - 1)}…` : "";
}

export const keyOf = ({ topic, broker, id }) => `${topic}\n${broker}\n${id}`;

function gapBefore(previous, column) {
  if (!previous || (previous.topic === column.topic && previous.broker === column.broker)) return 0;
  return previous.topic === column.topic ? BROKER_GAP : TOPIC_GAP;
}

function extend(spans, key, from, to, name = key) {
  if (spans.at(-1)?.key === key) spans.at(-1).to = to;
  else spans.push({ key, name, from, to });
}

const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);
