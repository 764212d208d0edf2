// Bands go on up to now where the fault stands still, and no further than anybody looked.
import assert from "node:assert/strict";
import test from "node:test";

import { asOfNow, goingOn, inParts, lookedUntil, ownerBands, ownersBetween, ownersNow } from "../../static/js/lib/bands.js";
import { bothNames } from "../../static/js/views/owner-lanes.js";

const cell = (client, held = []) => ({ client, held });
const time = { since: 0, until: 100_000, told_until: null, rounds: [], none: [[90_000, 100_000, 2]], two: [[50_000, 60_000, 1], [80_000, 94_000, 3]] };

test("what still is so goes on until the last look, and what follows was not looked at", () => {
  const bar = asOfNow(time, { looked: 104_000, orphans: 2, doubles: 5 });

  assert.deepEqual(bar.none, [[90_000, 104_000, 2]]);
  assert.deepEqual(bar.two, [[50_000, 60_000, 1], [80_000, 94_000, 3], [94_000, 104_000, 5]]);
  assert.equal(bar.looked, 104_000);
  assert.deepEqual(time.none, [[90_000, 100_000, 2]]);
});

test("what is over, unknown, or was over when it was read does not go on", () => {
  const bar = asOfNow(time, { looked: 104_000, orphans: 0, doubles: null });

  assert.deepEqual([bar.none, bar.two], [time.none, time.two]);
  assert.deepEqual(goingOn([[1, 60_000, 1]], { read: 100_000, looked: 104_000, now: 1 }), [[1, 60_000, 1]]);
  assert.deepEqual(goingOn([], { read: 100_000, looked: 104_000, now: 1 }), []);
});

test("where nobody looked since it was read, or somebody does not answer, nothing is added", () => {
  assert.deepEqual(asOfNow(time, { looked: 99_000, orphans: 2, doubles: 3 }).looked, 100_000);
  assert.deepEqual(asOfNow(time, { looked: null, orphans: 2, doubles: 3 }), { ...time, looked: null });
  assert.deepEqual(asOfNow({ ...time, told_until: 70_000 }, { looked: 104_000, orphans: 2, doubles: 3 }).none, time.none);
});

test("what is not known to go on, or was read in a silence, is not drawn as no fault: nobody looked", () => {
  const looked = (options, more = {}) => asOfNow({ ...time, ...more }, { looked: 104_000, orphans: 2, doubles: 3, ...options }).looked;

  assert.equal(looked({}), 104_000);
  assert.equal(looked({ doubles: 1 }, { two: [[50_000, 60_000, 1]] }), 100_000, "two owners since then, of which no step tells");
  assert.equal(looked({ orphans: null }), 100_000, "unknown now");
  assert.equal(looked({ orphans: 0, doubles: 0 }, { none: [], two: [] }), 104_000);
  assert.equal(looked({ answered: 60_000 }, { none: [[50_000, 61_000, 2]], two: [] }), 61_000);
  assert.equal(looked({ answered: 60_000, orphans: 0, doubles: 0 }, { none: [], two: [] }), 60_000);
});

test("everybody has been looked at when the one that was longest ago told", () => {
  const seen = new Map([["A", 5_000], ["B", 3_000], ["C", 1_000]]);

  assert.equal(lookedUntil([cell("A"), cell("B")], seen, 6_000), 3_000);
  assert.equal(lookedUntil([cell("A"), cell("C", null)], seen, 4_000), 4_000); // whoever does not answer is told of elsewhere
  assert.equal(lookedUntil([cell("D")], seen, 6_000), null);
});

test("a time is cut where not everybody answered", () => {
  assert.deepEqual(inParts(10, 50, []), [[10, 50, true]]);
  assert.deepEqual(inParts(10, 50, [[0, 20], [30, 40], [60, 70]]), [[10, 20, false], [20, 30, true], [30, 40, false], [40, 50, true]]);
  assert.deepEqual(inParts(10, 50, [[5, Infinity]]), [[10, 50, false]]);
});

test("who does not answer may have let go of a queue: two have it only as both told", () => {
  const silent = [0, 1_000, null, 2_000]; // client, from, until, as it told
  const gone = [1, 1_000, 2_000, null];

  assert.deepEqual(ownersNow([silent, [2, 1_500, null, null], gone]), { told: 1, most: 2 });
  assert.deepEqual(ownersNow([[0, 1_000, null, null], [2, 1_500, null, null]]), { told: 2, most: 2 });
});

test("where every member has every queue the time bar has no bands of owners", () => {
  assert.deepEqual(ownerBands(false), ["two", "none"]);
  assert.deepEqual(ownerBands(true), []);
});

test("both names have room, or none is written", () => {
  const who = ["10.0.0.1@billing-service-1", "10.0.0.1@billing-service-2"];

  assert.equal(bothNames(who, 300), "billing-service-1 + billing-service-2");
  assert.match(bothNames(who, 160), /^bil.*…*-1 \+ bil.*…*-2$/u);
  assert.equal(bothNames(who, 120), "");
  assert.equal(bothNames(["A", "B"], 64), "A + B");
});

test("who had a queue while two did are both named, and nobody who had it before or after", () => {
  const bars = [
    [2, 0, 900, null],
    [0, 1_000, 2_000, null],
    [1, 1_500, null, null],
    [3, 2_000, null, null],
  ];

  assert.deepEqual(ownersBetween(bars, 1_500, 2_000), [0, 1]);
  assert.deepEqual(ownersBetween(bars, 1_000, 1_500), [0]);
});
