// The grammar of the map: what each column and cell is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";

import { cellsOf, columnKind, judge, movesBetween, tally } from "../../static/js/lib/owners.js";
import { fit, middleOf, numbered, order, place, thinning } from "../../static/js/lib/columns.js";
import { describe } from "../../static/js/lib/sentence.js";
import { causeOfDeparture, glyphOf } from "../../static/js/lib/glyphs.js";
import { columnsOf, isLarge, pieces, tiles } from "../../static/js/lib/tiles.js";
import { between, span, ticks } from "../../static/js/lib/time.js";
import { roundWhen, stateOf } from "../../static/js/lib/state.js";
import { rowOf } from "../../static/js/lib/row.js";
import { fill } from "../../static/js/lib/words.js";
import { shown } from "../../static/js/lib/shown.js";
import { bandWords } from "../../static/js/views/tiles.js";
import { noteOf } from "../../static/js/views/owner-lanes.js";
import { verdict } from "../../static/js/views/lanes.js";
import { halvesOf, seenWords, tailsOf } from "../../static/js/views/map-rows.js";

const read = (file) => JSON.parse(readFileSync(new URL(`../words/${file}`, import.meta.url)));

function state(members, { model = "CLUSTERING", knows = true, size = 4 } = {}) {
  return {
    head: { model, is_target_known: knows },
    queues: [{ topic: "orders", broker: "east", ids: [0, size] }],
    members: Object.entries(members).map(([client, [target, held]]) => ({ client, target, held })),
    strays: [],
  };
}

const kinds = (given) => {
  const picture = judge(given);
  return picture.queues.map((_, number) => columnKind(picture, number));
};

test("held and wanted is quiet", () => {
  const given = state({ A: [[0, 2], [0, 2]], B: [[2, 2], [2, 2]] });

  assert.deepEqual(kinds(given), ["ok", "ok", "ok", "ok"]);
  assert.deepEqual(cellsOf(judge(given), 0), [["A", "ok", false]]);
});

test("queues of other names have not moved, though they have the same numbers", () => {
  const [before, after] = [state({ A: [[0, 4], [0, 4]] }), state({ B: [[0, 4], [0, 4]] })];
  assert.equal(movesBetween(judge(before), judge(after)).length, 4);

  const elsewhere = { ...after, queues: [{ ...after.queues[0], broker: "west" }] };

  assert.deepEqual(movesBetween(judge(before), judge(elsewhere)), []);
});

test("of a queue whose owner does not answer it is told who told last to have it, not since when it is unknown", () => {
  const picture = judge(state({ A: [[0, 4], null] }));
  const owners = [{ client: "A", at: 5_000, until: null }];

  const said = describe(picture, { topic: "orders", broker: "east", id: 0, number: 0 }, null, { now: 60_000, owners });

  assert.match(said, /wanted by A\. A told last to have it, since 00:00:05/);
});

test("nobody's queue has a ring where it should be taken", () => {
  const given = state({ A: [[0, 4], [0, 3]] });

  assert.deepEqual(kinds(given), ["ok", "ok", "ok", "none"]);
  assert.deepEqual(cellsOf(judge(given), 3), [["A", "want", false]]);
});

test("a queue that not every NameServer has is disputed, whoever holds it, unless two do", () => {
  const given = state({ A: [[], [0, 1]], B: [[], [0, 1]] }, { knows: false });
  given.members[0].held = [0, 2];
  given.head.disputed = [0, 1, 1, 2]; // all but 1
  const picture = judge(given);
  const says = (number) => describe(picture, { topic: "orders", broker: "east", id: number, number }, null, { now: 0 });

  assert.deepEqual(kinds(given), ["two", "ok", "disputed", "disputed"]);
  assert.equal(says(2), "Held by nobody who is known; NameServers disagree whether it is there.");
  given.members[0].held = [0, 3];
  const held = judge(given);
  assert.equal(
    describe(held, { topic: "orders", broker: "east", id: 2, number: 2 }, null, { now: 0 }),
    "Held by A; NameServers disagree whether it is there, so that what is wanted is unknown.",
  );
  const columns = held.queues.map((queue, number) => ({ ...queue, number }));
  assert.equal(pieces(held, columns)[0].unknown, 2);
  assert.equal(rowOf(given, 4).disputed, 3);
  assert.equal(rowOf(given, 4).perhaps_orphans, 1);
});

