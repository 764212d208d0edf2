// How fast members consume, by committed offsets.
import assert from "node:assert/strict";
import { test } from "node:test";
import { Rates, holdersIn, rateInShort } from "../../static/js/lib/rates.js";

const queues = [0, 1].map((id) => ({ topic: "orders", broker: "east", id }));
const picture = (...holders) => ({ queues, holders });
const told = (at, ...committed) => [{ broker: "east", at, missing: null, queues: committed.map((each, id) => ["orders", id, 0, null, each]), looks: [] }];

test("a member consumes what is committed of its queues from one answer to the next", () => {
  const [rates, held] = [new Rates(), picture(["A"], ["A"])];
  for (const [at, one, two] of [[0, 100, 0], [5000, 150, 0], [10000, 250, 5]]) rates.note(told(at, one, two), holdersIn(held));

  assert.deepEqual(rates.ofMembers(held), new Map([["A", { rate: 15.5, isWhole: true }]]));
});

test("one answer says nothing, and the same one again neither", () => {
  const [rates, held] = [new Rates(), picture(["A"], [])];
  for (let i = 0; i < 3; i++) rates.note(told(1000, 100, 0), holdersIn(held));

  assert.deepEqual(rates.ofMembers(held), new Map([["A", { rate: null, isWhole: false }]]));
});

test("what the owner before consumed does not count, nor what two hold, nor an offset that went back", () => {
  const rates = new Rates();
  rates.note(told(0, 100, 100), holdersIn(picture(["A"], ["B"])));
  rates.note(told(5000, 200, 200), holdersIn(picture(["B"], ["A", "B"])));
  assert.deepEqual([...rates.ofMembers(picture(["B"], ["A", "B"])).values()], [{ rate: null, isWhole: false }, { rate: null, isWhole: false }]);

  rates.note(told(10000, 90, 300), holdersIn(picture(["B"], ["A"])));
  rates.note(told(20000, 100, null), holdersIn(picture(["B"], ["A"])));

  assert.deepEqual(rates.ofMembers(picture(["B"], ["A"])), new Map([["B", { rate: 1, isWhole: true }], ["A", { rate: null, isWhole: false }]]));
});

test("what is older than a minute is forgotten", () => {
  const [rates, held] = [new Rates(), picture(["A"], [])];
  for (const [at, one] of [[0, 0], [50000, 5000], [100000, 5000]]) rates.note(told(at, one, 0), holdersIn(held));

  assert.equal(rates.of("orders\neast\n0", "A"), 0);
});

test("rates are written in few letters", () => {
  assert.deepEqual([0, 0.01, 0.44, 9.94, 16.4].map(rateInShort), ["0", "< 0.1", "0.4", "9.9", "16"]);
});
