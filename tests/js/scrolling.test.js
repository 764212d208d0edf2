// A place that is wider than its window says where more follows.
import assert from "node:assert/strict";
import test from "node:test";

import { moreOf } from "../../static/js/views/scrolling.js";

test("more follows to the right, to both sides, to the left, and nowhere", () => {
  const at = (scrollLeft) => moreOf({ scrollLeft, scrollWidth: 700, clientWidth: 350 });

  assert.deepEqual([0, 100, 350].map(at), ["right", "left right", "left"]);
  assert.equal(at(349.5), "left"); // browsers round
  assert.equal(moreOf({ scrollLeft: 0, scrollWidth: 350, clientWidth: 350 }), "");
});