test("two owners are two, and the ring says who is right", () => {
  const given = state({ A: [[0, 2], [0, 3]], B: [[2, 2], [2, 2]] });

  assert.equal(kinds(given)[2], "two");
  assert.deepEqual(cellsOf(judge(given), 2), [["A", "two", false], ["B", "two", true]]);
});

test("two who told one after the other are perhaps two, and the sentence says when each told", () => {
  const given = state({ A: [[0, 2], [0, 3]], B: [[2, 2], [2, 2]] });
  given.head.perhaps_twice = [2, 1];
  const picture = judge(given);

  assert.deepEqual([kinds(given)[2], tally(picture).two], ["perhaps", 0]);
  assert.deepEqual(cellsOf(picture, 2), [["A", "claim", false], ["B", "claim", true]]);
  const column = { topic: "orders", broker: "east", id: 2, number: 2 };
  const said = describe(picture, column, null, { now: 60000, seen: new Map([["A", 1000], ["B", 59000]]) });
  assert.match(said, /^Perhaps two owners: A \(told 59\u00a0s ago\), B \(told 1\u00a0s ago\)\./);
});

test("nobody is said to be without owner while a broker does not tell who is a member", () => {
  const given = state({ A: [[0, 4], [0, 3]] });
  given.head.untold = ["west"];
  const picture = judge(given);

  assert.equal(columnKind(picture, 3), "unknown");
  assert.match(describe(picture, { broker: "east", number: 3 }, null, { now: 0 }), /^Unknown who holds it: west did not tell/);
});

test("what another connection of a member's id may have is not said to be nobody's, nor that the member is silent", () => {
  const given = state({ A: [[0, 3], [0, 2]], B: [[], [2, 1]] });
  given.members[0].registrations = 2;
  const picture = judge(given);

  assert.deepEqual([kinds(given)[3], tally(picture).none, rowOf(given, 4).partial, rowOf(given, 4).silent], ["unknown", 0, 1, 0]);
  assert.deepEqual(cellsOf(picture, 2), [["B", "let", false], ["A", "maybe", false]]);
  assert.equal(
    describe(picture, { broker: "east", number: 3 }, "A", { now: 0 }),
    "Unknown who holds it: only one connection of A can be asked. Row A: another connection of it may have it.",
  );
});

test("what nobody owns beside a member that takes messages by POP is not said to be nobody's", () => {
  const given = state({ A: [[0, 2], [0, 2]], B: [[], []] });
  given.head.popping = 1;
  const picture = judge(given);

  assert.deepEqual([kinds(given)[3], tally(picture).none], ["unknown", 0]);
  assert.equal(describe(picture, { broker: "east", number: 3 }, null, { now: 0 }), "Owned by nobody: who takes messages by POP takes its messages too.");
  given.members.push({ ...given.members[1], client: "C", held: null });
  assert.match(describe(judge(given), { broker: "east", number: 3 }, null, { now: 0 }), /^Unknown who holds it: n/);
});

test("somebody who holds what another one should have should let go", () => {
  const given = state({ A: [[0, 2], [0, 4]], B: [[2, 2], []] });

  assert.deepEqual(kinds(given), ["ok", "ok", "let", "let"]);
  assert.deepEqual(cellsOf(judge(given), 2), [["A", "let", false], ["B", "want", false]]);
});

test("while somebody does not answer, nobody's queue is unknown and not orphaned", () => {
  const given = state({ A: [[0, 2], [0, 2]], B: [[2, 2], null] });

  assert.deepEqual(kinds(given), ["ok", "ok", "unknown", "unknown"]);
  assert.deepEqual(cellsOf(judge(given), 2), [["B", "maybe", false]]);
  assert.deepEqual(tally(judge(given)), { ok: 2, let: 0, none: 0, two: 0, perhaps: 0, unknown: 2, disputed: 0 });
});

test("without a target nobody should let go", () => {
  assert.deepEqual(kinds(state({ A: [[], [0, 4]] }, { knows: false })), ["ok", "ok", "ok", "ok"]);
});

test("members that broadcast have no queue twice", () => {
  const given = state({ A: [[0, 4], [0, 4]], B: [[0, 4], [0, 4]] }, { model: "BROADCASTING" });

  assert.deepEqual(kinds(given), ["ok", "ok", "ok", "ok"]);
});

