// The page of producers: when what it counts down has ended.
import assert from "node:assert/strict";
import test from "node:test";

import { hasEnded, sameProducer } from "../../static/js/views/producers.js";

test("a time that ends between two ticks is asked about once", () => {
  const ticks = [[0, 200], [200, 400], [400, 600]];

  assert.deepEqual(ticks.map(([since, now]) => hasEnded([400, 90000], since, now)), [false, true, false]);
});

test("times that had ended before the page was drawn are not asked about again and again", () => {
  assert.equal(hasEnded([100], 100, 300), false);
});

test("the page goes on about the producer that it began with, unless its address names another one", () => {
  assert.equal(sameProducer("http://h/producers/?cluster=c", "P@1"), "http://h/producers/?cluster=c&client=P%401");
  assert.equal(sameProducer("http://h/producers/?client=Q", "P"), "http://h/producers/?client=Q");
  assert.equal(sameProducer("http://h/producers/", undefined), "http://h/producers/");
});
