// How far a group is behind: what brokers told, as numbers, lines and words.
import assert from "node:assert/strict";
import test from "node:test";

import { addedUp, inShort, lagWords, lagsOf, lineOf, mostOf, totalOf } from "../../static/js/lib/lag.js";

const TOLD = [
  { broker: "east", at: 60000, missing: null, queues: [["orders", 0, 5, 48000], ["orders", 1, null, null]], looks: [[50000, [9, null]], [60000, [5, null]]] },
  { broker: "west", at: 30000, missing: "timeout", queues: [["orders", 0, 7, null]], looks: [] },
];
const of = (broker, id) => lagsOf(TOLD).get(`orders\n${broker}\n${id}`);

test("each queue has what its broker told last, and in the minute before", () => {
  assert.deepEqual(of("east", 0), { lag: 5, since: 48000, at: 60000, isOld: false, isKept: false, looks: [[50000, 9], [60000, 5]] });
  assert.equal(of("west", 0).isOld, true);
  assert.equal(mostOf([of("east", 0), null, of("east", 1)]), 9);
});

test("a total says whether it is whole; what is old or unknown is not in it", () => {
  assert.deepEqual(totalOf([of("east", 0)]), { lag: 5, isWhole: true, at: 60000 });
  assert.deepEqual(totalOf([of("east", 0), of("east", 1), of("west", 0), null]), { lag: 5, isWhole: false, at: 60000 });
  assert.deepEqual(totalOf([null]), { lag: null, isWhole: false, at: null });
});

test("where members own no queues all that brokers told is added up, and who never told is known to lack", () => {
  const column = { topic: "orders", broker: "east", id: 1 };
  assert.deepEqual(addedUp([column], lagsOf(TOLD)), [of("east", 1)]);
  assert.deepEqual(totalOf(addedUp([], lagsOf(TOLD.slice(0, 1)))), { lag: 5, isWhole: false, at: 60000 });

  const told = [{ broker: "east", at: 60000, missing: null, queues: [["orders", 0, 5, 48000], ["orders", 1, 0, null]], looks: [] }];
  assert.deepEqual(totalOf(addedUp([], lagsOf(told))), { lag: 5, isWhole: true, at: 60000 });
  const never = { broker: "west", at: 60000, missing: "timeout", queues: [], looks: [] };
  assert.deepEqual(totalOf(addedUp([], lagsOf([...told, never]))), { lag: 5, isWhole: false, at: 60000 });
  assert.deepEqual(addedUp([], null), []);
});

test("numbers are cut to the room of a cell", () => {
  assert.deepEqual([0, 999, 1234, 34567, 999499, 999500, 4100000].map(inShort), ["0", "999", "1.2k", "35k", "999k", "1.0M", "4.1M"]);
});

test("a line breaks where it is unknown and leaves out what is older than a minute", () => {
  const box = { x: 0, y: 0, width: 60, height: 10, since: 0, until: 60000, most: 10 };

  assert.equal(lineOf([[-1, 9], [10000, 10], [20000, 0], [30000, null], [40000, 5]], box), "M10.0 0.0L20.0 10.0M40.0 5.0");
  assert.equal(lineOf([[10000, 5]], box), "M10.0 5.0h1.5");
  assert.equal(lineOf([[10000, null]], box), null);
});

test("words never make a zero of what is unknown, and say how old it is", () => {
  assert.equal(lagWords(null, 64000), "");
  assert.equal(lagWords(of("east", 0), 64000), "Lag 5, the first waits 12.0\u00a0s at most; told 4\u00a0s ago.");
  assert.match(lagWords(of("east", 1), 64000), /unknown/);
  assert.match(lagWords(of("west", 0), 64000), /as of 34\u00a0s ago: its broker did not tell since/);
  assert.equal(lagWords({ lag: 0, since: null, at: 60000, isOld: false, looks: [] }, 64000), "Lag 0, told 4\u00a0s ago.");
});

test("of a past instant it is told when that was said last, and no age of all together", () => {
  const kept = lagsOf([{ broker: "east", at: 60000, missing: null, queues: [["orders", 0, 5, null]], looks: [[60000, [5]]], is_kept: true }]);

  assert.equal(lagWords([...kept.values()][0], 64000), "Lag 5, and nothing else was told in the 4\u00a0s after it.");
  assert.deepEqual(totalOf([...kept.values()]), { lag: 5, isWhole: true, at: null });
});