test("a queue that changed from one holder to another moved", () => {
  const before = judge(state({ A: [[0, 4], [0, 4]], B: [[], []] }));
  const after = judge(state({ A: [[0, 2], [0, 3]], B: [[2, 2], [3, 1]] }));

  assert.deepEqual(movesBetween(before, after), [[3, "A", "B"]]);
});

test("retry topics come last, strays have their column", () => {
  const queues = [{ topic: "%RETRY%g", broker: "east", id: 0 }, { topic: "b", broker: "west", id: 1 }, { topic: "b", broker: "east", id: 0 }];

  const columns = order(queues, [{ client: "A", topic: "a", broker: "east", queue_id: 3 }]);

  assert.deepEqual(columns.map((each) => [each.topic, each.number]), [["a", null], ["b", 2], ["b", 1], ["%RETRY%g", 0]]);
});

test("columns stand side by side with gaps between topics and brokers", () => {
  const columns = order([0, 1].flatMap((id) => ["east", "west"].map((broker) => ({ topic: "t", broker, id }))));

  const { columns: placed, width, cell } = place(columns, 1000);

  assert.equal(cell, 30);
  assert.deepEqual(placed.map((each) => each.x), [0, 30, 66, 96]);
  assert.equal(width, 126);
  assert.equal(place(columns, 10).cell, 4);
});

test("names fit their room", () => {
  assert.equal(fit("broker-a", 200), "broker-a");
  assert.equal(fit("broker-a", 20), "a");
  assert.equal(fit("abcdefgh", 40), "abcd…");
  assert.equal(thinning(30), 1);
  assert.equal(thinning(4), 5);
});

test("the sentence under the map says what a cell is", () => {
  const picture = judge(state({ A: [[0, 2], [0, 3]], B: [[2, 2], [2, 1]] }));
  const say = (id, client) => describe(picture, { topic: "orders", broker: "east", id, number: id }, client, { now: 1000 }).replace(/[]/g, "");

  assert.equal(say(0, "A"), "Held by A, as wanted. Row A: holds it.");
  assert.equal(say(2, "A"), "Two owners: A, B; wanted by B. Messages may be consumed twice while this lasts. Row A: holds it, should let go.");
  assert.equal(say(3, "B"), "Held by nobody; wanted by B, not yet taken. Row B: should take it.");
});

test("the sentence tells the last owner, where it is known", () => {
  const picture = judge(state({ B: [[0, 4], []] }));
  const owners = [{ client: "A", at: 0, until: 60000, reason: "lost", left: "gone" }];

  const words = describe(picture, { broker: "east", number: 0 }, null, { now: 104700, owners });

  assert.match(words, /Last owner A \(gone\), until 00:01:00, 44.7\u00a0s ago\./);
});

test("names are shown as the server shows them", () => {
  for (const [given, most, words] of read("names.json")) assert.equal(shown(given, most ?? undefined), words);
});

test("who was not asked yet does not count as one that does not answer", () => {
  const given = state({ A: [[0, 4], null] });
  const say = (missing) => {
    given.members[0].missing = missing;
    return describe(judge(given), { broker: "east", number: 0 }, "A", { now: 0 });
  };

  assert.equal(say(null), "Unknown who holds it: not asked yet are A; wanted by A. Row A: should have it; not asked yet.");
  assert.equal(say("timeout"), "Unknown who holds it: no answer from A; wanted by A. Row A: should have it; does not answer.");
});

test("a stranger's name cannot turn a sentence, nor fill it", () => {
  const given = state({ "\u202eevil": [[0, 4], [0, 4]] });

  assert.match(describe(judge(given), { broker: "east", number: 0 }, null, { now: 0 }), /Held by ⟨U\+202E⟩evil, as wanted/);
  assert.equal(fill("%(a)s and %(b)s", { a: "$&", b: "%(a)s" }), "$& and %(a)s");
});

test("ids show what tells them apart", () => {
  assert.deepEqual(tailsOf(["192.0.2.2@c1", "192.0.2.2@c2"]), [10, 10]);
  assert.deepEqual(tailsOf(["192.0.2.2@c1"]), [10]);
  assert.deepEqual(tailsOf(["alpha", "beta"]), [0, 0]);
});

