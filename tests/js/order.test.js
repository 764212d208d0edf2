// The overview's order: where a new row stands, and how many stand elsewhere now.
import assert from "node:assert/strict";
import test from "node:test";

import { before, compare, misplaced } from "../../static/js/lib/order.js";

const row = (group, more = {}) => ({ id: group, group, rebalanced_at: 1, members: 2, queues: 8, silent: 0, orphans: 0, doubles: 0, is_converged: true, round_opened_at: null, ...more });

test("the gravest state comes first, then the most queues, then the name", () => {
  const rows = [row("two", { doubles: 1 }), row("b", { orphans: 3 }), row("a", { orphans: 1 }), row("unknown", { silent: 1, orphans: null }), row("moving", { is_converged: false }), row("a quiet one"), row("b quiet")];

  for (let i = 1; i < rows.length; i++) assert.ok(compare(rows[i - 1], rows[i], "state") < 0, rows[i].group);
  assert.equal(compare(rows[0], rows[0], "state"), 0);
});

test("figures count down, unknown ones last; rounds from the newest", () => {
  assert.ok(compare(row("b", { members: 9 }), row("a"), "members") < 0);
  assert.ok(compare(row("a", { queues: null }), row("b", { queues: 0 }), "queues") > 0);
  assert.ok(compare(row("b", { round_opened_at: 9 }), row("a"), "round") < 0);
  assert.ok(compare(row("a"), row("b", { members: 9 }), "name") < 0);
  assert.ok(compare(row("b", { lag: 0 }), row("a", { lag: null }), "lag") < 0);
  assert.ok(compare(row("b", { lag: 9 }), row("a", { lag: 0 }), "lag") < 0);
});

test("a new row stands before the first that comes after it", () => {
  const rows = [row("a"), row("c")];

  assert.equal(before(row("b"), rows, "name"), "c");
  assert.equal(before(row("d"), rows, "name"), null);
});

test("as few rows as can be are said to stand elsewhere", () => {
  const rows = ["a", "b", "c", "d"].map((name) => row(name));

  assert.equal(misplaced(rows, "name"), 0);
  assert.equal(misplaced([rows[3], rows[0], rows[1], rows[2]], "name"), 1);
  assert.equal(misplaced([...rows].reverse(), "name"), 3);
  assert.equal(misplaced([], "name"), 0);
});
