// An instant in the address of a page, and the piece of a large map.
import assert from "node:assert/strict";
import test from "node:test";

import { addressAt, instantUnder } from "../../static/js/lib/instant.js";
import { columnsOf } from "../../static/js/lib/tiles.js";

test("an instant is a whole number of ms, and what else is asked for stays", () => {
  assert.equal(addressAt("?window=1h&at=5", 1700000000000.4), "?window=1h&at=1700000000000");
  assert.equal(addressAt("", 7), "?at=7");
});

test("the instant under a pointer lies within what a picture shows", () => {
  const box = { left: 100, width: 200 };

  assert.deepEqual([50, 100, 200, 300, 400].map((x) => instantUnder(x, box, 1000, 2000)), [1000, 1000, 1500, 2000, 2000]);
  assert.equal(instantUnder(5, { left: 0, width: 0 }, 1000, 2000), 2000);
});

test("a piece of a large map is 400 queues of one topic on one broker", () => {
  const isIn = (column) => columnsOf("orders/v2/east/400")([column]).length === 1;

  const column = (topic, broker, id) => ({ topic, broker, id });
  assert.deepEqual([399, 400, 799, 800].map((id) => isIn(column("orders/v2", "east", id))), [false, true, true, false]);
  assert.equal(isIn(column("orders", "east", 400)), false);
  assert.equal(isIn(column("orders/v2", "west", 400)), false);
});