test("an id gives way before its end, by which it is told apart", () => {
  assert.deepEqual(halvesOf("192.0.2.2@c1", 10), { front: "192.0.2.2@", end: "c1", isSame: true });
  assert.deepEqual(halvesOf("billing-of-one-host@4711", 0), { front: "billing-of-one", end: "-host@4711", isSame: false });
  assert.deepEqual(halvesOf("192.0.2.2@billing-of-4711", 10), { front: "192.0.2.2@billi", end: "ng-of-4711", isSame: false });
  assert.deepEqual(halvesOf("c1", 0), { front: "", end: "c1", isSame: false });
  assert.deepEqual(halvesOf("\u2068\u05d0\u05d1\u2069 of a host at 4711", 0).front, ""); // what is isolated stays in one part
});

test("a large group is tiles", () => {
  const clients = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`c${String(i).padStart(2, "0")}`, [[i * 40, 40], i === 7 ? [] : [i * 40, 40]]]));
  const given = state(clients, { size: 2000 });
  const picture = judge(given);

  const cut = pieces(picture, order(picture.queues));
  const grid = tiles(picture, given, cut);

  assert.ok(isLarge(given, 2000) && !isLarge(given, 200));
  assert.deepEqual(cut.map((piece) => [piece.key, piece.numbers.length, piece.none]), [["orders/east/0", 400, 40], ["orders/east/400", 400, 0], ["orders/east/800", 400, 0], ["orders/east/1200", 400, 0], ["orders/east/1600", 400, 0]]);
  assert.deepEqual([grid.size, grid.bands, grid.most], [2, 25, 80]);
  assert.equal(grid.grid.flat().reduce((a, b) => a + b), 1960);
});

test("a row of tiles tells who is of it, and how much of a piece they hold", () => {
  const members = ["A", "B", "C", "D", "E"].map((client) => ({ client }));

  assert.equal(bandWords(members, 0, 2, 120), "Clients 1–2 (A, B): 120 of them.");
  assert.equal(bandWords(members, 0, 4, 7), "Clients 1–4 (A, B, C, …): 7 of them.");
  assert.equal(bandWords(members, 2, 2, 0), "E: 0 of them.");
});

test("of too many queues it is said which are shown", () => {
  const note = (changed) => noteOf({ queues: Array(300), count: 4000, changed, is_whole: true });

  assert.equal(note(0), "4000 queues, the first 300 of them shown: none changed hands");
  assert.equal(note(300), "4000 queues, 300 of them shown: those that changed hands");
  assert.equal(note(900), "4000 queues, 300 of them shown: the first of those that changed hands");
});

test("tiles begin above 50 members by 200 queues and those of their retry topic, and where columns or rows have no room", () => {
  const of = (members, queues) => isLarge({ members: Array(members) }, queues);

  assert.deepEqual([of(50, 220), of(3, 250), of(100, 100)], [false, false, false]);
  assert.deepEqual([of(100, 1000), of(55, 201), of(50, 221), of(2, 251), of(101, 8)], [true, true, true, true, true]);
});

test("where tiles of each broker have no room, a tile has the queues of its topic on all brokers", () => {
  const queues = ["orders", "pay"].flatMap((topic) => ["east", "west"].map((broker) => ({ topic, broker, ids: [0, 300] })));
  const picture = judge({ ...state({ A: [[], []] }), queues });
  const columns = order(picture.queues);

  const [fine, coarse] = [pieces(picture, columns), pieces(picture, columns, undefined, 3)];

  assert.deepEqual(fine.map(({ name }) => name), ["orders/east/0", "orders/west/0", "pay/east/0", "pay/west/0"]);
  assert.deepEqual(coarse.map(({ key, name }) => [key, name]), [["orders/*/0", "orders"], ["orders/*/400", "orders"], ["pay/*/0", "pay"], ["pay/*/400", "pay"]]);
  assert.deepEqual(coarse.map(({ key, numbers }) => columnsOf(key)(columns).map(({ number }) => number).join() === numbers.join()), [true, true, true, true]);
  assert.equal(coarse.flatMap(({ numbers }) => numbers).length, 1200);
});

test("states are said as Python says them", () => {
  for (const { row, kind, words } of read("states.json")) {
    assert.deepEqual(stateOf(row), { kind, words });
  }
});

const seen = (held, missing = null) => ({ client: "A", target: [], held, missing });
const head = { model: "CLUSTERING", orphans: null, doubles: null, is_converged: null };

