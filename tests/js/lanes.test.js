import assert from "node:assert/strict";
import test from "node:test";
import { widthOf } from "../../static/js/lib/widths.js";
import { beginOf, columns, fitsBeside, gapBefore, hadSince, pullIn, rulesOf, verdict, whoOf, wrapped } from "../../static/js/views/lanes.js";
import { hasRoom } from "../../static/js/views/lag-row.js";
import { besidePlayhead, labelOf, movesIn } from "../../static/js/views/time-bar.js";

const lane = (queue, overlap, more = {}) => ({ queue, from: "a@x", to: "b@y", unowned: [0, 0], overlap, is_overlap: true, ...more });

test("on a phone what a handoff cost stands beside a short name, and below a long one", () => {
  assert.equal(fitsBeside(lane("payments/broker-c/1", [4700, 4700]), 343), true);
  assert.equal(fitsBeside(lane("payments/broker-c/0", [61000, 83000], { is_shared: true }), 343), false);
  assert.equal(fitsBeside(lane("payments/broker-c/0", [1100, 1100], { is_older: true }), 343), false);
});

test("on a phone lines of instants pass beside the bars alone, and through no words", () => {
  assert.equal(rulesOf([20, 20], 66, false)(7), "M7 18V66");
  assert.equal(rulesOf([58, 73], 157, true)(7), "M7 16v6M7 56v20M7 129v20");
});

test("bars have half of the width at least, however long names and words are", () => {
  const long = { from: "10.0.0.1@consumer-of-payments-2", to: "10.0.0.2@consumer-of-payments-1", is_older: true, twice: 318 };
  for (const width of [760, 881, 1521]) {
    const { left, right, isStacked } = columns([lane("payments/broker-a/1", [61000, 83000], long)], width);
    assert.equal(isStacked, true);
    assert.ok(right - left >= width / 2 && left >= 190 && width - right >= 150, `${width}: ${left} to ${right}`);
  }
});

test("where names, words and bars have room in one line each lane has one line", () => {
  const { left, right, isStacked } = columns([lane("payments/broker-a/1", [4700, 4700])], 1521);
  assert.deepEqual([left, right, isStacked], [300, 1521 - 20 - 16 * 7, false]);
});

test("words that are too long for a line take two, and are cut only where these are not enough", () => {
  assert.deepEqual(wrapped("4.7\u00a0s two owners", 150), ["4.7\u00a0s two owners"]);
  assert.deepEqual(wrapped("4.7\u00a0s two owners, since an earlier round", 180), ["4.7\u00a0s two owners,", "since an earlier round"]);
  assert.deepEqual(wrapped("4.7\u00a0s two owners, since an earlier round", 90), ["4.7\u00a0s two o…", "since an ea…"]);
  assert.deepEqual(wrapped("无主五秒无主五秒", 48), ["无主五秒", "无主五秒"]);
});

test("Chinese words have the room that they need", () => {
  assert.equal(widthOf("no owner", 7), 56);
  assert.equal(widthOf("无主 5\u00a0s", 7), 2 * 12 + 4 * 7);
});

test("a round's words in Chinese do not run into the next round's", () => {
  const label = (words, next) => labelOf({ number: 3, words, cause: "member left" }, 500, 495, next);
  assert.deepEqual(label("成员离开", 600), ["3 成员离开", false]);
  assert.deepEqual(label("成员离开：a", 550), ["3", false]); // as many letters in English would have room
});

test("a figure below the map is written where it does not touch the next one", () => {
  assert.equal(hasRoom("445", true, 16), false);
  assert.equal(hasRoom("49", true, 16), true);
  assert.equal(hasRoom("445", true, 22), true);
  assert.equal(hasRoom("0", false, 6), true);
});

test("queues that all members left are not said to have moved", () => {
  assert.equal(movesIn({ moves: 4, closed_at: 9, is_left: true }), "4 left without owner");
  assert.equal(movesIn({ moves: 4, closed_at: 9, is_left: false }), "4 moved");
  assert.equal(movesIn({ moves: 4, closed_at: null, is_left: false }), "4 to move");
  assert.equal(movesIn({ moves: null, closed_at: 9, is_left: true }), "how many queues move is unknown");
});

