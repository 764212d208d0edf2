// What would be, against what is; and by-config assignments as documents.
import assert from "node:assert/strict";
import test from "node:test";

import { HELD, PLANNED, asMap, describePlan, judgePlan } from "../../static/js/lib/planned.js";
import { order } from "../../static/js/lib/columns.js";
import { pieces, tiles } from "../../static/js/lib/tiles.js";
import { pack } from "../../static/js/lib/packing.js";
import { readDocument, writeDocument } from "../../static/js/lib/assignment.js";
import { unpack } from "../../static/js/live/runs.js";

function picture(members, { knows = true, comes = [], goes = [], silent = [], joins = [], leaves = [], size = 4 } = {}) {
  return {
    head: { model: "CLUSTERING", is_target_known: knows },
    queues: [{ topic: "orders", broker: "east", ids: [0, size] }],
    members: Object.entries(members).map(([client, [held, target]]) => ({ client, held: pack(held), target: pack(target) })),
    strays: [],
    silent,
    joins,
    leaves,
    comes: pack(comes),
    goes: pack(goes),
  };
}

const looks = (grammar, given) => {
  const judged = grammar.judge(given);
  return judged.queues.map((_, number) => [grammar.columnKind(judged, number), ...grammar.cellsOf(judged, number).map(([client, look]) => `${client} ${look}`)]);
};

test("a large dry run is the same tiles twice, and says what is got from others", () => {
  const from = (start, length) => Array.from({ length }, (_, i) => start + i);
  const given = picture({ A: [from(0, 600), from(0, 400)], B: [from(600, 600), from(400, 800)] }, { size: 1200 });
  const judged = judgePlan(given);
  const columns = order(judged.queues);

  const [held, planned] = [HELD, PLANNED].map((grammar) => {
    const cut = pieces(judged, columns, grammar);
    return { keys: cut.map(({ key }) => key), ...tiles(judged, asMap(given, grammar), cut, grammar) };
  });

  assert.deepEqual(held.keys, ["orders/east/0", "orders/east/400", "orders/east/800"]);
  assert.deepEqual(planned.keys, held.keys);
  assert.deepEqual([held.grid, planned.grid], [[[400, 0], [200, 200], [0, 400]], [[400, 0], [0, 400], [0, 400]]]);
  assert.deepEqual([held.gains.flat(), planned.gains], [[0, 0, 0, 0, 0, 0], [[0, 0], [0, 200], [0, 0]]]);
});

test("what is kept, gained, given away and left alone are four marks", () => {
  const given = picture({ A: [[0, 1, 2], [0]], B: [[3], [1, 3]] });

  assert.deepEqual(looks(PLANNED, given), [
    ["ok", "A ok"],
    ["ok", "B gain", "A gave"],
    ["none", "A gave"],
    ["ok", "B ok"],
  ]);
  assert.deepEqual(looks(HELD, given), [["ok", "A ok"], ["ok", "A ok"], ["ok", "A ok"], ["ok", "B ok"]]);
});

test("two owners are two on the map of their time", () => {
  assert.deepEqual(looks(PLANNED, picture({ A: [[0], [0]], B: [[], [0]] }, { size: 1 })), [["two", "A two", "B two"]]);
  assert.deepEqual(looks(HELD, picture({ A: [[0], []], B: [[0], []] }, { size: 1 })), [["two", "A two", "B two"]]);
});

test("a queue that comes is not there yet, and one that goes is not there then", () => {
  const given = picture({ A: [[0], [1]] }, { size: 2, goes: [0], comes: [1] });

  assert.deepEqual(looks(HELD, given), [["ok", "A ok"], ["stray"]]);
  assert.deepEqual(looks(PLANNED, given), [["away"], ["ok", "A gain"]]);
});

test("what cannot be known has no marks", () => {
  assert.deepEqual(looks(PLANNED, picture({ A: [[0], []] }, { knows: false, size: 1 })), [["ok"]]);
  assert.deepEqual(looks(HELD, picture({ A: [[], []] }, { silent: ["A"], size: 1 })), [["ok"]]);
  assert.deepEqual(looks(HELD, picture({ A: [[], []] }, { size: 1 })), [["none"]]);
});

test("the sentence says where a queue goes", () => {
  const judged = PLANNED.judge(picture({ A: [[0, 1, 2], [0]], B: [[3], [1]] }, { goes: [3], joins: ["B"] }));
  const say = (number, client = null) => describePlan(judged, { number }, client);

  assert.equal(say(0), "Stays with A.");
  assert.equal(say(1, "B"), "Goes from A to B. B is new.");
  assert.equal(describePlan(judgePlan(picture({ A: [[0], []], B: [[0], [0]] }, { size: 1 })), { number: 0 }, null), "A, B have it; B would keep it.");
  const shared = { ...judgePlan(picture({ A: [[0], [0]], B: [[0], [0]] }, { size: 1 })), isShared: true };
  assert.equal(describePlan(shared, { number: 0 }, null), "This group broadcasts: every member has it.");
  assert.equal(say(2), "A has it; nobody would. Its messages would wait.");
  assert.equal(say(3), "Would not be there any more; B has it now.");
});

test("who leaves is struck on the map of what would be, with the load of that time", () => {
  const given = picture({ A: [[0], []], B: [[], [0]] }, { size: 1, joins: ["B"], leaves: ["A"] });

  assert.deepEqual(asMap(given, PLANNED).members.map(({ state, load }) => [state, load]), [["left", []], ["here", [0, 1]]]);
  assert.equal(asMap(picture({ A: [[0], []] }, { knows: false }), PLANNED).members[0].load, null);
  assert.deepEqual(asMap(given, HELD).members.map(({ state, load }) => [state, load]), [["here", [0, 1]], ["silent", null]]);
});

test("runs are packed as they are unpacked", () => {
  for (const numbers of [[], [0], [3, 4, 5, 9], [7, 0, 1, 1]]) {
    assert.deepEqual([...unpack(pack(numbers))], [...new Set(numbers)].sort((a, b) => a - b));
  }
});

test("a document is read as it is written", () => {
  const pairs = [["A", "orders", "east", 0], ["A", "orders", "east", 1], ["A", "%RETRY%g/x", "west", 7], ["B\ud800é", "orders", "east", 2]];
  const text = writeDocument(pairs, ["C"]);

  assert.match(text, /"orders\/east\/0-1"/);
  assert.match(text, /"B\\ud800\\u00e9"/);
  assert.match(text, /"C": \[\]/);
  assert.deepEqual(readDocument(text).toSorted(), pairs.toSorted());
  assert.equal(writeDocument([]), "{}\n");
});

test("what is no document is none", () => {
  for (const text of ["{", "[]", "null", '{"A": 7}', '{"A": [7]}', '{"A": ["orders/0"]}', '{"A": ["orders/east/3-1"]}', '{"": []}', '{"A": ["a/b/0-9999999999"]}']) {
    assert.equal(readDocument(text), null, text);
  }
});
