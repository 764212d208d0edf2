// Of when is what a page shows: one instant, which its age is the age of.
import assert from "node:assert/strict";
import test from "node:test";

import { shownAt } from "../../static/js/views/as-of.js";

test("what is live is as of now", () => {
  assert.equal(shownAt({ now: 100000, heard: null, watched: [99000] }), 100000);
  assert.equal(shownAt({ now: 100000, heard: null, watched: [] }), 100000);
});

test("what no cluster answers for is as of the last answer, whatever the time is", () => {
  assert.equal(shownAt({ now: 100000, heard: null, watched: [40000, null, 30000] }), 40000);
  assert.equal(shownAt({ now: 100000, heard: null, watched: [null] }), null);
  assert.equal(shownAt({ now: 100000, heard: null, watched: [40000, 95000] }), 100000);
});

test("a page that is not connected is as of what it heard last", () => {
  assert.equal(shownAt({ now: 100000, heard: 70000, watched: [69000] }), 70000);
  assert.equal(shownAt({ now: 100000, heard: 70000, watched: [20000] }), 20000);
});