test("what two had perhaps since ever is given no length", () => {
  const lane = { from: "A", unowned: [0, 0], overlap: [0, null], is_perhaps_overlap: true, is_perhaps_gap: false };
  assert.deepEqual(verdict(lane), ["word-unknown", "perhaps two owners"]);
  assert.deepEqual(verdict({ ...lane, unowned: [0, 490], is_perhaps_gap: true }), ["word-unknown", "perhaps none or two"]);
});

test("of a queue that left its route, and is in one again, both are said", () => {
  const lane = { from: "host@report-1", to: "", is_gone: true, is_back: true };
  assert.equal(whoOf(lane), "report-1 → gone, now back");
  assert.equal(whoOf({ ...lane, is_back: false }), "report-1 → queue gone");
});

test("the axis begins with the first that belongs to the round, whatever two had long before", () => {
  assert.equal(beginOf(100_000, [99_000, 100_500]), 99_000);
  assert.equal(beginOf(100_000, [10_000, 100_500]), 100_000);
  assert.equal(beginOf(100_000, [10_000, 99_000]), 99_000);
});

test("who took a queue in the round itself is no old owner before that", () => {
  const handed = (from, to, taken_at, dropped_at, more = {}) => ({ queue: "t/b/0", from, to, taken_at, dropped_at, is_first_seen: false, ...more });
  const both = [handed("billing-1", "billing-2", 50, 20), handed("billing-2", "billing-3", 50, 70)];
  assert.deepEqual(both.map((lane) => hadSince(lane, both)), [-Infinity, 50]);
  const again = [...both, handed("billing-3", "billing-2", 90, 80), handed("billing-2", "billing-4", 99, 95)];
  assert.deepEqual(again.map((lane) => hadSince(lane, again)), [-Infinity, 50, 50, 90]);
  const seen = [handed("", "billing-2", 50, null, { is_first_seen: true }), handed("billing-2", "billing-3", 60, 70)];
  assert.deepEqual(seen.map((lane) => hadSince(lane, seen)), [-Infinity, -Infinity]);
  assert.equal(hadSince(handed("billing-2", "billing-3", 50, 70), [{ ...both[0], queue: "t/b/1" }]), -Infinity);
});

test("a first pull is marked where the lane has its time, and nowhere else", () => {
  assert.equal(pullIn({ first_pull_at: 50 }, 10, 90), 50);
  assert.equal(pullIn({ first_pull_at: 5 }, 10, 90), null);
  assert.equal(pullIn({ first_pull_at: 95 }, 10, 90), null);
  assert.equal(pullIn({ first_pull_at: null }, 10, 90), null);
});

test("nobody had what nobody had before until somebody may have taken it, and perhaps until that was seen", () => {
  const seen = { unowned: [9000, 16000], taken_at: 20000, taken_low: 14000 };
  assert.deepEqual(gapBefore(seen), [["lane-none", 5000, 14000], ["lane-maybe-none", 14000, 20000]]);
  const reported = { unowned: [15000, 16000], taken_at: 20000, taken_low: 20000 };
  assert.deepEqual(gapBefore(reported), [["lane-none", 5000, 20000], ["lane-maybe-none", 20000, 20000]]);
});

test("no label of a round lies over the playhead", () => {
  const label = (playhead) => labelOf({ number: 3, words: "member left: C", cause: "member left" }, 500, ...besidePlayhead(500, 100, 900, playhead));

  assert.deepEqual(label(900), ["3 member left: C", false]);
  assert.deepEqual(label(540), ["3 member left: C", true], "it stands to the left of its stem");
  assert.deepEqual(label(480), ["3 member left: C", false]);
  assert.deepEqual(besidePlayhead(500, 100, 900, 500), [100, 900]);
});

test("the latest round's label is bold, and needs more room", () => {
  const label = (perLetter) => labelOf({ number: 3, words: "member left", cause: "member left" }, 500, 495, 600, perLetter)[0];

  assert.deepEqual([label(), label(7.2)], ["3 member left", "3"]);
});