test("a group's page says of its state what its row says: who was never asked, who pops, and that all have all queues", () => {
  const wordsOf = (of, members) => stateOf(rowOf({ head: { ...head, ...of }, members }, 4)).words;

  assert.equal(wordsOf({}, [seen(null), seen(null, "not asked")]), "2 of 2 members not asked yet");
  assert.equal(wordsOf({}, [seen(null, "timed out"), seen(null)]), "1 of 2 members does not answer, 1 not asked yet");
  assert.equal(wordsOf({ model: "BROADCASTING", orphans: 0, doubles: 0, is_converged: true }, [seen([0, 4])]), "each member has all queues");
  const quiet = { orphans: 0, doubles: 0, is_converged: true, popping: 1 };
  assert.equal(wordsOf(quiet, [seen([0, 4]), seen([])]), "held as wanted; POP: 1 of 2 members");
});

test("a round that did not converge is not called open alone", () => {
  const row = { round_opened_at: 1000, round_closed_at: null, round_moves: 3 };

  assert.equal(roundWhen(row, 5500), "open for 4.5\u00a0s");
  assert.equal(roundWhen(row, 121000), "not converged, open for 2\u00a0min\u00a000\u00a0s");
  assert.equal(roundWhen({ ...row, round_closed_at: 4500 }, 5500), "1.0\u00a0s ago, 3 moved");
  assert.equal(roundWhen({ ...row, round_closed_at: 4500, members: 0 }, 5500), "1.0\u00a0s ago");
  assert.equal(roundWhen({ ...row, round_opened_at: null }, 5500), "");
});

test("durations are written as Python writes them", () => {
  for (const [ms, words] of read("spans.json")) assert.equal(span(ms), words);
});

test("durations between two bounds are written as Python writes them", () => {
  for (const [low, high, words] of read("bounds.json")) assert.equal(between([low, high]), words);
});

test("ticks are round instants", () => {
  assert.deepEqual(ticks(1000, 601000, 5), [120000, 240000, 360000, 480000, 600000]);
});

test("each cause has a shape, and what has none a question mark", () => {
  assert.notEqual(glyphOf("member joined")[0], glyphOf("member left")[0]);
  assert.equal(glyphOf("unknown"), glyphOf("never heard of"));
});

test("who is gone has the sign that its round has: a crash that brokers saw is a leave, a silent death a cross", () => {
  assert.deepEqual(["unregistered", "connection closed", "unknown"].map(causeOfDeparture), ["member left", "member left", "member left"]);
  assert.equal(causeOfDeparture("heartbeat expired"), "heartbeat expired");
});

test("of a member without an answer only a live page says since when; a kept round says that there was none", () => {
  const [told, silent] = [{ client: "A", held: [] }, { client: "B", held: null }];

  assert.equal(seenWords(silent, { seen: null, now: 5 }), "no answer");
  assert.equal(seenWords(told, { seen: null, now: 5 }), "");
  const lost = { ...silent, missing: "timeout" };
  assert.equal(seenWords(silent, { seen: new Map(), now: 5 }), "not asked yet");
  assert.equal(seenWords(lost, { seen: new Map(), now: 5 }), "never answered");
  const seen = new Map([["B", 1000]]);
  const again = { ...silent, missing: "not asked" };
  assert.deepEqual([again, lost].map((each) => seenWords(each, { seen, now: 31_000 })), ["not asked for 30\u00a0s", "no answer for 30\u00a0s"]);
});

test("who had a queue before is nobody where everybody had answered, else unknown", () => {
  const lane = { from: "", unowned: [0, null], overlap: [null, null] };

  assert.deepEqual(verdict(lane), ["", "nobody had it before"]);
  assert.deepEqual(verdict({ ...lane, is_first_seen: true }), ["word-unknown", "owner before unknown"]);
});

test("a lane whose owner nobody knows says so, and what is known before", () => {
  const lane = { from: "A", is_unknown: true, unowned: [0, null], overlap: [null, null] };

  assert.deepEqual(verdict(lane), ["word-unknown", "unknown: no answer"]);
  assert.deepEqual(verdict({ ...lane, unowned: [2500, null] }), ["word-unknown", "2.5\u00a0s no owner, then unknown: no answer"]);
  assert.deepEqual(verdict({ ...lane, in_part: ["A"] }), ["word-unknown", "unknown: not each connection of a member can be asked"]);
});

