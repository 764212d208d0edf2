// Who is late, before it is known whether it answers: the map, the words at its head and the sentence below it say the same.
import assert from "node:assert/strict";
import test from "node:test";

import { describe } from "../../static/js/lib/sentence.js";
import { judge } from "../../static/js/lib/owners.js";
import { lateOf, lateWords } from "../../static/js/lib/late.js";
import { rowsOf } from "../../static/js/views/map-rows.js";

const STATE = {
  head: { model: "CLUSTERING", is_target_known: true },
  queues: [{ topic: "orders", broker: "east", ids: [0, 2] }],
  members: [
    { client: "A", held: [0, 1], target: [0, 1] },
    { client: "B", held: [1, 1], target: [1, 1] },
    { client: "C", held: null, missing: "timeout", target: [] },
  ],
  strays: [],
};
const NOW = 100_000;
const SEEN = new Map([["A", NOW - 9000], ["B", NOW - 1000], ["C", NOW - 30_000]]);

test("who has told nothing for longer than it is asked is late; who is known not to answer is not", () => {
  assert.deepEqual([...lateOf(STATE.members, SEEN, NOW)], [["A", NOW - 9000]]);
  assert.equal(lateOf(STATE.members, SEEN, NOW - 3001).size, 0);
  assert.equal(lateOf(STATE.members, SEEN, NOW, { since: NOW - 6000 }).size, 0, "it is asked more often only since somebody looks");
  assert.deepEqual([...lateOf(STATE.members, SEEN, NOW, { since: NOW - 6001 })], [["A", NOW - 9000]]);
  assert.equal(lateWords(STATE.members, SEEN, NOW, { since: NOW }), "");
  assert.equal(lateOf(STATE.members, SEEN, NOW, { until: NOW - 3000 }).size, 0, "its watcher was not heard since");
  assert.equal(lateOf(STATE.members, SEEN, NOW, { until: NOW - 2999 }).size, 1);
  assert.equal(lateOf(STATE.members, null, NOW).size, 0); // what is kept of then has no age
  assert.equal(lateOf(STATE.members, new Map(), NOW).size, 0);
});

test("members of a large group have their turn more seldom", () => {
  const many = Array.from({ length: 50 }, (_, n) => ({ client: `m${n}`, held: [] }));
  const seen = new Map(many.map(({ client }, n) => [client, NOW - 900 * n]));

  assert.deepEqual([...lateOf(many, seen, NOW).keys()], ["m45", "m46", "m47", "m48", "m49"]);
});

test("the words at the head, the row and the sentence below say so alike", () => {
  const words = lateWords(STATE.members, SEEN, NOW);
  const picture = judge(STATE);
  const rows = rowsOf(STATE, { left: [], seen: SEEN, now: NOW }, picture, [], false);
  const said = (number) => describe(picture, { topic: "orders", broker: "east", id: number, number }, null, { now: NOW, seen: SEEN });

  assert.equal(words, "1 of 3 members has told nothing for 9\u00a0s");
  assert.deepEqual(rows.map(({ state }) => state), ["late", "here", "silent"]);
  assert.match(said(0), /A told so 9\u00a0s ago, and nothing since\.$/);
  assert.doesNotMatch(said(1), /nothing since/);
  assert.equal(lateWords(STATE.members.slice(1), SEEN, NOW), "");
});
