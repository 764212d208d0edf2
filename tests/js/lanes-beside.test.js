import assert from "node:assert/strict";
import test from "node:test";
import { order } from "../../static/js/lib/columns.js";
import { barsBeside, barsOf, gapOf, reachOf, verdict, whoOf } from "../../static/js/views/lanes.js";

const handoff = { from: "a@x", to: "b@y", dropped_at: null, taken_at: null, first_pull_at: null, gone_at: null, taken_low: null, unowned: [0, 0], overlap: [0, 0] };
const beside = { why: "nobody had it before the round either", unowned: [42_200, null], overlap: [0, 0], is_gap: true, is_overlap: false, is_lasting: false, nobody: [[100_000, 142_200]], perhaps_nobody: [[99_000, 142_500]], two: [], perhaps_two: [] };
const plain = (words) => words.map((each) => each.replaceAll("\u00a0", " "));
const told = (lanes) => reachOf({ opened_at: 100_000, lanes }, lanes.flatMap((lane) => (lane.why ? barsBeside(lane) : barsOf(lane, { end: Infinity, had: -Infinity }))), 0);

test("the axis has all that nobody had, whether a handoff tells of it or not", () => {
  assert.deepEqual(told([beside]), [99_000, 142_500]);
  const taken = { ...handoff, from: "", taken_at: 101_000, taken_low: 101_000, unowned: [30_000, 30_000], is_gap: true };
  assert.deepEqual(told([taken]), [71_000, 101_000]);
  assert.deepEqual(told([{ ...handoff, dropped_at: 100_100, taken_at: 100_400 }, beside]), [99_000, 142_500]);
});

test("what was long before the round does not stretch the axis", () => {
  assert.deepEqual(told([{ ...beside, nobody: [[-900_000, 100_700]], perhaps_nobody: [] }]), [100_000, 100_700]);
});

test("what is only possible is drawn below what is certain", () => {
  assert.deepEqual(barsBeside(beside).map(({ look }) => look), ["lane-maybe-none", "lane-none"]);
});

test("a queue of which no handoff tells says what it came to", () => {
  assert.deepEqual(plain(verdict(beside)), ["word-none", "≥ 42.2 s no owner"]);
  assert.deepEqual(plain(verdict({ ...beside, is_lasting: true })), ["word-none", "≥ 42.2 s no owner so far"]);
  assert.deepEqual(plain(verdict({ ...beside, is_of_round: true })), ["word-none", "≥ 42.2 s of this round no owner"]);
  assert.deepEqual(plain(verdict({ ...beside, is_of_round: true, is_lasting: true })), ["word-none", "≥ 42.2 s of this round no owner so far"]);
  assert.deepEqual(plain(verdict({ ...beside, overlap: [50_000, 50_000], is_overlap: true })), ["word-two", "50.0 s two owners"]);
  assert.equal(whoOf(beside), "no handoff");
});

test("a queue that one of two maps has stands in an empty column of the other", () => {
  const queue = (id) => ({ topic: "orders", broker: "east", id });
  const columns = order([queue(0), queue(2)], [], [queue(0), queue(1), queue(2)]);
  assert.deepEqual(columns.map(({ id, number, isAbsent = false }) => [id, number, isAbsent]), [[0, 0, false], [1, null, true], [2, 1, false]]);
});

test("a gap between bounds is certain only between when it was let go for certain and when it may have been taken", () => {
  const lane = { ...handoff, from: "a@x", dropped_at: 100, dropped_high: 140, taken_at: 200, taken_low: 180, unowned: [40, 100], is_gap: true };
  assert.deepEqual(gapOf(lane), [["lane-maybe-none", 100, 200], ["lane-none", 140, 180]]);
  assert.deepEqual(gapOf({ ...lane, unowned: [10, 100] })[1], ["lane-none", 170, 180]);
  assert.deepEqual(gapOf({ ...lane, dropped_high: 100, taken_low: 200, unowned: [100, 100] }), [["lane-none", 100, 200]]);
});
