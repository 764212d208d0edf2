// The same cases as in Python: what a browser has after each message.
import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { deflateSync } from "node:zlib";
import test from "node:test";

import { Follower } from "../../static/js/live/follower.js";
import { OutOfStep, applyGroup, applyOverview } from "../../static/js/live/apply.js";
import { count, differ, packed, unpack } from "../../static/js/live/runs.js";
import { decode } from "../../static/js/live/wire.js";

const folder = new URL("../diffs/", import.meta.url);
const NOTHING = { head: null, gone: [], put: [], places: [], target: null, held: null, strays: null, faults: null };
const DIFF = { kind: "group.diff", ...NOTHING };

for (const file of readdirSync(folder)) {
  const story = JSON.parse(readFileSync(new URL(file, folder)));
  test(`apply(snapshot, diffs) is the state that ${file} says`, () => {
    const state = story.messages.reduce(applyGroup, null);

    assert.deepEqual(state, story.state);
  });

  test(`a follower takes ${file} step by step, and each step once`, () => {
    const follower = new Follower(story.messages[0].stream);
    for (const message of story.messages) {
      assert.equal(follower.receive(message), "applied");
    }

    assert.deepEqual(follower.state, story.state);
    assert.equal(follower.receive(story.messages[0]), story.messages.length > 1 ? "old" : "applied");
  });
}

const snapshot = JSON.parse(readFileSync(new URL("join.json", folder))).messages[0];

test("a gap is seen, and nothing is applied over it", () => {
  const follower = new Follower(snapshot.stream);
  follower.receive(snapshot);
  const late = { v: 2, kind: "group.diff", stream: snapshot.stream, seq: snapshot.seq + 2, at: 1, ...NOTHING };

  assert.equal(follower.receive(late), "gap");
  assert.equal(follower.seq, snapshot.seq);
});

test("a diff before any snapshot is a gap", () => {
  const follower = new Follower("group-1");

  assert.equal(follower.receive({ v: 2, kind: "group.diff", stream: "group-1", seq: 3 }), "gap");
});

test("a pulse with a newer number means that something was missed", () => {
  const follower = new Follower("group-1", { seq: 4 });

  assert.equal(follower.receive({ kind: "pulse", stream: "group-1", seq: 4 }), "pulse");
  assert.equal(follower.receive({ kind: "pulse", stream: "group-1", seq: 5 }), "gap");
});

test("what is not understood asks for a snapshot", () => {
  for (const odd of [{ kind: "group.diff", v: 1, ...NOTHING }, { kind: "group.diff", v: 3 }, { kind: "news", v: 1 }, { kind: "group.diff", v: 2, gone: 7 }]) {
    const follower = new Follower("group-1", { seq: 4, state: snapshot.state });

    assert.equal(follower.receive({ ...odd, stream: "group-1", seq: 5 }), "gap");
    assert.equal(follower.seq, null);
  }
});

test("messages of other streams are left alone", () => {
  assert.equal(new Follower("group-1").receive({ ...snapshot, stream: "group-2" }), "old");
});

test("what does not fit the state that it comes to is refused", () => {
  const none = { members: [], queues: [], gaps: [], lengths: [], shifts: [] };
  const stranger = { ...none, members: [7], queues: [[0, 1]] };
  const tooFar = { ...none, gaps: [0], lengths: [4], shifts: [7] };
  const cut = { ...none, gaps: [0], lengths: [-4], shifts: [1] };
  const twice = { ...snapshot.state, members: snapshot.state.members.map((cell) => ({ ...cell, target: [0, 4] })) };

  for (const target of [stranger, tooFar, cut, { ...stranger, queues: [] }]) {
    assert.throws(() => applyGroup(snapshot.state, { ...DIFF, target }), RangeError);
  }
  assert.throws(() => applyGroup(twice, { ...DIFF, target: { ...tooFar, shifts: [1] } }), RangeError);
  assert.throws(() => applyGroup(null, DIFF), OutOfStep);
  assert.throws(() => applyGroup(snapshot.state, { ...DIFF, gone: [5, 1] }), OutOfStep);
  assert.throws(() => applyGroup(snapshot.state, { ...DIFF, put: [snapshot.state.members[0]], places: [9] }), OutOfStep);
});

test("what a member holds whose answer is unknown does not change", () => {
  const unknown = { ...snapshot.state, members: snapshot.state.members.map((cell) => ({ ...cell, held: null })) };
  const held = { members: [0], queues: [[0, 1]], gaps: [], lengths: [], shifts: [] };

  assert.throws(() => applyGroup(unknown, { ...DIFF, held }), OutOfStep);
});

test("the overview's rows are put and taken by their ids", () => {
  const whole = applyOverview(null, { kind: "overview.snapshot", rows: [{ id: 1, n: 1 }, { id: 2, n: 1 }] });

  const rows = applyOverview(whole, { kind: "overview.diff", put: [{ id: 2, n: 2 }, { id: 3, n: 1 }], gone: [1] });

  assert.deepEqual([...rows.values()], [{ id: 2, n: 2 }, { id: 3, n: 1 }]);
  assert.throws(() => applyOverview(null, { kind: "overview.diff", put: [], gone: [] }), OutOfStep);
});

test("runs are sets of numbers", () => {
  assert.deepEqual(unpack([3, 3, 3, 1]), [3, 4, 5, 9]);
  assert.deepEqual(unpack([]), []);
  assert.equal(count([3, 3, 3, 1]), 4);
  assert.deepEqual(packed([3, 4, 5, 9]), [3, 3, 3, 1]);
  assert.deepEqual([packed([]), packed([0])], [[], [0, 1]]);
  assert.throws(() => unpack([1]), RangeError);
  assert.throws(() => unpack([-1, 2]), RangeError);
});

test("what differs, applied to one of two sets, gives the other", () => {
  const sets = [[], [0, 4], [3, 3, 3, 1], [2, 2, 1, 5], [0, 1, 1, 1, 1, 1]];
  for (const one of sets) {
    for (const other of sets) {
      assert.deepEqual(unpack(differ(one, differ(one, other))), unpack(other));
    }
  }
});

test("bytes are JSON, or JSON that was deflated", async () => {
  const message = { kind: "pulse", text: "ü".repeat(2000) };
  const plain = new TextEncoder().encode(JSON.stringify(message));

  assert.deepEqual(await decode(plain.buffer), message);
  assert.deepEqual(await decode(new Uint8Array(deflateSync(plain)).buffer), message);
  await assert.rejects(decode(new Uint8Array([1, 2, 3]).buffer));
});
