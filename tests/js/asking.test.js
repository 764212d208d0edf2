// What a page asks for besides the pushes: gathered, and asked again where no answer came.
import assert from "node:assert/strict";
import test from "node:test";

import { Line, line as pagesLine } from "../../static/js/live/line.js";
import { gather, getJson, inTurn, standing } from "../../static/js/views/live.js";

const settled = () => new Promise(setImmediate);

function begin(context) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  context.mock.method(Math, "random", () => 0.5);
}

test("a burst of calls is one piece of work", async (context) => {
  begin(context);
  let done = 0;
  const call = gather(async () => done++, 100);
  for (let i = 0; i < 5; i++) call();
  context.mock.timers.tick(100);
  await settled();
  context.mock.timers.tick(100000);

  assert.equal(done, 1);
});

test("work that fails is done again, after longer and longer waits, until it succeeds", async (context) => {
  begin(context);
  const failing = [true, true, false];
  let done = 0;
  const call = gather(async () => {
    if (failing[done++]) throw new Error("no line");
  }, 100);
  call();
  const after = [];
  for (const wait of [100, 199, 1, 399, 1, 100000]) {
    context.mock.timers.tick(wait);
    await settled();
    after.push(done);
  }

  assert.deepEqual(after, [1, 1, 2, 2, 3, 3]);
});

test("news after failures does not wait for the next try, and makes no more than one in five seconds", async (context) => {
  begin(context);
  let done = 0;
  const call = gather(async () => {
    done++;
    throw new Error("no answer");
  }, 100);
  call();
  for (let i = 0; i < 8; i++) {
    context.mock.timers.tick(10000);
    await settled();
  }
  const before = done;
  for (let i = 0; i < 100; i++) {
    call();
    context.mock.timers.tick(250);
    await settled();
  }

  assert.deepEqual([before, done - before], [8, 5]); // 25 s
});

test("while the line is cut nothing is asked for, and all of it once it is back", async (context) => {
  begin(context);
  const line = new Line();
  let done = 0;
  const call = gather(async () => done++, 100, line);
  line.set("open");
  line.set("away");
  for (let i = 0; i < 20; i++) {
    call();
    context.mock.timers.tick(1000);
    await settled();
  }
  assert.equal(done, 0);

  line.set("open");
  context.mock.timers.tick(100);
  await settled();
  context.mock.timers.tick(100000);
  await settled();

  assert.equal(done, 1);
});

test("an answer that does not come casts doubt on the line, one of a server in trouble does not", async (context) => {
  let doubts = 0;
  pagesLine.onDoubt = () => doubts++;
  context.after(() => (pagesLine.onDoubt = () => {}));
  const answers = [new Response("", { status: 503 })];
  context.mock.method(globalThis, "fetch", async () => {
    if (answers.length) return answers.shift();
    throw new TypeError("Failed to fetch");
  });

  await assert.rejects(getJson("/x"), /503/);
  assert.equal(doubts, 0);
  await assert.rejects(getJson("/x"), /Failed to fetch/);
  assert.equal(doubts, 1);
});

test("who has ended asks no more", async (context) => {
  begin(context);
  let done = 0;
  const call = gather(async () => {
    done++;
    throw new Error("no line");
  }, 100);
  call();
  context.mock.timers.tick(100);
  await settled();
  call.end();
  call();
  context.mock.timers.tick(100000);
  await settled();

  assert.equal(done, 1);
});

test("a server in trouble is a failure, one that refuses is not", async (context) => {
  const answers = [new Response("", { status: 503 }), new Response("", { status: 404 }), new Response('{"a": 1}')];
  context.mock.method(globalThis, "fetch", async () => answers.shift());

  await assert.rejects(getJson("/x"), /503/);
  assert.equal(await getJson("/x"), null);
  assert.deepEqual(await getJson("/x"), { a: 1 });
});

test("whoever has no permission is not said to be logged out", () => {
  assert.equal(standing({ ok: false, status: 403, redirected: false }), "refused");
  assert.equal(standing({ ok: false, status: 404, redirected: false }), "gone");
  assert.equal(standing({ ok: true, status: 200, redirected: true }), "logged out");
  assert.equal(standing({ ok: false, status: 401, redirected: false }), "logged out");
  assert.equal(standing({ ok: true, status: 200, redirected: false }), "open");
});

test("what is drawn in turn lets others have their turn between", async () => {
  const told = [];
  setTimeout(() => told.push("a key"));
  const done = inTurn(["bar", "map"].map((part) => () => told.push(part)));
  setTimeout(() => told.push("a push"));
  await done;

  assert.deepEqual(told, ["a key", "bar", "a push", "map"]);
});