test("a handoff of which only the most is known may have had nobody, or two: neither is said to have been", () => {
  const lane = { from: "A", unowned: [0, 976], overlap: [0, 1034], is_perhaps_gap: true, is_perhaps_overlap: true };

  assert.deepEqual(verdict(lane), ["word-unknown", "perhaps none or two, ≤\u00a01.0\u00a0s"]);
  assert.deepEqual(verdict({ ...lane, is_perhaps_overlap: false }), ["word-unknown", "perhaps no owner, ≤\u00a0976\u00a0ms"]);
  assert.deepEqual(verdict({ ...lane, is_perhaps_gap: false }), ["word-unknown", "perhaps two owners, ≤\u00a01.0\u00a0s"]);
  assert.deepEqual(verdict({ ...lane, is_overlap: true, overlap: [800, 1034] }), ["word-two", "800\u00a0ms\u00a0– 1.0\u00a0s two owners"]);
  assert.deepEqual(verdict({ ...lane, is_overlap: true, is_older: true, overlap: [800, 1034] })[1], "800\u00a0ms\u00a0– 1.0\u00a0s two owners, since an earlier round");
  assert.deepEqual(verdict({ ...lane, is_shared: true }), ["word-unknown", "perhaps two owners so far, ≤\u00a01.0\u00a0s"]);
});

test("a queue that left the route before anybody took it is gone, and waited for no longer", () => {
  const lane = { from: "A", to: "", is_gone: true, is_gap: true, unowned: [30_000, 61_000], overlap: [null, null] };

  assert.deepEqual(verdict(lane), ["word-none", "30.0\u00a0s\u00a0– 1\u00a0min\u00a001\u00a0s no owner, then queue gone"]);
  assert.deepEqual(verdict({ ...lane, unowned: [0, 61_000], is_gap: false, is_perhaps_gap: true })[1], "queue gone, perhaps no owner before, ≤\u00a01\u00a0min\u00a001\u00a0s");
  assert.deepEqual(verdict({ ...lane, unowned: [0, 0], is_gap: false }), ["word-unknown", "queue gone"]);
});

test("a queue of somebody who may have kept it has perhaps no owner so far", () => {
  const lane = { from: "A", to: "", is_waiting: true, is_gap: false, is_perhaps_gap: true, unowned: [0, 30_000], overlap: [null, null] };

  assert.deepEqual(verdict(lane), ["word-unknown", "perhaps no owner so far, ≤\u00a030.0\u00a0s"]);
  assert.deepEqual(verdict({ ...lane, is_gap: true, unowned: [30_000, 30_000] }), ["word-none", "30.0\u00a0s no owner so far"]);
});

test("numbers of queues never run into each other, however many digits they have", () => {
  const queues = ["east", "west"].flatMap((broker) => Array.from({ length: 401 }, (_, id) => ({ topic: "orders", broker, id: id + 9900 })));
  const { columns, cell } = place(order(queues), 400);

  const written = numbered(columns, cell);

  assert.equal(cell, 4);
  assert.deepEqual(written.slice(0, 3).map(({ id }) => id), [9900, 9910, 9920]);
  const [first, ...others] = written.map((column) => [-1, 1].map((side) => middleOf(column, cell) + side * 3 * String(column.id).length));
  assert.equal(first[0], 0); // it is not cut off where the map begins
  others.reduce(([, end], next) => (assert.ok(end < next[0]), next), first);
  const few = ["east", "west"].flatMap((broker) => Array.from({ length: 4 }, (_, id) => ({ topic: "orders", broker, id })));
  assert.deepEqual(numbered(place(order(few), 38).columns, 4).map(({ id }) => id), [0, 3, 0, 3]); // of the last nobody has to guess
  assert.deepEqual(numbered(place(order(few), 110).columns, 13).map(({ id }) => id), [0, 1, 2, 3, 0, 1, 2, 3]); // as narrow as in a dry run
  const many = Array.from({ length: 12 }, (_, id) => ({ topic: "orders", broker: "east", id }));
  assert.deepEqual(numbered(place(order(many), 144).columns, 12).map(({ id }) => id), [0, 2, 4, 6, 8, 10]); // no 11 beside it: where would 9 be
  assert.deepEqual(numbered(place(order(queues.slice(0, 3)), 400).columns, 30).map(({ id }) => id), [9900, 9901, 9902]);
});
