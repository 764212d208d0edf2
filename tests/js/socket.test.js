// The page's socket against a scripted server: it asks for what it missed.
import assert from "node:assert/strict";
import test from "node:test";

import { Follower } from "../../static/js/live/follower.js";
import { Socket } from "../../static/js/live/socket.js";

class Server {
  sockets = [];
  make = () => {
    const socket = { readyState: 0, sent: [], send: (text) => socket.sent.push(JSON.parse(text)), close: () => this.end(socket, 1006) };
    this.sockets.push(socket);
    return socket;
  };
  get last() {
    return this.sockets.at(-1);
  }
  accept() {
    this.last.readyState = 1;
    this.last.onopen();
  }
  async say(message) {
    this.last.onmessage({ data: new TextEncoder().encode(JSON.stringify(message)).buffer });
    await new Promise(setImmediate);
  }
  end(socket, code) {
    socket.readyState = 3;
    socket.onclose?.({ code });
  }
}

const whole = (seq) => ({ v: 1, kind: "overview.snapshot", stream: "overview-1", seq, at: 1, rows: [] });
const step = (seq) => ({ v: 1, kind: "overview.diff", stream: "overview-1", seq, at: 1, put: [], gone: [] });

function start(context) {
  context.mock.timers.enable({ apis: ["setTimeout", "Date"] });
  const server = new Server();
  const statuses = [];
  const socket = new Socket("ws://x/live/", { make: server.make, onStatus: (status) => statuses.push(status) });
  const follower = new Follower("overview-1");
  socket.follow(follower, () => {});
  socket.open();
  server.accept();
  return { server, statuses, socket, follower };
}

test("it asks for its streams when it opens", (context) => {
  const { server, statuses } = start(context);

  assert.deepEqual(server.last.sent, [{ follow: "overview-1", seq: null }]);
  assert.deepEqual(statuses, ["open"]);
});

test("a message that cannot be shown does not lose the next one", async (context) => {
  const { server, socket } = start(context);
  const [heard, reported] = [[], []];
  globalThis.reportError = (error) => reported.push(error.message);
  socket.follow(new Follower("overview-1"), ({ seq }) => {
    heard.push(seq);
    if (seq === 7) throw new Error("no place for it");
  });

  await server.say(whole(7));
  await server.say(step(8));

  delete globalThis.reportError;
  assert.deepEqual([heard, reported], [[7, 8], ["no place for it"]]);
});

test("after a cut it connects anew and says the last number that it has", async (context) => {
  const { server, statuses, follower } = start(context);
  await server.say(whole(7));
  await server.say(step(8));

  server.end(server.last, 1006);
  context.mock.timers.tick(1000);
  server.accept();

  assert.equal(follower.seq, 8);
  assert.deepEqual(server.last.sent, [{ follow: "overview-1", seq: 8 }]);
  assert.deepEqual(statuses, ["open", "away", "open"]);
});

test("a cut does not wait for a farewell, and what still comes from the old socket is not heard", async (context) => {
  const { server, statuses, socket, follower } = start(context);
  await server.say(whole(7));
  const old = server.last;
  old.close = () => (old.readyState = 2);

  socket.cut();
  assert.deepEqual(statuses, ["open", "away"]);
  context.mock.timers.tick(400);
  server.accept();

  assert.equal(server.sockets.length, 2);
  assert.deepEqual([old.onmessage, old.onclose], [null, null]);
  assert.deepEqual(server.last.sent, [{ follow: "overview-1", seq: follower.seq }]);
  assert.deepEqual(statuses, ["open", "away", "open"]);
});

test("a doubt is proved by silence, and only by that", async (context) => {
  const { server, statuses, socket } = start(context);
  await server.say(whole(7));
  context.mock.timers.tick(1000);
  socket.doubt();
  context.mock.timers.tick(1000);
  await server.say(step(8));
  context.mock.timers.tick(5000);
  assert.deepEqual(statuses, ["open"]);

  socket.doubt();
  socket.doubt();
  context.mock.timers.tick(2499);
  assert.deepEqual(statuses, ["open"]);
  context.mock.timers.tick(1);
  assert.deepEqual(statuses, ["open", "away"]);
});

test("when the network is back it is tried at once, and never twice", (context) => {
  const { server, socket } = start(context);
  for (let cuts = 0; cuts < 6; cuts++) {
    server.end(server.last, 1006);
    context.mock.timers.tick(10_000);
  }
  server.end(server.last, 1006);
  const before = server.sockets.length;

  socket.retry();
  socket.retry();
  assert.equal(server.sockets.length, before + 1);
  server.accept();
  context.mock.timers.tick(10_000);
  socket.retry();
  assert.equal(server.sockets.length, before + 1);
});

test("a server that accepts only to refuse is asked less and less often, until it says something", async (context) => {
  const { server } = start(context);
  for (let refusals = 0; refusals < 6; refusals++) {
    server.end(server.last, 1013);
    context.mock.timers.tick(10_000);
    server.accept();
  }
  server.end(server.last, 1013);
  const before = server.sockets.length;
  context.mock.timers.tick(4_000);
  assert.equal(server.sockets.length, before);
  context.mock.timers.tick(6_000);
  assert.equal(server.sockets.length, before + 1);

  server.accept();
  await server.say(whole(1));
  server.end(server.last, 1006);
  context.mock.timers.tick(400);
  assert.equal(server.sockets.length, before + 2);
});

test("a gap is asked for at once", async (context) => {
  const { server } = start(context);
  await server.say(whole(7));

  await server.say(step(9));

  assert.deepEqual(server.last.sent.at(-1), { follow: "overview-1", seq: 7 });
});

test("bytes that are no message ask for snapshots", async (context) => {
  const { server } = start(context);
  await server.say(whole(7));

  server.last.onmessage({ data: new TextEncoder().encode("{oops").buffer });
  await new Promise(setImmediate);

  assert.deepEqual(server.last.sent.at(-1), { follow: "overview-1", seq: null });
});

test("who is logged out or refused does not try again", (context) => {
  for (const [code, status] of [[4401, "logged out"], [4403, "refused"]]) {
    context.mock.timers.reset();
    const { server, statuses } = start(context);

    server.end(server.last, code);
    context.mock.timers.tick(60000);

    assert.equal(server.sockets.length, 1);
    assert.equal(statuses.at(-1), status);
  }
});

test("a socket that says nothing for long is given up", (context) => {
  const { server } = start(context);

  context.mock.timers.tick(13001);
  context.mock.timers.tick(13001);
  context.mock.timers.tick(2000);

  assert.equal(server.sockets.length, 2);
});

test("a stream that was left is not asked for anew", (context) => {
  const { server, socket } = start(context);
  socket.follow(new Follower("overview-2"), () => {});

  socket.leave("overview-1");
  assert.deepEqual(server.last.sent.at(-1), { unfollow: "overview-1" });
  socket.cut();
  context.mock.timers.tick(60000);
  server.accept();

  assert.deepEqual(server.last.sent, [{ follow: "overview-2", seq: null }]);
});

test("with the last stream that it follows the line is ended, and is not made anew", async (context) => {
  const { server, statuses, socket } = start(context);
  await server.say(whole(7));

  socket.leave("overview-2");
  assert.equal(server.last.readyState, 1);
  socket.leave("overview-1");
  context.mock.timers.tick(60000);

  assert.deepEqual([server.sockets.length, statuses], [1, ["open"]]);
});
