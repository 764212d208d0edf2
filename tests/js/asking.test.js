// What a page asks for besides the pushes: gathered, and asked again where no answer came.
import assert from "node:assert/strict";
import test from "node:test";

import { gather, getJson, standing } from "../../static/js/views/live.js";

const settled = () => new Promise(setImmediate);

function begin(context) {
  context.mock.timers.enable({ apis: ["setTimeout"] });
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

test("news after a failure does not wait for the next try", async (context) => {
  begin(context);
  let done = 0;
  const call = gather(async () => {
    if (done++ < 6) throw new Error("no line");
  }, 100);
  call();
  for (let i = 0; i < 6; i++) {
    context.mock.timers.tick(10000);
    await settled();
  }
  call();
  context.mock.timers.tick(100);
  await settled();

  assert.equal(done, 7);
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
  assert.equal(standing({ ok: false, status: 404, redirected: false }), "refused");
  assert.equal(standing({ ok: true, status: 200, redirected: true }), "logged out");
  assert.equal(standing({ ok: false, status: 401, redirected: false }), "logged out");
  assert.equal(standing({ ok: true, status: 200, redirected: false }), "open");
});
