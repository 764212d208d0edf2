// How fast members consume: by the offsets that are committed of the queues which they hold, from one answer to the next. Pure.
import { keyOf } from "./columns.js";

const LONG_MS = 60000; // of what is older nothing is said
const SHORTEST_MS = 4000; // consumers commit every 5 s: between closer answers nothing may have been committed

export class Rates {
  constructor() {
    this.told = new Map(); // by queue: who holds it, and `[at, committed]` of a minute
  }

  /** Note what brokers told, in the shape of `lib/lag.js`. `holderOf` says who alone holds a queue: what somebody else did before does not count. */
  note(brokers, holderOf) {
    for (const { broker, at, missing, queues } of brokers) {
      for (const [topic, id, , , committed = null] of queues) {
        const key = keyOf({ topic, broker, id });
        const holder = holderOf(key);
        let mine = this.told.get(key);
        const last = mine?.looks.at(-1);
        if (mine?.holder !== holder || (last && committed !== null && committed < last[1])) mine = { holder, looks: [] };
        if (missing === null && committed !== null && holder !== null && mine.looks.at(-1)?.[0] !== at) mine.looks.push([at, committed]);
        mine.looks = mine.looks.filter(([when]) => when >= at - LONG_MS);
        this.told.set(key, mine);
      }
    }
  }

  /** Messages a second of one queue and its holder; null is unknown. */
  of(key, holder) {
    const { looks = [], holder: was = null } = this.told.get(key) ?? {};
    const [first, last] = [looks[0], looks.at(-1)];
    if (was !== holder || looks.length < 2 || last[0] - first[0] < SHORTEST_MS) return null;
    return ((last[1] - first[1]) * 1000) / (last[0] - first[0]);
  }

  /** What members consume together of all that they hold: `{rate, isWhole}` by client; null where nothing of it is known. */
  ofMembers(picture) {
    const found = new Map();
    picture.queues.forEach((queue, number) => {
      const holders = picture.holders[number];
      const rate = holders.length === 1 ? this.of(keyOf(queue), holders[0]) : null;
      for (const client of holders) {
        const sum = found.get(client) ?? { rate: null, isWhole: true };
        found.set(client, rate === null ? { ...sum, isWhole: false } : { ...sum, rate: (sum.rate ?? 0) + rate });
      }
    });
    return found;
  }
}

/** Who alone holds each queue of a picture, as a function of its key; null is nobody, or more than one. */
export function holdersIn(picture) {
  const found = new Map(picture.queues.map((queue, number) => [keyOf(queue), picture.holders[number].length === 1 ? picture.holders[number][0] : null]));
  return (key) => found.get(key) ?? null;
}

/** A rate in few letters: `0`, `0.4`, `16`. */
export const rateInShort = (rate) => (rate === 0 || rate >= 9.95 ? String(Math.round(rate)) : rate < 0.05 ? "< 0.1" : rate.toFixed(1));
